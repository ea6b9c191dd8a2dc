//! What `lockctl log` says.

use std::collections::BTreeSet;
use std::path::Path;

use crate::addr::ProviderAddr;
use crate::cli::output::{RootOutput, counted};
use crate::flavor::Flavor;
use crate::git::Commit;
use crate::report::json::{PastChange, Provider, Side};
use crate::report::{Block, Tone};
use crate::review::{Explained, ProviderChange, ProviderSide, Risk};

/// What one commit changed about one provider.
pub(in crate::cli) struct CommittedProvider<'h> {
    pub(in crate::cli) commit: &'h Commit,
    /// Where the lock file was, from the top of the repository on.
    pub(in crate::cli) path: &'h Path,
    pub(in crate::cli) change: ProviderChange,
    pub(in crate::cli) explained: Explained,
}

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
    let is_alarming = |one: &&CommittedProvider<'_>| one.explained.risk >= Risk::Warning;
    let lines = all.iter().filter(|one| verbose || is_alarming(one));
    let lines = lines.map(|one| {
        let addr = one.change.addr().short(flavor);
        let (commit, why) = (one.commit.id.short(), one.explained.sentence());
        format!("{:<2}  {commit} {addr}: {why}", mark(one.explained.risk))
    });
    results.push(Block::Lines(lines.collect()));
    let alarms = all.iter().filter(is_alarming).count();
    let dangers = all.iter().filter(|one| one.explained.risk == Risk::Danger);
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
    let providers: BTreeSet<&ProviderAddr> = all.iter().map(|one| one.change.addr()).collect();
    let commits: BTreeSet<_> = all.iter().map(|one| &one.commit.id).collect();
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
    let kinds: Vec<&str> = one.change.kinds.iter().map(|kind| kind.name()).collect();
    let day = one.commit.date.split('T').next().unwrap_or_default();
    vec![
        mark(one.explained.risk).to_owned(),
        day.to_owned(),
        one.commit.id.short().to_owned(),
        one.commit.author.clone(),
        one.change.addr().short(flavor),
        versions(one),
        kinds.join(", "),
    ]
}

/// Shows the version, or from which to which it moved.
fn versions(one: &CommittedProvider<'_>) -> String {
    let version = |side: Option<&ProviderSide>| side.map(|side| side.lock.version.to_string());
    match (version(one.change.before()), version(one.change.now())) {
        (Some(old), Some(new)) if old != new => format!("{old} → {new}"),
        (Some(old), None) => format!("{old} → -"),
        (_, new) => new.unwrap_or_default(),
    }
}

fn past(one: &CommittedProvider<'_>) -> PastChange {
    let CommittedProvider {
        commit,
        change,
        explained,
        ..
    } = one;
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
        path: one.path.display().to_string(),
        kinds: change.kinds.iter().copied().collect(),
        cause: explained.sentence(),
        risk: explained.risk,
        old: change.before().map(side),
        new: change.now().map(side),
        step: change.upgrade(),
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
