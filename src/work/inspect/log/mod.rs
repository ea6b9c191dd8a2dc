//! `lockctl log`: the history of providers in lock files.

mod opened;
mod text;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use clap::Args;
use opened::LogRun;

use crate::git::{Commit, CommittedChange, FileCommit, ObjectId, TreeEntry};
use crate::report::graph::GraphLanguage;
use crate::report::html::history_svg;
use crate::report::json::{EntrySide, PastChange, Provider};
use crate::report::{CommandResult, Look, ResultSubject, RootResult, TextBlock};
use crate::review::{HistoryChange, HistoryStep, ProviderSide};
use crate::run::command::Command;
use crate::run::formats::Format;
use crate::run::options::{RootArgs, examples, is_path};
use crate::run::paths;
use crate::run::provider::naming;
use crate::run::session::Session;
use crate::run::typed_addr::TypedAddr;

/// The number of commits that are read first for `-n`, in addition to two for each wanted one.
const FIRST_COMMITS: usize = 20;

/// The factor of that number while too few commits hold a change.
const COMMITS_GROWTH: usize = 8;

/// Unlike other commands, `log` does not stop at the working directory.
const ROOTS_HELP: &str = "Root module directories [default: every lock file of the repository]";

/// Show the history of providers in the lock files of a git repository
///
/// Without a ROOT every lock file of the repository is listed. A ROOT may be one that was removed, and the
/// repository may be bare.
#[derive(Clone, Debug, Args)]
#[command(before_help = examples(&[
    ("lockctl log", "all providers"),
    ("lockctl log hashicorp/aws live/prod", "one provider in one root"),
    ("lockctl log -n 5", "what the newest five commits changed"),
    ("lockctl log --format svg > history.svg", "versions over time, as a picture"),
]))]
#[command(mut_arg("roots", |arg| arg.help(ROOTS_HELP)))]
pub(crate) struct LogArgs {
    /// The provider, as in hashicorp/aws, or a type, as in aws [default: all providers]
    ///
    /// An argument that begins with a dot or a slash, or ends with a slash, is a ROOT.
    #[arg(value_name = "ADDR", value_parser = provider_or_root)]
    provider: Option<String>,
    #[command(flatten)]
    roots: RootArgs,
    /// Show the changes of the newest N commits only [default: all; of several lock files the newest 40 rows]
    ///
    /// Commits without a matching change do not count.
    #[arg(short = 'n', long, value_name = "N")]
    pub(super) max_count: Option<NonZeroUsize>,
}

/// Makes sure that a text is an address, or looks like a path.
fn provider_or_root(text: &str) -> Result<String, String> {
    if !is_path(text) {
        text.parse::<TypedAddr>()?;
    }
    Ok(text.to_owned())
}

impl LogArgs {
    /// Returns the provider, if one was typed, and the roots.
    ///
    /// What looks like a path is a root.
    pub(crate) fn provider_and_roots(&self) -> (Option<&str>, Cow<'_, RootArgs>) {
        match self.provider.as_deref() {
            Some(path) if is_path(path) => {
                let mut roots = self.roots.clone();
                roots.roots.insert(0, PathBuf::from(path));
                (None, Cow::Owned(roots))
            }
            provider => (provider, Cow::Borrowed(&self.roots)),
        }
    }
}

impl Command for LogArgs {
    fn run(&self, session: &Rc<Session<'_>>) -> CommandResult {
        let mut result = self.changes(session);
        if session.options.format == Format::Graph(GraphLanguage::Svg) {
            let place = paths::from_the_top(session.world);
            let svg = history_svg(&result, &naming(result.roots()), &place);
            result.document = Some(svg);
        }
        result
    }

    fn text(&self, result: &CommandResult, look: Look) -> Vec<TextBlock> {
        text::of_all(result.roots(), look, self.max_count.map(NonZeroUsize::get))
    }
}

/// Lists all changes of roots that another command has opened.
pub(crate) fn of_roots(session: &Session<'_>, roots: &[RootResult]) -> CommandResult {
    LogRun::of_roots(session, roots).list(None).result
}

impl LogArgs {
    /// Lists the changes of all lock files.
    fn changes(&self, session: &Session<'_>) -> CommandResult {
        let (provider, roots) = self.provider_and_roots();
        let opened = match LogRun::open(session, provider, &roots) {
            Ok(opened) => opened,
            Err(failure) => return CommandResult::failed("log", [failure]),
        };
        let Some(most) = self.max_count.map(NonZeroUsize::get) else {
            return opened.list(None).result;
        };
        let mut commits = Some(most.saturating_mul(2).saturating_add(FIRST_COMMITS));
        loop {
            let mut listed = opened.clone().list(commits);
            let has_enough = keep_newest(&mut listed.result, most);
            if !listed.is_cut || has_enough && !listed.has_unreadable {
                return listed.result;
            }
            commits = commits
                .filter(|_| !listed.has_unreadable)
                .and_then(|commits| commits.checked_mul(COMMITS_GROWTH));
        }
    }
}

/// Keeps the changes of so many newest commits; commits without a change that is shown do not count. Returns true if
/// there are as many.
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
    let has_enough = commits.len() >= most;
    if let Some(first_left_out) = commits.into_iter().nth(most) {
        for root in roots {
            root.providers.retain(|row| newer(row) < first_left_out);
        }
    }
    has_enough
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
    let explained = &found.explained;
    let change = &explained.change;
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
        risk: explained.explained.risk,
        old: change.before().map(side),
        new: change.now().map(side),
        step: change.upgrade(),
        newer_commits,
    }
}
