//! `lockctl log`: the history of providers in lock files.

mod args;
mod opened;
mod text;
pub(super) mod versions;

use std::collections::BTreeSet;
use std::path::Path;

use crate::cli::args::Common;
use crate::cli::{Command, Look, Stderr, World};
use crate::flavor::Flavor;
use crate::git::{Commit, CommittedChange, FileCommit, ObjectId, TreeEntry};
use crate::report::json::{EntrySide, PastChange, Provider};
use crate::report::reading::{self, RootsText};
use crate::report::{CommandResult, Failure, ResultSubject, RootResult, TextBlock};
use crate::review::{HistoryChange, HistoryFilter, HistoryStep, ProviderSide};
pub(in crate::front::cli) use args::LogArgs;
use opened::LogRun;

/// The number of commits that are read first for `-n`, in addition to two for each wanted one, and the factor
/// of its growth while too few of them hold a change.
const FIRST_COMMITS: usize = 20;
const COMMITS_GROWTH: usize = 8;

impl Command for LogArgs {
    fn run(&self, common: &Common, world: World<'_>, _: &mut Stderr<'_>) -> CommandResult {
        let (provider, roots) = self.provider_and_roots();
        let opened = match LogRun::open(common, world, provider, &roots) {
            Ok(opened) => opened,
            Err(failure) => return CommandResult::failed("log", [failure]),
        };
        let Some(most) = self.max_count else {
            return opened.list(None).result;
        };
        // Commits without a change that is shown do not count, so that `-n 1` always shows a change.
        let mut commits = Some(most.saturating_mul(2).saturating_add(FIRST_COMMITS));
        loop {
            let mut listed = opened.list(commits);
            let has_enough = keep_newest(&mut listed.result, most);
            if has_enough && !listed.has_unreadable || listed.is_whole {
                return listed.result;
            }
            // What cannot be read is compared with what was before it, however far that is.
            commits = commits
                .filter(|_| !listed.has_unreadable)
                .and_then(|commits| commits.checked_mul(COMMITS_GROWTH));
        }
    }

    fn root_text(&self, root: &RootResult, look: Look) -> Vec<TextBlock> {
        text::of_root(root, look)
    }

    /// Several lock files have one history, with a column for the root.
    fn text(&self, result: &CommandResult, look: Look) -> Vec<TextBlock> {
        if result.roots().len() > 1 {
            return text::of_roots(result.roots(), look, self.max_count);
        }
        let text = RootsText {
            root: &|root| self.root_text(root, look),
            heading: self.heading(),
            total: self.total(),
        };
        reading::roots(result, text, look.verbose)
    }
}

/// Keeps the changes of so many newest commits. Returns true if there are more, or as many.
fn keep_newest(result: &mut CommandResult, most: usize) -> bool {
    let ResultSubject::Roots(roots) = &mut result.subject else {
        return true;
    };
    let newer = |row: &Provider| match row {
        Provider::Changed(change) => change.newer_commits,
        _ => 0,
    };
    let commits: BTreeSet<usize> = roots
        .iter()
        .flat_map(|root| &root.providers)
        .map(newer)
        .collect();
    let count = commits.len();
    if let Some(first_left_out) = commits.into_iter().nth(most) {
        for root in roots {
            root.providers.retain(|row| newer(row) < first_left_out);
        }
    }
    count >= most
}

/// Reads which providers were asked for.
fn filter(typed: Option<&str>, flavor: Flavor) -> Result<HistoryFilter, Failure> {
    let Some(typed) = typed else {
        return Ok(HistoryFilter::All);
    };
    HistoryFilter::parse(typed, flavor).map_err(|error| {
        Failure::from_error(&error).help("write NAMESPACE/TYPE or HOST/NAMESPACE/TYPE")
    })
}

/// Takes the versions out of what a commit did; nothing if git does not name what it left.
fn step<'c>(commit: &'c FileCommit<'c>) -> Option<(&'c FileCommit<'c>, HistoryStep<ObjectId>)> {
    let CommittedChange { change, others } = commit.change;
    let blob = |entry: &Option<TreeEntry>| entry.as_ref()?.blob.clone();
    let new = blob(&change.new);
    let is_named = new.is_some() || change.new.is_none();
    let step = HistoryStep {
        old: blob(&change.old),
        new,
        others: others.clone(),
    };
    is_named.then_some((commit, step))
}

/// Makes the row of a change.
fn row(commit: &Commit, newer_commits: usize, path: &Path, found: &HistoryChange) -> PastChange {
    let HistoryChange {
        change, explained, ..
    } = found;
    let side = |side: &ProviderSide| EntrySide {
        provider: side.addr.clone(),
        version: side.lock.version.clone(),
        constraints: side.lock.constraints.clone(),
        hashes: None,
    };
    PastChange {
        provider: change.addr().clone(),
        commit: commit.id.clone(),
        date: commit.date.clone(),
        author: commit.author.clone(),
        subject: commit.subject.clone(),
        path: path.display().to_string(),
        kinds: change.kinds.iter().copied().collect(),
        cause: explained.sentence(),
        risk: explained.risk,
        old: change.before().map(side),
        new: change.now().map(side),
        step: change.upgrade(),
        newer_commits,
    }
}
