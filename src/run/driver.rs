//! The driver of a job over roots.

use std::collections::VecDeque;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use crate::diag::Texts;
use crate::project::roots::UnitRoots;
use crate::report::json::RootStatus;
use crate::report::{CommandResult, Failure, RootResult, Sentence};
use crate::run::World;
use crate::run::job::{Job, OpenResult};
use crate::run::opening::{FoundRoot, MAX_READ_AHEAD, ReadRoot, RootReader};
use crate::run::options::{RootChoice, RunOptions};
use crate::run::root::Root;
use crate::run::unseen::some_of;
use crate::workspace::{self, SearchSettings, WorkspaceError};
use crate::world::{Exclusive, Replaced};

/// The results of all roots of a run.
#[derive(Default)]
pub(crate) struct RootResults {
    pub(crate) results: Vec<RootResult>,
    /// Everything that was read.
    pub(crate) texts: Texts,
    /// Directories with configuration that no root covers, if roots were searched for.
    pub(crate) not_locked: Option<Vec<PathBuf>>,
    /// Git submodules that are not checked out, if roots were searched for.
    submodules: Vec<PathBuf>,
}

/// A root that was opened, with its result so far.
struct OpenedRoot<T> {
    dir: PathBuf,
    result: RootResult,
    opened: Option<T>,
}

impl<T> OpenedRoot<T> {
    fn new(dir: PathBuf, mut result: RootResult, opened: Result<OpenResult<T>, Failure>) -> Self {
        let opened = match opened {
            Ok(OpenResult::Ready(opened)) => Some(opened),
            Ok(OpenResult::Finished) => None,
            Ok(OpenResult::Changed) => {
                result = keeps_changing(&dir);
                None
            }
            Err(failure) => {
                result.fail(failure);
                None
            }
        };
        Self {
            dir,
            result,
            opened,
        }
    }
}

/// The run of a job: the job, and how its roots are opened.
struct JobRun<'a, 'j, J> {
    job: &'j mut J,
    reader: RootReader<'a>,
    world: World<'a>,
    texts: Texts,
}

/// Does a job for every root that was named, or that is found below.
///
/// The failure of one root stops no other.
pub(crate) fn over_roots<J: Job>(
    job: &mut J,
    choice: &RootChoice,
    options: &RunOptions,
    world: World<'_>,
) -> RootResults {
    let mut all = RootResults::default();
    let Some((reader, dirs)) = start(options, choice, world, job.threads(), &mut all) else {
        return all;
    };
    let mut run = JobRun {
        job,
        reader,
        world,
        texts: std::mem::take(&mut all.texts),
    };
    let results = run.roots(dirs);
    all.results.extend(results);
    all.texts = run.texts;
    all
}

/// Does something with every root by itself, in the order of the roots.
pub(crate) fn each(
    options: &RunOptions,
    choice: &RootChoice,
    world: World<'_>,
    work: impl FnMut(&Root, &mut Texts, &mut RootResult) -> Result<Replaced, Failure> + Sync,
) -> RootResults {
    over_roots(&mut EachRoot(work), choice, options, world)
}

/// A job that needs nothing but the roots, one after the other.
struct EachRoot<F>(F);

impl<F> Job for EachRoot<F>
where
    F: FnMut(&Root, &mut Texts, &mut RootResult) -> Result<Replaced, Failure> + Sync,
{
    type Loaded = ();
    type Opened = ();
    type Done = ();

    fn load(&self, _: &Root, _: &mut Texts) {}

    fn open(
        &mut self,
        root: Root,
        (): (),
        texts: &mut Texts,
        result: &mut RootResult,
    ) -> Result<OpenResult<()>, Failure> {
        Ok((self.0)(&root, texts, result)?.into())
    }

    fn work(&mut self, roots: Vec<()>) -> Vec<()> {
        roots
    }

    fn finish(
        &mut self,
        (): (),
        _: Option<&Exclusive>,
        _: &Texts,
        _: &mut RootResult,
    ) -> Result<Replaced, Failure> {
        Ok(Replaced::Done)
    }
}

