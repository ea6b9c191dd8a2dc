//! The lock files of a run: those of a repository are listed from one walk through its commits.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::{row, step};
use crate::addr::ProviderAddr;
use crate::advice;
use crate::advice::git::failure;
use crate::diag::Texts;
use crate::driver::{self, RootResults};
use crate::flavor::{Flavor, Program};
use crate::git::{
    self, ChangedPaths, Commit, CommittedChange, FileCommit, GitError, ObjectId, Repository,
};
use crate::report::json::Provider;
use crate::report::{CommandResult, Failure, RootResult, Sentence};
use crate::review::HistoryFilter;
use crate::run::World;
use crate::run::options::{Options, RootArgs};
use crate::run::provider;
use crate::run::session::Session;
use crate::run::versions::{VersionContents, blobs};
use crate::workspace::flavor_of;
use crate::world::{FileKind, Replaced, clean};
use crate::{lockfile, parallel, review};

/// A run whose roots and repositories are known.
#[derive(Clone)]
pub(super) struct LogRun<'r, 'a> {
    options: &'a Options,
    world: World<'a>,
    /// The provider as it was typed.
    provider: Option<&'r str>,
    repositories: Vec<FoundRepository<'a>>,
    /// A directory was found to be in no repository.
    has_outside: bool,
    /// The results of the roots, without their histories.
    roots: RootResults,
    /// The lock files of the roots, by the paths of the results; `None` for every lock file of the repository.
    locks: Option<BTreeMap<String, LockPlace>>,
    /// The number of commits that are read of each repository; `None` for all.
    most: Option<usize>,
    /// A repository has perhaps older commits that changed lock files.
    is_cut: bool,
    /// A version of a lock file could not be read.
    has_unreadable: bool,
}

/// The histories in the commits that were read.
pub(super) struct ListedHistories {
    pub(super) result: CommandResult,
    /// Older commits may have more changes, or change what is shown.
    pub(super) is_cut: bool,
    /// A version could not be read: its change is compared with what was before it, however far that is.
    pub(super) has_unreadable: bool,
}

/// A repository, with the top of its work tree without links.
#[derive(Clone)]
struct FoundRepository<'a> {
    git: Repository<'a>,
    top: Option<PathBuf>,
}

/// A lock file in a repository.
#[derive(Clone)]
struct LockPlace {
    /// The index of the repository.
    repository: usize,
    /// The directory of the lock file, from the top of the work tree.
    dir: PathBuf,
    /// The flavor of a root on disk; of others the newest version shows it.
    flavor: Option<Flavor>,
}

/// One lock file with its commits, the newest first.
struct LockHistory<'h> {
    commits: Vec<FileCommit<'h>>,
    dir: PathBuf,
    flavor: Option<Flavor>,
    result: RootResult,
}

/// For each commit the number of newer ones.
type Order<'a> = BTreeMap<&'a ObjectId, usize>;

impl<'r, 'a> LogRun<'r, 'a> {
    /// Finds the roots that were typed, and their repositories.
    ///
    /// # Errors
    /// If every lock file of the repository is wanted, and there is none.
    pub(super) fn open(
        session: &Session<'a>,
        provider: Option<&'r str>,
        roots: &RootArgs,
    ) -> Result<Self, Failure> {
        let (options, world) = (session.options, session.world);
        let mut opened = Self::empty(session, provider);
        if roots.roots.is_empty() && !roots.recursive {
            opened.place(&options.below(Path::new(".")))?;
            return Ok(opened);
        }
        let typed = match &*roots.roots {
            [] => vec![PathBuf::from(".")],
            typed => typed.iter().map(|at| at.components().collect()).collect(),
        };
        // What is not on disk may be in the history: the root was removed, or the repository is bare.
        let (there, removed): (Vec<PathBuf>, Vec<PathBuf>) = typed.into_iter().partition(|typed| {
            let path = RootArgs::dir(typed, options);
            let kind = world.disk.kind(&path);
            // In a bare repository the directories on disk are those of git, as `refs`.
            roots.recursive
                || kind.is_ok_and(|kind| kind == FileKind::Directory)
                    && opened
                        .place(&path)
                        .map_or(true, |(at, _)| opened.repositories[at].top.is_some())
        });
        let mut locks = BTreeMap::new();
        if !there.is_empty() {
            let there = RootArgs {
                roots: there,
                ..roots.clone()
            };
            opened.roots = driver::each(session, &there, |root, _, result| {
                let place = opened.lock_place(&root.dir, root.flavor)?;
                locks.insert(result.path.clone(), place);
                Ok(Replaced::Done)
            });
        }
        for typed in removed {
            let path = RootArgs::dir(&typed, options);
            let mut result = RootResult::new(path.display().to_string());
            match opened.removed_place(&path) {
                Ok(place) => drop(locks.insert(result.path.clone(), place)),
                Err(failure) => result.fail(failure),
            }
            opened.roots.results.push(result);
        }
        opened.locks = Some(locks);
        Ok(opened)
    }

