//! What `lockctl log` says.

use std::collections::BTreeSet;

use crate::addr::ProviderAddr;
use crate::cli::log::CommittedProvider;
use crate::cli::output::{RootOutput, counted};
use crate::flavor::Flavor;
use crate::git::FileCommit;
use crate::report::json::{PastChange, Provider, Side};
use crate::report::{Block, Tone};
use crate::review::{HistoryChange, ProviderSide, Risk};

/// Says what happened, the newest first.
pub(in crate::cli) fn history(
    all: &[CommittedProvider<'_>],
    verbose: bool,
    flavor: Flavor,
    output: &mut RootOutput,
) {
    let changes = all.iter().map(|one| Box::new(past(one)));
    output.json.providers = changes.map(Provider::Changed).collect();
    let results = &mut output.report.results;
    if !all.is_empty() {
        let titles = [
            "", "DATE", "COMMIT", "AUTHOR", "PROVIDER", "VERSION", "CHANGE",
        ];
        let titles = titles.map(str::to_owned).to_vec();
        let rows = all.iter().map(|one| row(one, flavor));
        results.push(Block::Table(std::iter::once(titles).chain(rows).collect()));
    }
    let is_alarming = |one: &&CommittedProvider<'_>| one.change.explained.risk >= Risk::Warning;
    let lines = all.iter().filter(|one| verbose || is_alarming(one));
    let lines = lines.map(|one| {
        let addr = one.change.change.addr().short(flavor);
        let (commit, why) = (
            one.commit.commit.id.short(),
            one.change.explained.sentence(),
        );
        format!(
            "{:<2}  {commit} {addr}: {why}",
            mark(one.change.explained.risk)
        )
    });
    results.push(Block::Lines(lines.collect()));
    let alarms = all.iter().filter(is_alarming).count();
    let dangers = all
        .iter()
        .filter(|one| one.change.explained.risk == Risk::Danger);
    let tone = match (alarms, dangers.count()) {
        (0, _) => Tone::Good,
        (_, 0) => Tone::Warning,
        _ => Tone::Bad,
    };
    results.push(Block::Verdict(tone, verdict(all, alarms)));
}

fn verdict(all: &[CommittedProvider<'_>], alarms: usize) -> String {
    if all.is_empty() {
        return "no commit changed what is asked for".to_owned();
    }
    let providers: BTreeSet<&ProviderAddr> =
        all.iter().map(|one| one.change.change.addr()).collect();
    let commits: BTreeSet<_> = all.iter().map(|one| &one.commit.commit.id).collect();
    let alarming = match alarms {
        0 => "nothing alarming".to_owned(),
        n => format!("{n} alarming"),
    };
    format!(
        "{} of {} in {}, {alarming}",
        counted(all.len(), "change"),
        counted(providers.len(), "provider"),
        counted(commits.len(), "commit")
    )
}

fn row(one: &CommittedProvider<'_>, flavor: Flavor) -> Vec<String> {
    let day = one.commit.commit.date.split('T').next().unwrap_or_default();
    vec![
        mark(one.change.explained.risk).to_owned(),
        day.to_owned(),
        one.commit.commit.id.short().to_owned(),
        one.commit.commit.author.clone(),
        one.change.change.addr().short(flavor),
        versions(one),
        kinds(one).join(", "),
    ]
}

/// Shows the version, or from which to which it moved.
fn versions(one: &CommittedProvider<'_>) -> String {
    let version = |side: Option<&ProviderSide>| side.map(|side| side.lock.version.to_string());
    match (
        version(one.change.change.before()),
        version(one.change.change.now()),
    ) {
        (Some(old), Some(new)) if old != new => format!("{old} → {new}"),
        (Some(old), None) => format!("{old} → -"),
        (_, new) => new.unwrap_or_default(),
    }
}

fn past(one: &CommittedProvider<'_>) -> PastChange {
    let FileCommit {
        commit,
        change: committed,
    } = one.commit;
    let HistoryChange {
        change, explained, ..
    } = &one.change;
    let side = |side: &ProviderSide| Side {
        provider: side.addr.to_string(),
        version: side.lock.version.to_string(),
        constraints: side.lock.constraints.to_string(),
        hashes: None,
    };
    PastChange {
        provider: change.addr().to_string(),
        commit: commit.id.as_str().to_owned(),
        date: commit.date.clone(),
        author: commit.author.clone(),
        subject: commit.subject.clone(),
        path: committed.change.path().display().to_string(),
        kinds: change.kinds.iter().copied().collect(),
        cause: explained.sentence(),
        risk: explained.risk,
        old: change.before().map(side),
        new: change.now().map(side),
        step: change.upgrade(),
    }
}

fn kinds(one: &CommittedProvider<'_>) -> Vec<&'static str> {
    one.change
        .change
        .kinds
        .iter()
        .map(|kind| kind.name())
        .collect()
}

/// Marks what is alarming, without any colour.
fn mark(risk: Risk) -> &'static str {
    match risk {
        Risk::Danger => "!!",
        Risk::Warning => "!",
        Risk::Notice | Risk::Routine => "",
    }
}