impl<J: Job> JobRun<'_, '_, J> {
    fn roots(&mut self, dirs: Vec<PathBuf>) -> Vec<RootResult> {
        let mut roots = self.open_all(dirs);
        let has_failed = |root: &OpenedRoot<_>| root.result.status == RootStatus::Failed;
        // An obstacle that a failed root would remove, as requiring a provider, is none.
        if !roots.iter().any(has_failed) {
            let obstacles = self.job.obstacles();
            if !obstacles.is_empty() {
                for root in &mut roots {
                    // A verdict such as "up to date" would contradict the failure that follows.
                    root.result.verdict = None;
                    for failure in &obstacles {
                        root.result.fail(failure.clone());
                    }
                }
                return roots.into_iter().map(|root| root.result).collect();
            }
        }
        let mut ready = Vec::new();
        let mut reported = Vec::new();
        for root in roots {
            reported.push((root.dir, root.result, root.opened.is_some()));
            ready.extend(root.opened);
        }
        // All at once: a release that several roots lock is fetched and hashed once.
        let mut done = self.job.work(ready).into_iter();
        let mut results = Vec::new();
        for (dir, mut result, is_ready) in reported {
            if is_ready {
                let root = done.next().expect("the work returns every root");
                result = self.finish(&dir, root, result);
            }
            results.push(result);
        }
        results
    }

    /// Reads all roots, some of them side by side, and opens them in their order.
    fn open_all(&mut self, dirs: Vec<PathBuf>) -> Vec<OpenedRoot<J::Opened>> {
        // Which root reports the faults of a project file depends on the order, so no thread looks for them.
        let mut found: VecDeque<FoundRoot> = VecDeque::new();
        for dir in dirs {
            found.push_back(self.reader.find(dir, &mut self.texts));
        }
        let mut roots = Vec::new();
        while !found.is_empty() {
            let count = MAX_READ_AHEAD.min(found.len());
            let next: Vec<FoundRoot> = found.drain(..count).collect();
            let read = self.reader.read_all(self.job, &next, &self.texts);
            for (found, (read, texts)) in next.into_iter().zip(read) {
                self.texts.append(texts);
                roots.push(self.open(found, read));
            }
        }
        roots
    }

    fn open(&mut self, found: FoundRoot, read: ReadRoot<J::Loaded>) -> OpenedRoot<J::Opened> {
        let dir = found.dir.clone();
        let mut result = RootResult::new(dir.display().to_string());
        let opened = match self.reader.report(found, read, &mut result) {
            Ok(Some((root, loaded))) => self.job.open(root, loaded, &mut self.texts, &mut result),
            Ok(None) => Ok(OpenResult::Finished),
            Err(failure) => Err(failure),
        };
        if let Ok(OpenResult::Changed) = opened {
            // What was said of the root before does not count.
            let mut result = RootResult::new(dir.display().to_string());
            let opened = self.open_again(&dir, &mut result);
            return OpenedRoot::new(dir, result, opened);
        }
        OpenedRoot::new(dir, result, opened)
    }

    fn open_again(
        &mut self,
        dir: &Path,
        result: &mut RootResult,
    ) -> Result<OpenResult<J::Opened>, Failure> {
        let found = self.reader.find(dir.to_owned(), &mut self.texts);
        let read = self.reader.read(self.job, &found, &mut self.texts);
        match self.reader.report(found, read, result)? {
            Some((root, loaded)) => self.job.open(root, loaded, &mut self.texts, result),
            None => Ok(OpenResult::Finished),
        }
    }

