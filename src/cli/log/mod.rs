//! `lockctl log`: the history of providers in lock files.

mod args;
mod text;
pub(super) mod versions;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::advice;
use crate::cli::args::Common;
use crate::cli::{Command, Look, Stderr, World};
use crate::diag::Texts;
use crate::flavor::{Flavor, Program};
use crate::git::{
    self, Commit, CommittedChange, FileCommit, GitError, ObjectId, Repository, TreeEntry,
};
use crate::lockfile;
use crate::report::json::{EntrySide, PastChange, Provider};
use crate::report::reading::{self, RootsText};
use crate::report::{CommandResult, Failure, ResultSubject, RootResult, TextBlock};
use crate::review::{self, HistoryChange, HistoryFilter, HistoryStep, ProviderSide};
use crate::run::options::RootChoice;
use crate::run::root::Root;
use crate::run::{self, RootResults};
use crate::workspace::flavor_of;
use crate::world::{FileKind, Replaced, clean};
pub(in crate::cli) use args::LogArgs;
use versions::VersionContents;

/// The remark on a clone that has the newest commits only.
const SHALLOW: &str = "the clone is shallow: its oldest commit seems to add all that it has \
     (`git fetch --unshallow` fetches the others)";

impl Command for LogArgs {
    fn run(&self, common: &Common, world: World<'_>, _: &mut Stderr<'_>) -> CommandResult {
        let mut result = run(common, self, world);
        if let (Some(most), ResultSubject::Roots(roots)) = (self.max_count, &mut result.subject) {
            let newer = |row: &Provider| match row {
                Provider::Changed(change) => change.newer_commits,
                _ => 0,
            };
            // Commits without a change that is shown do not count, so that `-n 1` always shows a change.
            let commits: BTreeSet<usize> = roots
                .iter()
                .flat_map(|root| &root.providers)
                .map(newer)
                .collect();
            if let Some(first_left_out) = commits.into_iter().nth(most) {
                for root in roots {
                    root.providers.retain(|row| newer(row) < first_left_out);
                }
            }
        }
        result
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

fn run(common: &Common, args: &LogArgs, world: World<'_>) -> CommandResult {
    let (typed, roots) = args.provider_and_roots();
    let log = History {
        common,
        world,
        provider: typed,
    };
    if roots.are_default() {
        return log.of_repository();
    }
    // What is not on disk may be in the history: the root was removed, or the repository is bare.
    let (there, removed): (Vec<PathBuf>, Vec<PathBuf>) =
        roots.paths().into_iter().partition(|path| {
            let path = log.common.below(path);
            let kind = log.world.disk.kind(&path);
            // In a bare repository the directories on disk are those of git, as `refs`.
            roots.recursive
                || kind.is_ok_and(|kind| kind == FileKind::Directory)
                    && Repository::find(log.world.run, &path)
                        .map_or(true, |repository| repository.top().is_some())
        });
    let mut all = if there.is_empty() {
        RootResults::default()
    } else {
        let choice = RootChoice {
            dirs: there,
            ..roots.choice()
        };
        run::each(&common.options(), &choice, world, |root, texts, result| {
            log.of_root(root, texts, result)?;
            Ok(Replaced::Done)
        })
    };
    for path in removed {
        let mut result = RootResult::new(common.below(&path).display().to_string());
        if let Err(failure) = log.of_removed(&path, &mut all.texts, &mut result) {
            result.fail(failure);
        }
        all.results.push(result);
    }
    all.into_result("log")
}

/// For each commit the number of newer ones.
type Order<'a> = BTreeMap<&'a ObjectId, usize>;

fn order(commits: &[Commit]) -> Order<'_> {
    commits
        .iter()
        .enumerate()
        .map(|(newer, commit)| (&commit.id, newer))
        .collect()
}

/// The repository and the options that all histories of a run share.
struct History<'a> {
    common: &'a Common,
    world: World<'a>,
    /// The provider as it was typed.
    provider: Option<&'a str>,
}

impl<'a> History<'a> {
    /// Finds the repository that a directory is in, with the commits that changed its lock files.
    fn commits(&self, dir: &Path) -> Result<(Repository<'a>, Vec<Commit>), Failure> {
        let failure = |error: GitError| advice::git::failure(&error);
        let repository = Repository::find(self.world.run, dir).map_err(failure)?;
        let head = repository.revision("HEAD").map_err(failure)?;
        let commits = repository.history(&head).map_err(failure)?;
        Ok((repository, commits))
    }

    /// Lists the history of every lock file in the repository.
    fn of_repository(&self) -> CommandResult {
        let dir = self.common.below(Path::new("."));
        let mut texts = Texts::default();
        let mut results = Vec::new();
        let listed = self.commits(&dir).and_then(|(repository, commits)| {
            let order = order(&commits);
            let files = git::files(&commits);
            let all: Vec<FileCommit<'_>> = files.values().flatten().copied().collect();
            let contents = VersionContents::read(&repository, &all)
                .map_err(|error| advice::git::failure(&error))?;
            for (path, own) in &files {
                let dir = path
                    .parent()
                    .filter(|dir| !dir.as_os_str().is_empty())
                    .unwrap_or(Path::new("."));
                let mut result = RootResult::new(dir.display().to_string());
                let flavor = self.flavor(own, &contents, dir);
                let listed = self.list(own, &order, &contents, flavor, &mut texts, &mut result);
                if let Err(failure) = listed {
                    result.fail(failure);
                }
                results.push(result);
            }
            // The sentence that nothing was found belongs to a root, too.
            if results.is_empty() {
                let mut result = RootResult::new(".");
                result.flavor = Some(Flavor::newest(Program::Terraform));
                results.push(result);
            }
            self.remark(&repository, &mut results);
            Ok(())
        });
        match listed {
            Ok(()) => CommandResult::of_roots("log", results, texts),
            Err(failure) => CommandResult::failed("log", [failure]),
        }
    }

