//! How `lockctl log` reads: one change a line, the newest first.

use std::collections::BTreeSet;

use crate::addr::ProviderAddr;
use crate::cli::Look;
use crate::diag::counted;
use crate::flavor::Flavor;
use crate::report::json::{PastChange, Provider, Side, Status};
use crate::report::{Block, RootResult, Tone};
use crate::review::Risk;

/// The heads of the columns.
const TITLES: [&str; 7] = [
    "", "DATE", "COMMIT", "AUTHOR", "PROVIDER", "VERSION", "CHANGE",
];

pub(super) fn of_root(root: &RootResult, look: Look) -> Vec<Block> {
    let Some(flavor) = root.flavor.filter(|_| root.status != Status::Failed) else {
        return Vec::new();
    };
    let changes = root.providers.iter().filter_map(|one| match one {
        Provider::Changed(one) => Some(&**one),
        _ => None,
    });
    let changes: Vec<&PastChange> = changes.collect();
    let mut blocks = Vec::new();
    if !changes.is_empty() {
        let titles = TITLES.map(str::to_owned).to_vec();
        let rows = changes.iter().map(|one| row(one, flavor));
        blocks.push(Block::Table(std::iter::once(titles).chain(rows).collect()));
    }
    let is_alarming = |one: &&&PastChange| one.risk >= Risk::Warning;
    let lines = changes
        .iter()
        .filter(|one| look.verbose || is_alarming(one));
    let lines = lines.map(|one| {
        let (commit, addr) = (one.commit.short(), one.provider.short(flavor));
        format!("{:<2}  {commit} {addr}: {}", mark(one.risk), one.cause)
    });
    blocks.push(Block::Lines(lines.collect()));
    let alarms = changes.iter().filter(is_alarming).count();
    let tone = match changes.iter().map(|one| one.risk).max() {
        Some(Risk::Danger) => Tone::Bad,
        Some(Risk::Warning) => Tone::Warning,
        _ => Tone::Good,
    };
    blocks.push(Block::Verdict(tone, verdict(&changes, alarms)));
    blocks
}

fn verdict(changes: &[&PastChange], alarms: usize) -> String {
    if changes.is_empty() {
        return "no commit changed what is asked for".to_owned();
    }
    let providers: BTreeSet<&ProviderAddr> = changes.iter().map(|one| &one.provider).collect();
    let commits: BTreeSet<_> = changes.iter().map(|one| &one.commit).collect();
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

fn row(one: &PastChange, flavor: Flavor) -> Vec<String> {
    let day = one.date.split('T').next().unwrap_or_default();
    let kinds: Vec<&str> = one.kinds.iter().map(|kind| kind.name()).collect();
    vec![
        mark(one.risk).to_owned(),
        day.to_owned(),
        one.commit.short().to_owned(),
        one.author.clone(),
        one.provider.short(flavor),
        versions(one),
        kinds.join(", "),
    ]
}

/// Shows the version, or from which to which it moved.
fn versions(one: &PastChange) -> String {
    let version = |side: &Option<Side>| side.as_ref().map(|side| side.version.to_string());
    match (version(&one.old), version(&one.new)) {
        (Some(old), Some(new)) if old != new => format!("{old} → {new}"),
        (Some(old), None) => format!("{old} → -"),
        (_, new) => new.unwrap_or_default(),
    }
}

/// Marks what is alarming, without any colour.
fn mark(risk: Risk) -> &'static str {
    match risk {
        Risk::Danger => "!!",
        Risk::Warning => "!",
        Risk::Notice | Risk::Routine => "",
    }
}