    /// Takes roots that another command has opened.
    pub(super) fn of_roots(session: &Session<'a>, roots: &[RootResult]) -> Self {
        let mut opened = Self::empty(session, None);
        let mut locks = BTreeMap::new();
        for root in roots {
            let Some(flavor) = root.flavor else { continue };
            let mut result = RootResult::new(&*root.path);
            match opened.lock_place(Path::new(&root.path), flavor) {
                Ok(place) => drop(locks.insert(result.path.clone(), place)),
                Err(failure) => result.fail(failure),
            }
            opened.roots.results.push(result);
        }
        opened.locks = Some(locks);
        opened
    }

    fn empty(session: &Session<'a>, provider: Option<&'r str>) -> Self {
        Self {
            options: session.options,
            world: session.world,
            provider,
            repositories: Vec::new(),
            has_outside: false,
            roots: RootResults::default(),
            locks: None,
            most: None,
            is_cut: false,
            has_unreadable: false,
        }
    }

    fn lock_place(&mut self, dir: &Path, flavor: Flavor) -> Result<LockPlace, Failure> {
        let (repository, dir) = self.place(dir)?;
        Ok(LockPlace {
            repository,
            dir,
            flavor: Some(flavor),
        })
    }

    /// Finds the repository that a directory is in, and the path to it from the top of the work tree. Of each
    /// repository only the first directory takes a process of git, and of those that are in none.
    fn place(&mut self, dir: &Path) -> Result<(usize, PathBuf), Failure> {
        let disk = self.world.disk;
        let resolved = disk.resolve(dir).ok();
        // A submodule, or another repository inside of one, has a `.git` of its own.
        let top = resolved.as_deref().and_then(|resolved| {
            resolved
                .ancestors()
                .find(|dir| disk.kind(&dir.join(".git")).is_ok())
        });
        if let (Some(resolved), Some(top)) = (&resolved, top) {
            let known = self
                .repositories
                .iter()
                .position(|found| found.top.as_deref() == Some(top));
            if let (Some(at), Ok(below)) = (known, resolved.strip_prefix(top)) {
                return Ok((at, below.to_owned()));
            }
        } else if self.has_outside && resolved.is_some() {
            // Variables that name a repository would have counted for the first one, too.
            let dir = dir.to_owned();
            return Err(failure(&GitError::NoRepository { dir }));
        }
        let git = Repository::find(self.world.run, dir).map_err(|error| {
            self.has_outside |= matches!(error, GitError::NoRepository { .. });
            failure(&error)
        })?;
        let prefix = git.prefix().to_owned();
        let top = git.top().and_then(|top| disk.resolve(top).ok());
        self.repositories.push(FoundRepository { git, top });
        Ok((self.repositories.len() - 1, prefix))
    }

    /// Finds the place of a directory that is not on disk.
    fn removed_place(&mut self, path: &Path) -> Result<LockPlace, Failure> {
        // git can only be started in a directory that is there.
        let above = path
            .ancestors()
            .skip(1)
            .find(|dir| self.world.disk.kind(&Path::new(".").join(dir)).is_ok())
            .unwrap_or(Path::new(""));
        let rest = path.strip_prefix(above).unwrap_or(path);
        let above = if above.as_os_str().is_empty() {
            self.options.below(Path::new("."))
        } else {
            above.to_owned()
        };
        let (repository, prefix) = self.place(&above)?;
        Ok(LockPlace {
            repository,
            dir: clean(&prefix.join(rest)),
            flavor: None,
        })
    }