    /// Lists the history of the lock file in a root.
    fn of_root(
        &self,
        root: &Root,
        texts: &mut Texts,
        result: &mut RootResult,
    ) -> Result<(), Failure> {
        let (repository, commits) = self.commits(&root.dir)?;
        let own = git::follow(&commits, repository.prefix().join(lockfile::FILE_NAME));
        let contents = VersionContents::read(&repository, &own)
            .map_err(|error| advice::git::failure(&error))?;
        self.list(
            &own,
            &order(&commits),
            &contents,
            root.flavor,
            texts,
            result,
        )?;
        self.remark(&repository, std::slice::from_mut(result));
        Ok(())
    }

    /// Lists the history of the lock file in a directory that is not on disk.
    fn of_removed(
        &self,
        typed: &Path,
        texts: &mut Texts,
        result: &mut RootResult,
    ) -> Result<(), Failure> {
        let path = self.common.below(typed);
        // git can only be started in a directory that is there.
        let above = path
            .ancestors()
            .skip(1)
            .find(|dir| {
                let dir = if dir.as_os_str().is_empty() {
                    Path::new(".")
                } else {
                    dir
                };
                self.world.disk.kind(dir).is_ok()
            })
            .unwrap_or(Path::new(""));
        let rest = path.strip_prefix(above).unwrap_or(&path);
        let above = if above.as_os_str().is_empty() {
            self.common.below(Path::new("."))
        } else {
            above.to_owned()
        };
        let (repository, commits) = self.commits(&above)?;
        let dir = clean(&repository.prefix().join(rest));
        let own = git::follow(&commits, dir.join(lockfile::FILE_NAME));
        // Without a commit that has it, the path is more likely mistyped than removed.
        if own.is_empty() {
            return Err(Failure {
                title: format!(
                    "{} is not there, and no commit has a lock file in it",
                    path.display()
                ),
                help: Some(
                    "`lockctl log` without a root lists every lock file of the repository"
                        .to_owned(),
                ),
                ..Failure::default()
            });
        }
        let contents = VersionContents::read(&repository, &own)
            .map_err(|error| advice::git::failure(&error))?;
        let flavor = self.flavor(&own, &contents, &dir);
        self.list(&own, &order(&commits), &contents, flavor, texts, result)?;
        self.remark(&repository, std::slice::from_mut(result));
        Ok(())
    }

    /// Decides about the flavor of a lock file by its newest version.
    fn flavor(&self, own: &[FileCommit<'_>], contents: &VersionContents, dir: &Path) -> Flavor {
        // The header of an old version may be that of the other program, since a root can be converted.
        let newest = own
            .iter()
            .flat_map(|commit| {
                let change = &commit.change.change;
                [&change.new, &change.old].into_iter().flatten()
            })
            .filter_map(|entry| entry.blob.as_ref())
            .find_map(|blob| contents.bytes(blob));
        flavor_of(self.common.flavor, self.world.disk, dir, newest)
    }

    /// Adds what each commit changed to the result of a root.
    fn list(
        &self,
        own: &[FileCommit<'_>],
        order: &Order<'_>,
        contents: &VersionContents,
        flavor: Flavor,
        texts: &mut Texts,
        result: &mut RootResult,
    ) -> Result<(), Failure> {
        result.flavor = Some(flavor);
        let filter = filter(self.provider, flavor)?;
        let versions = contents.versions(own, flavor, texts, result);
        let (commits, steps): (Vec<&FileCommit<'_>>, Vec<_>) = own.iter().filter_map(step).unzip();
        result.providers = review::history(&steps, &versions, &filter)
            .into_iter()
            .map(|found| {
                let FileCommit { commit, change } = commits[found.step];
                let newer = order.get(&commit.id).copied().unwrap_or_default();
                let row = row(commit, newer, change.change.path(), &found);
                Provider::Changed(Box::new(row))
            })
            .collect();
        Ok(())
    }

    /// Adds what is worth knowing about the repository, and about what was typed, to the first result.
    fn remark(&self, repository: &Repository<'_>, results: &mut [RootResult]) {
        let is_empty = results.iter().all(|root| root.providers.is_empty());
        let Some(result) = results.first_mut() else {
            return;
        };
        if repository.is_shallow() {
            result.remark(SHALLOW);
        }
        if let (true, Some(typed)) = (is_empty, self.provider)
            && self
                .world
                .disk
                .kind(&self.common.below(Path::new(typed)))
                .is_ok()
        {
            result.remark(format!(
                "{typed} counts as a provider; write ./{typed} for the directory"
            ));
        }
    }
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
