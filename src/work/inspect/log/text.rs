//! The text of `lockctl log`: one change a line, the newest first.

use std::collections::BTreeSet;

use crate::addr::ProviderAddr;
use crate::diag::counted;
use crate::flavor::Flavor;
use crate::report::json::{EntrySide, PastChange, Provider, RootStatus};
use crate::report::{Column, Look, RootResult, Row, Table, TextBlock, Tone};
use crate::review::Risk;
use crate::run::provider;

const COLUMNS: &[Column] = &[
    Column::Key(""),
    Column::Key("DATE"),
    Column::Key("COMMIT"),
    Column::Long("AUTHOR"),
    Column::Key("PROVIDER"),
    Column::Key("VERSION"),
    Column::Long("CHANGE"),
];

/// A change of a lock file in the past.
struct HistoryLine<'r> {
    root: &'r str,
    /// The flavor by whose rules the provider is named; `None` if in full.
    flavor: Option<Flavor>,
    change: &'r PastChange,
}

/// Lists the changes of all lock files together, the newest first, each alarming one with its cause. A commit that
/// changes several in the same way has one row for them.
pub(super) fn of_all(roots: &[RootResult], look: Look, commits: Option<usize>) -> Vec<TextBlock> {
    if let [root] = roots
        && root.status == RootStatus::Failed
    {
        return Vec::new();
    }
    let mut lines: Vec<HistoryLine<'_>> = roots.iter().flat_map(lines).collect();
    // All providers are named in full, if they are of two hosts.
    let providers = lines.iter().map(|line| &line.change.provider);
    let first = lines.first().and_then(|line| line.flavor);
    if provider::short_by(providers, first).is_none() {
        lines.iter_mut().for_each(|line| line.flavor = None);
    }
    let rows = lines
        .iter()
        .map(|line| (line.change.newer_commits, row(line, look)));
    let mut table = Table::sorted(COLUMNS, rows).in_order();
    // Whoever states the number of commits gets as many.
    if commits.is_some() {
        table = table.whole();
    }
    let changes: Vec<&PastChange> = lines.iter().map(|line| line.change).collect();
    let tone = match changes.iter().map(|change| change.risk).max() {
        Some(Risk::Danger) => Tone::Bad,
        Some(Risk::Warning) => Tone::Warning,
        _ => Tone::Good,
    };
    let verdict = if changes.is_empty() {
        "no commit has a matching change".to_owned()
    } else {
        let providers: BTreeSet<&ProviderAddr> =
            changes.iter().map(|change| &change.provider).collect();
        let commits: BTreeSet<_> = changes.iter().map(|change| &change.commit).collect();
        let alarming = match lines.iter().filter(|line| is_alarming(line)).count() {
            0 => "nothing alarming".to_owned(),
            n => format!("{n} alarming"),
        };
        format!(
            "{} of {} in {}, {alarming}",
            counted(changes.len(), "change"),
            counted(providers.len(), "provider"),
            counted(commits.len(), "commit")
        )
    };
    vec![TextBlock::Table(table), TextBlock::Verdict(tone, verdict)]
}

fn lines(root: &RootResult) -> impl Iterator<Item = HistoryLine<'_>> {
    root.providers
        .iter()
        .filter_map(|row| match row {
            Provider::Changed(change) => Some(&**change),
            _ => None,
        })
        .map(move |change| HistoryLine {
            root: &root.path,
            flavor: root.flavor,
            change,
        })
}

/// Names the provider of a change.
fn name(line: &HistoryLine<'_>) -> String {
    let provider = &line.change.provider;
    match line.flavor {
        Some(flavor) => provider.short(flavor),
        None => provider.to_string(),
    }
}

fn is_alarming(line: &HistoryLine<'_>) -> bool {
    line.change.risk >= Risk::Warning
}

fn row(line: &HistoryLine<'_>, look: Look) -> Row {
    let change = line.change;
    let day = change.date.split('T').next().unwrap_or_default();
    let kinds: Vec<&str> = change.kinds.iter().map(|kind| kind.name()).collect();
    let version = |side: &Option<EntrySide>| side.as_ref().map(|side| side.version.to_string());
    let versions = match (version(&change.old), version(&change.new)) {
        (Some(old), Some(new)) if old != new => format!("{old} → {new}"),
        (old, new) => new.or(old).unwrap_or_default(),
    };
    let cells = [
        // Alarming without any colour.
        match change.risk {
            Risk::Danger => "!!",
            Risk::Warning => "!",
            Risk::Notice | Risk::Routine => "",
        }
        .into(),
        day.into(),
        change.commit.short().into(),
        change.author.clone().into(),
        name(line).into(),
        versions.into(),
        kinds.join(", ").into(),
    ];
    let is_explained = look.verbose || is_alarming(line);
    Row {
        details: Some(change.cause.clone())
            .filter(|_| is_explained)
            .into_iter()
            .collect(),
        ..Row::new(line.root, cells)
    }
}