    /// Lists the histories that so many newest commits of each repository give; `None` for all.
    pub(super) fn list(mut self, most: Option<usize>) -> ListedHistories {
        self.most = most;
        let unfiltered = self.provider.map(|_| Self {
            provider: None,
            ..self.clone()
        });
        let listed = match self.locks.take() {
            Some(locks) => {
                self.placed(&locks);
                Ok(())
            }
            None => self.whole_repository(),
        };
        let results = &self.roots.results;
        let is_empty = results.iter().all(|root| root.providers.is_empty());
        let mut remarks = Vec::new();
        let unfiltered = unfiltered.filter(|_| is_empty && !self.is_cut);
        if self.repositories.iter().any(|found| found.git.is_shallow()) {
            remarks.push(Sentence::note(format!(
                "the clone is shallow: its oldest commit seems to add all that it has; {}",
                advice::git::unshallow(None)
            )));
        }
        if let (true, Some(typed)) = (is_empty, self.provider)
            && self
                .world
                .disk
                .kind(&self.options.below(Path::new(typed)))
                .is_ok()
        {
            let text = format!("{typed} counts as a provider; write ./{typed} for the directory");
            remarks.push(Sentence::note(text));
        } else if let (Some(typed), Some(unfiltered)) = (self.provider, unfiltered) {
            let all = unfiltered.list(None).result;
            let mut locked = BTreeSet::new();
            for row in all.roots().iter().flat_map(|root| &root.providers) {
                if let Provider::Changed(change) = row {
                    locked.insert(change.provider.clone());
                }
            }
            remarks.extend(all.roots().iter().find_map(|root| {
                let flavor = root.flavor?;
                let typed = ProviderAddr::parse(typed, flavor).ok()?;
                let names = || {
                    Some(format!(
                        "the lock files name {}",
                        provider::names(&locked, flavor)?
                    ))
                };
                provider::did_you_mean(&typed, &locked, flavor)
                    .or_else(names)
                    .map(Sentence::note)
            }));
        }
        let mut result = match listed {
            Ok(()) => self.roots.into_result("log"),
            Err(failure) => CommandResult::failed("log", [failure]),
        };
        result.remarks.extend(remarks);
        ListedHistories {
            result,
            is_cut: self.is_cut,
            has_unreadable: self.has_unreadable,
        }
    }

    /// Lists every lock file of the repository.
    fn whole_repository(&mut self) -> Result<(), Failure> {
        if self.repositories.is_empty() {
            return Ok(());
        }
        let (commits, contents) = self.commits(0, |_| true)?;
        let files = git::files(&commits);
        let histories = files.into_iter().map(|(path, own)| {
            let dir = path
                .parent()
                .filter(|dir| !dir.as_os_str().is_empty())
                .unwrap_or(Path::new("."))
                .to_owned();
            LockHistory {
                result: RootResult::new(dir.display().to_string()),
                commits: own,
                dir,
                flavor: None,
            }
        });
        self.histories(&contents, &order(&commits), histories.collect());
        // The sentence that nothing was found belongs to a root, too.
        if self.roots.results.is_empty() {
            let mut result = RootResult::new(".");
            result.flavor = Some(Flavor::newest(Program::Terraform));
            self.roots.results.push(result);
        }
        Ok(())
    }

    /// Lists the lock files of the roots.
    fn placed(&mut self, locks: &BTreeMap<String, LockPlace>) {
        let all = std::mem::take(&mut self.roots.results);
        let paths: Vec<String> = all.iter().map(|root| root.path.clone()).collect();
        let (mut placed, done): (Vec<RootResult>, Vec<RootResult>) = all
            .into_iter()
            .partition(|root| locks.contains_key(&root.path));
        self.roots.results = done;
        for index in 0..self.repositories.len() {
            let own: Vec<RootResult> = placed
                .extract_if(.., |root| locks[&root.path].repository == index)
                .collect();
            if own.is_empty() {
                continue;
            }
            let mut names: BTreeSet<PathBuf> =
                own.iter().map(|root| locks[&root.path].path()).collect();
            // Under its old name a file is wanted, too: commits come newest first.
            let is_wanted = |change: &CommittedChange| {
                let is_wanted = names.contains(change.change.path());
                if is_wanted {
                    names.extend(change.change.old.as_ref().map(|old| old.path.clone()));
                }
                is_wanted
            };
            let (commits, contents) = match self.commits(index, is_wanted) {
                Ok(read) => read,
                Err(failure) => {
                    for mut result in own {
                        result.fail(failure.clone());
                        self.roots.results.push(result);
                    }
                    continue;
                }
            };
            let changed = ChangedPaths::of(&commits);
            let mut histories = Vec::new();
            for mut result in own {
                let place = &locks[&result.path];
                match place.follow(&changed, self.is_cut, &result.path) {
                    Ok(commits) => histories.push(LockHistory {
                        commits,
                        dir: place.dir.clone(),
                        flavor: place.flavor,
                        result,
                    }),
                    Err(failure) => {
                        result.fail(failure);
                        self.roots.results.push(result);
                    }
                }
            }
            self.histories(&contents, &order(&commits), histories);
        }
        // Roots are sorted in the order of their discovery.
        let order: BTreeMap<&String, usize> = paths.iter().zip(0..).collect();
        self.roots
            .results
            .sort_by_key(|root| order.get(&root.path).copied());
    }

