//! The text of `lockctl log`: one change a line, the newest first.

use std::collections::BTreeSet;

use crate::addr::ProviderAddr;
use crate::cli::Look;
use crate::diag::counted;
use crate::flavor::{Flavor, Program};
use crate::report::json::{EntrySide, PastChange, Provider, RootStatus};
use crate::report::{RootResult, TextBlock, Tone};
use crate::review::Risk;

/// The titles of the columns; that of the root only where there are several.
const TITLES: [&str; 8] = [
    "", "DATE", "COMMIT", "AUTHOR", "ROOT", "PROVIDER", "VERSION", "CHANGE",
];

/// The column of the root.
const ROOT: usize = 4;

/// A change of a lock file in the past.
struct HistoryLine<'r> {
    root: &'r str,
    flavor: Flavor,
    change: &'r PastChange,
}

/// Lists the changes of one lock file.
pub(super) fn of_root(root: &RootResult, look: Look) -> Vec<TextBlock> {
    if root.status == RootStatus::Failed {
        return Vec::new();
    }
    let lines: Vec<HistoryLine<'_>> = lines(root).collect();
    blocks(&lines, Columns::OfOneRoot, look)
}

/// Lists the changes of several lock files together, the newest first.
pub(super) fn of_roots(roots: &[RootResult], look: Look) -> Vec<TextBlock> {
    let mut lines: Vec<HistoryLine<'_>> = roots.iter().flat_map(lines).collect();
    // The sort is stable: changes of one commit stay root by root.
    lines.sort_by_key(|line| line.change.newer_commits);
    blocks(&lines, Columns::OfRoots, look)
}

fn lines(root: &RootResult) -> impl Iterator<Item = HistoryLine<'_>> {
    let changes = root.providers.iter().filter_map(|row| match row {
        Provider::Changed(change) => Some(&**change),
        _ => None,
    });
    let flavor = root.flavor.unwrap_or(Flavor::newest(Program::Terraform));
    changes.map(move |change| HistoryLine {
        root: &root.path,
        flavor,
        change,
    })
}

/// The columns of the table of changes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Columns {
    OfOneRoot,
    OfRoots,
}

fn blocks(all: &[HistoryLine<'_>], columns: Columns, look: Look) -> Vec<TextBlock> {
    let mut blocks = Vec::new();
    if !all.is_empty() {
        let titles = TITLES.map(str::to_owned).to_vec();
        let rows = std::iter::once(titles)
            .chain(all.iter().map(row))
            .map(|mut cells| {
                if columns == Columns::OfOneRoot {
                    cells.remove(ROOT);
                }
                cells
            });
        blocks.push(TextBlock::Table(rows.collect()));
    }
    let is_alarming = |line: &&HistoryLine<'_>| line.change.risk >= Risk::Warning;
    let causes = all
        .iter()
        .filter(|line| look.verbose || is_alarming(line))
        .map(|line| {
            let HistoryLine {
                root,
                flavor,
                change,
            } = line;
            let (commit, addr) = (change.commit.short(), change.provider.short(*flavor));
            let place = match columns {
                Columns::OfOneRoot => String::new(),
                Columns::OfRoots => format!(" {root}"),
            };
            let mark = mark(change.risk);
            format!("{mark:<2}  {commit}{place} {addr}: {}", change.cause)
        });
    blocks.push(TextBlock::Lines(causes.collect()));
    let alarms = all.iter().filter(is_alarming).count();
    let changes: Vec<&PastChange> = all.iter().map(|line| line.change).collect();
    let tone = match changes.iter().map(|change| change.risk).max() {
        Some(Risk::Danger) => Tone::Bad,
        Some(Risk::Warning) => Tone::Warning,
        _ => Tone::Good,
    };
    blocks.push(TextBlock::Verdict(tone, verdict(&changes, alarms)));
    blocks
}

fn verdict(changes: &[&PastChange], alarms: usize) -> String {
    if changes.is_empty() {
        return "no commit has a matching change".to_owned();
    }
    let providers: BTreeSet<&ProviderAddr> =
        changes.iter().map(|change| &change.provider).collect();
    let commits: BTreeSet<_> = changes.iter().map(|change| &change.commit).collect();
    let alarming = match alarms {
        0 => "nothing alarming".to_owned(),
        n => format!("{n} alarming"),
    };
    format!(
        "{} of {} in {}, {alarming}",
        counted(changes.len(), "change"),
        counted(providers.len(), "provider"),
        counted(commits.len(), "commit")
    )
}

fn row(line: &HistoryLine<'_>) -> Vec<String> {
    let change = line.change;
    let day = change.date.split('T').next().unwrap_or_default();
    let kinds: Vec<&str> = change.kinds.iter().map(|kind| kind.name()).collect();
    let version = |side: &Option<EntrySide>| side.as_ref().map(|side| side.version.to_string());
    let versions = match (version(&change.old), version(&change.new)) {
        (Some(old), Some(new)) if old != new => format!("{old} → {new}"),
        (Some(old), None) => format!("{old} → -"),
        (_, new) => new.unwrap_or_default(),
    };
    vec![
        mark(change.risk).to_owned(),
        day.to_owned(),
        change.commit.short().to_owned(),
        change.author.clone(),
        line.root.to_owned(),
        change.provider.short(line.flavor),
        versions,
        kinds.join(", "),
    ]
}

/// Marks what is alarming, without any colour.
fn mark(risk: Risk) -> &'static str {
    match risk {
        Risk::Danger => "!!",
        Risk::Warning => "!",
        Risk::Notice | Risk::Routine => "",
    }
}