    fn finish(&mut self, dir: &Path, root: J::Done, mut result: RootResult) -> RootResult {
        match self.job.finish(root, None, &self.texts, &mut result) {
            Ok(Replaced::Done) => result,
            Ok(Replaced::Changed) => {
                // What was decided about the old text of the lock file does not count any more.
                let mut result = RootResult::new(dir.display().to_string());
                match self.start_over(dir, &mut result) {
                    Ok(Replaced::Done) => result,
                    Ok(Replaced::Changed) => keeps_changing(dir),
                    Err(failure) => {
                        result.fail(failure);
                        result
                    }
                }
            }
            Err(failure) => {
                result.fail(failure);
                result
            }
        }
    }

    /// Works on a single root whose lock file another program changed, and writes it.
    ///
    /// Several processes that lock one root at once would all find it changed again, so others have to wait
    /// until this one is done.
    fn start_over(&mut self, dir: &Path, result: &mut RootResult) -> Result<Replaced, Failure> {
        let path = workspace::lock_path(dir);
        // Asked for before the root is read again, so that no other lockctl writes between reading and writing.
        let held = self
            .world
            .disk
            .exclusive(&path)
            .map_err(|cause| WorkspaceError::Unwritable { path, cause })?;
        match self.open_again(dir, result)? {
            OpenResult::Ready(opened) => {
                let done = self.job.work(vec![opened]).remove(0);
                self.job.finish(done, Some(&held), &self.texts, result)
            }
            OpenResult::Finished => Ok(Replaced::Done),
            OpenResult::Changed => Ok(Replaced::Changed),
        }
    }
}

/// Returns the result of a root whose lock file was changed while the run started over, too.
fn keeps_changing(dir: &Path) -> RootResult {
    let mut result = RootResult::new(dir.display().to_string());
    let path = workspace::lock_path(dir);
    result.fail(WorkspaceError::KeepsChanging { path }.into());
    result
}

/// Finds the roots of a run; `None` if there can be none, which is reported already.
fn start<'a>(
    options: &'a RunOptions,
    choice: &RootChoice,
    world: World<'a>,
    threads: NonZeroUsize,
    all: &mut RootResults,
) -> Option<(RootReader<'a>, Vec<PathBuf>)> {
    let mut reader = match RootReader::new(options, world, &mut all.texts) {
        Ok(reader) => reader,
        Err(error) => {
            all.fail(Path::new("."), error.into());
            return None;
        }
    };
    let dirs = choice.dirs_below(options);
    if !choice.recursive {
        let dirs = reader.workspace.distinct(&dirs);
        return Some((reader, dirs));
    }
    let settings = SearchSettings {
        jobs: threads,
        // A repository may hold thousands of units whose lock files are not committed.
        units: if choice.terragrunt {
            UnitRoots::All
        } else {
            UnitRoots::Named
        },
    };
    let searched = reader.workspace.search(&dirs, settings, &mut all.texts);
    for (dir, error) in searched.errors {
        all.fail(&dir, error.into());
    }
    all.not_locked = Some(searched.not_locked);
    all.submodules = searched.submodules;
    Some((reader, searched.roots))
}

impl RootResults {
    /// Makes the result of a command.
    pub(crate) fn into_result(self, command: &'static str) -> CommandResult {
        let not_locked = self
            .not_locked
            .map(|dirs| dirs.iter().map(|dir| dir.display().to_string()).collect());
        let mut result = CommandResult::of_roots(command, self.results, self.texts);
        result.not_locked = not_locked;
        result.remarks.extend(not_checked_out(&self.submodules));
        result
    }

    fn fail(&mut self, dir: &Path, failure: Failure) {
        let mut result = RootResult::new(dir.display().to_string());
        result.fail(failure);
        self.results.push(result);
    }
}

/// Names the git submodules in which no root could be found.
fn not_checked_out(submodules: &[PathBuf]) -> Option<Sentence> {
    let (what, are) = match submodules.len() {
        0 => return None,
        1 => ("git submodule", "is"),
        _ => ("git submodules", "are"),
    };
    let names = submodules.iter().map(|dir| dir.display().to_string());
    Some(Sentence::note(format!(
        "the {what} {} {are} not checked out, so roots in there are not found; run `git submodule \
         update --init`",
        some_of(names).join(", ")
    )))
}