    /// Reads the commits of a repository that changed lock files, the newest first, with the versions of the wanted
    /// changes.
    fn commits(
        &mut self,
        repository: usize,
        is_wanted: impl FnMut(&CommittedChange) -> bool,
    ) -> Result<(Vec<Commit>, VersionContents), Failure> {
        let git = &self.repositories[repository].git;
        let (commits, contents) = VersionContents::of_history(git, self.most, is_wanted)
            .map_err(|error| failure(&error))?;
        self.is_cut |= self.most.is_some_and(|most| commits.len() >= most);
        Ok((commits, contents))
    }

    /// Adds what each commit changed to the results of the lock files.
    fn histories(
        &mut self,
        contents: &VersionContents,
        order: &Order<'_>,
        histories: Vec<LockHistory<'_>>,
    ) {
        let histories: Vec<(usize, LockHistory<'_>)> = histories.into_iter().enumerate().collect();
        let listed = parallel::map(parallel::cores(), &histories, |(at, history)| {
            let mut result = history.result.clone();
            // The versions with faults.
            let mut texts = self.roots.texts.after(*at);
            let read = self.history(history, order, contents, &mut result, &mut texts);
            let has_unreadable = read.unwrap_or_else(|failure| {
                result.fail(failure);
                false
            });
            (result, texts, has_unreadable)
        });
        for (result, texts, has_unreadable) in listed {
            self.roots.results.push(result);
            self.roots.texts.append(texts);
            self.has_unreadable |= has_unreadable;
        }
    }

    /// Adds what each commit changed to the result of a lock file. Returns true if a version could not be read.
    fn history(
        &self,
        history: &LockHistory<'_>,
        order: &Order<'_>,
        contents: &VersionContents,
        result: &mut RootResult,
        texts: &mut Texts,
    ) -> Result<bool, Failure> {
        let commits = &history.commits;
        let flavor = history
            .flavor
            .unwrap_or_else(|| self.flavor(commits, contents, &history.dir));
        result.flavor = Some(flavor);
        let filter = match self.provider {
            None => HistoryFilter::All,
            Some(typed) => HistoryFilter::parse(typed, flavor).map_err(|error| {
                Failure::from_error(&error).help("write NAMESPACE/TYPE or HOST/NAMESPACE/TYPE")
            })?,
        };
        let locks = contents.versions(commits, flavor, texts, result);
        let has_unreadable = commits
            .iter()
            .flat_map(|commit| blobs(commit.change))
            .any(|blob| !locks.contains_key(blob));
        let (commits, steps): (Vec<&FileCommit<'_>>, Vec<_>) =
            commits.iter().filter_map(step).unzip();
        result.providers = review::history(&steps, &locks, &filter)
            .into_iter()
            .map(|found| {
                let FileCommit { commit, change } = commits[found.step];
                let newer = order.get(&commit.id).copied().unwrap_or_default();
                let row = row(commit, newer, change.change.path(), &found);
                Provider::Changed(Box::new(row))
            })
            .collect();
        Ok(has_unreadable)
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
        flavor_of(self.options.flavor, self.world.disk, dir, newest.as_deref())
    }
}

impl LockPlace {
    /// Returns the path of the lock file, from the top of the work tree.
    fn path(&self) -> PathBuf {
        self.dir.join(lockfile::FILE_NAME)
    }

    /// Picks the commits that changed the lock file; `is_cut` says that there may be older ones.
    fn follow<'h>(
        &self,
        changed: &ChangedPaths<'h>,
        is_cut: bool,
        shown: &str,
    ) -> Result<Vec<FileCommit<'h>>, Failure> {
        let own = changed.follow(&self.path());
        // Without a commit that has it, the path is more likely mistyped than removed.
        if own.is_empty() && !is_cut && self.flavor.is_none() {
            return Err(Failure::new(format!(
                "{shown} is not there, and no commit has a lock file in it"
            ))
            .help("`lockctl log` without a root lists every lock file of the repository"));
        }
        Ok(own)
    }
}

fn order(commits: &[Commit]) -> Order<'_> {
    commits.iter().map(|commit| &commit.id).zip(0..).collect()
}
