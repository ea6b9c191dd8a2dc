//! The driver of a job over roots.
//!
//! Roots are read side by side, which changes nothing and reports nothing; what was read is reported
//! root by root, in the order of the run.

use std::collections::{BTreeSet, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::config::Loaded;
use crate::diag::{Texts, counted, has_errors};
use crate::driver::changed::ChangedFiles;
use crate::driver::contained::contained;
use crate::driver::job::{Job, OpenResult, RunInputs};
use crate::driver::results::RootResults;
use crate::flavor::FlavorChoice;
use crate::git::Repository;
use crate::parallel;
use crate::project::ProjectFile;
use crate::project::roots::UnitRoots;
use crate::report::json::RootStatus;
use crate::report::{Failure, RootResult};
use crate::run::root::Root;
use crate::workspace::{
    self, FlavorSign, SearchSettings, SpecialDirectory, StatedProject, Workspace, WorkspaceError,
};
use crate::world::{Replaced, clean};

/// Maximum number of roots that are read before the first of them is opened: enough to keep all cores busy,
/// and few enough to be kept in memory.
const MAX_READ_AHEAD: usize = 64;

/// Does a job for every root that was named, or that is found below.
///
/// The failure of one root stops no other.
pub(crate) fn over_roots<J: Job>(job: &mut J, inputs: RunInputs<'_>) -> RootResults {
    let mut all = RootResults::default();
    let options = inputs.options;
    let project = options.config.as_ref().map(|path| StatedProject {
        path: options.below(path),
        base: options.below(Path::new(".")),
    });
    let (files, env) = (inputs.world.disk, inputs.world.env);
    let (project, now) = (project.as_ref(), inputs.world.clock.now());
    let texts = &mut all.texts;
    let current = env.current_dir().unwrap_or_default();
    let tracked = |dir: &Path| {
        let locks = Repository::find(inputs.world.run, dir).and_then(|git| git.tracked_locks());
        // Without git there is no evidence, as outside of a repository.
        locks
            .unwrap_or_default()
            .iter()
            .filter_map(|path| Some(clean(&current.join(path)).parent()?.to_owned()))
            .collect()
    };
    let changed = inputs.changed.map(ChangedFiles::lock_dirs);
    // A root that was changed counts even if git does not track it yet.
    let changed = changed.unwrap_or_default();
    let opened = match inputs.world.project_files {
        None => Workspace::new(files, env, options.flavor, project, now, texts),
        // With --config-at the rules come from a revision, so that a pull request cannot relax them.
        Some(reviewed) => Workspace::new(files, env, options.flavor, None, now, texts)
            .map(|workspace| workspace.governed_from(reviewed, project, now, texts)),
    };
    let mut workspace = match opened {
        Ok(workspace) => workspace.with_git(&tracked, &changed),
        Err(error) => {
            all.fail(Path::new("."), error.into());
            return all;
        }
    };
    let mut dirs = find_roots(&mut workspace, &inputs, &mut all);
    if let Some(changed) = inputs.changed {
        let found = dirs.len();
        dirs = changed_roots(&mut workspace, &inputs, changed, dirs, &mut all.texts);
        all.unchanged = Some((found - dirs.len(), changed.since.clone()));
    }
    let mut run = JobRun {
        job,
        reader: RootReader { workspace, inputs },
        texts: std::mem::take(&mut all.texts),
        reported: BTreeSet::new(),
    };
    let results = run.roots(dirs);
    all.results.extend(results);
    all.texts = run.texts;
    all
}

/// Returns the directories of all roots, in their order; those that could not be searched are reported.
fn find_roots(
    workspace: &mut Workspace<'_>,
    inputs: &RunInputs<'_>,
    all: &mut RootResults,
) -> Vec<PathBuf> {
    let dirs = inputs.roots.dirs(inputs.options);
    if !inputs.roots.recursive {
        return workspace.distinct(&dirs);
    }
    let searched = workspace.search(&dirs, inputs.search_settings(), &mut all.texts);
    for (dir, error) in searched.errors {
        all.fail(&dir, error.into());
    }
    all.not_locked = Some(searched.not_locked);
    all.submodules = searched.submodules;
    all.stacks = searched.stacks;
    searched.roots
}

/// Leaves out roots without a changed file.
fn changed_roots(
    workspace: &mut Workspace<'_>,
    inputs: &RunInputs<'_>,
    changed: &ChangedFiles,
    dirs: Vec<PathBuf>,
    texts: &mut Texts,
) -> Vec<PathBuf> {
    let found: Vec<_> = dirs
        .iter()
        .map(|dir| workspace.project(dir, texts).ok())
        .zip(&dirs)
        .collect();
    let files = inputs.world.disk;
    let concerned = parallel::map(inputs.jobs, &found, |(file, dir)| {
        let Some(file) = file else { return true };
        // The files of a root that stays are read again, for its results.
        let root = workspace.open(dir, Arc::clone(file), &mut Texts::default());
        match root {
            Ok(Some(root)) => changed.concern(&root, workspace.current(), inputs.reading, files),
            // A root that cannot be opened stays, so that this is reported.
            _ => true,
        }
    });
    dirs.into_iter()
        .zip(concerned)
        .filter_map(|(dir, is_concerned)| is_concerned.then_some(dir))
        .collect()
}

impl RunInputs<'_> {
    /// Says how roots are searched for.
    fn search_settings(&self) -> SearchSettings {
        SearchSettings {
            jobs: self.jobs,
            // A repository may hold thousands of units whose lock files are not committed.
            units: if self.roots.terragrunt {
                UnitRoots::All
            } else {
                UnitRoots::Named
            },
        }
    }
}

/// The run of a job: the job, and how its roots are read.
struct JobRun<'a, 'j, J> {
    job: &'j mut J,
    reader: RootReader<'a>,
    texts: Texts,
    /// The project files whose problems were reported.
    reported: BTreeSet<PathBuf>,
}

/// The parts of a run that reading needs, which threads share.
struct RootReader<'a> {
    workspace: Workspace<'a>,
    inputs: RunInputs<'a>,
}

/// A directory with the project file that governs it.
struct FoundRoot {
    dir: PathBuf,
    file: Result<Arc<ProjectFile>, WorkspaceError>,
}

/// A root that was read.
struct ReadRoot {
    root: Root,
    /// Its configuration, if the job needs any.
    loaded: Option<Loaded>,
    /// The directory holds `.tofu` files that are not read.
    ignores_tofu_files: bool,
}

/// A root that was opened, with its result so far.
struct OpenedRoot<T> {
    dir: PathBuf,
    result: RootResult,
    opened: Option<T>,
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
        let mut numbers = Vec::new();
        for (number, root) in roots.iter_mut().enumerate() {
            if let Some(opened) = root.opened.take() {
                ready.push((opened, &mut root.result));
                numbers.push(number);
            }
        }
        // All at once: a release that several roots lock is fetched and hashed once.
        match contained(|| Ok(self.job.work(ready, &self.texts))) {
            Ok(done) => {
                for (number, done) in numbers.into_iter().zip(done) {
                    let OpenedRoot { dir, result, .. } = &mut roots[number];
                    let replaced = contained(|| self.job.finish(done, None, &self.texts, result));
                    self.conclude(dir, replaced, result);
                }
            }
            // The work is done for all roots at once, so none of them has a result.
            Err(failure) => {
                for number in numbers {
                    let result = &mut roots[number].result;
                    result.verdict = None;
                    result.fail(failure.clone());
                }
            }
        }
        roots.into_iter().map(|root| root.result).collect()
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
            let next: Vec<(usize, FoundRoot)> = found.drain(..count).enumerate().collect();
            let (reader, texts) = (&self.reader, &self.texts);
            let read = parallel::map(reader.inputs.jobs, &next, |(number, found)| {
                // The ids of texts depend on the place of the root, not on the order of the threads.
                let mut texts = texts.after(*number);
                let read = contained(|| Ok(reader.read(found, &mut texts)?));
                (read, texts)
            });
            for ((_, found), (read, texts)) in next.into_iter().zip(read) {
                self.texts.append(texts);
                let dir = found.dir.clone();
                let mut result = RootResult::new(dir.display().to_string());
                let is_empty = matches!(&read, Ok(Some(read)) if read.root.is_empty);
                let mut opened = contained(|| {
                    let Some(read) = self.report_read(found, read, &mut result)? else {
                        return Ok(OpenResult::Finished);
                    };
                    let (root, loaded) = (read.root, read.loaded);
                    self.job.open(root, loaded, &mut self.texts, &mut result)
                });
                if let Ok(OpenResult::Changed) = opened {
                    // What was said of the root before does not count.
                    result = RootResult::new(dir.display().to_string());
                    opened = contained(|| self.open_again(&dir, &mut result));
                } else if is_empty {
                    opened = opened.map_err(|failure| self.with_first_step(&dir, failure));
                }
                roots.push(OpenedRoot::new(dir, result, opened));
            }
        }
        roots
    }

    /// Reports what was found and read of a root; `None` if that finishes it.
    fn report_read(
        &mut self,
        found: FoundRoot,
        read: Result<Option<ReadRoot>, Failure>,
        result: &mut RootResult,
    ) -> Result<Option<ReadRoot>, Failure> {
        let file = found.file?;
        // A repository often has one project file for hundreds of roots: people see its faults once.
        let is_first = file
            .path
            .as_ref()
            .is_none_or(|path| self.reported.insert(path.clone()));
        if is_first {
            result.faults(&file.diagnostics);
        } else {
            result.aside(&file.diagnostics);
            if has_errors(&file.diagnostics) {
                result.status = RootStatus::Failed;
            }
        }
        let read = read?;
        if let Some(read) = &read {
            read.remark(result);
        }
        Ok(read)
    }

    /// Says how many roots are below a directory that holds nothing to work on, if there are any.
    fn with_first_step(&self, dir: &Path, failure: Failure) -> Failure {
        let RootReader { workspace, inputs } = &self.reader;
        if inputs.roots.recursive {
            return failure;
        }
        let below = workspace.roots_below(dir, inputs.search_settings());
        let Some(first) = below.first() else {
            return failure;
        };
        let count = counted(below.len(), "root");
        failure.help(if inputs.roots.is_single {
            format!("{count} below: name one, such as {}", first.display())
        } else {
            format!("{count} below: add -r")
        })
    }

    fn open_again(
        &mut self,
        dir: &Path,
        result: &mut RootResult,
    ) -> Result<OpenResult<J::Opened>, Failure> {
        let found = self.reader.find(dir.to_owned(), &mut self.texts);
        let read = self.reader.read(&found, &mut self.texts);
        let Some(read) = self.report_read(found, read.map_err(Failure::from), result)? else {
            return Ok(OpenResult::Finished);
        };
        self.job
            .open(read.root, read.loaded, &mut self.texts, result)
    }

    /// Starts a root over if another program changed its lock file meanwhile, and reports a failure.
    fn conclude(
        &mut self,
        dir: &Path,
        mut replaced: Result<Replaced, Failure>,
        result: &mut RootResult,
    ) {
        if let Ok(Replaced::Changed) = replaced {
            // What was decided about the old text of the lock file does not count any more.
            *result = RootResult::new(dir.display().to_string());
            replaced = contained(|| {
                let path = workspace::lock_path(dir);
                let disk = self.reader.inputs.world.disk;
                // Asked for before the root is read again, so that no other lockctl writes between reading and
                // writing. Several processes that lock one root at once would all find it changed again, so the
                // others have to wait.
                let held = disk
                    .exclusive(&path)
                    .map_err(|cause| WorkspaceError::Unwritable { path, cause })?;
                match self.open_again(dir, result)? {
                    OpenResult::Ready(opened) => {
                        let ready = vec![(opened, &mut *result)];
                        let done = self.job.work(ready, &self.texts).remove(0);
                        self.job.finish(done, Some(&held), &self.texts, result)
                    }
                    OpenResult::Finished => Ok(Replaced::Done),
                    OpenResult::Changed => Ok(Replaced::Changed),
                }
            });
        }
        match replaced {
            Ok(Replaced::Done) => {}
            Ok(Replaced::Changed) => *result = keeps_changing(dir),
            Err(failure) => result.fail(failure),
        }
    }
}

impl RootReader<'_> {
    /// Finds the project file of a root.
    ///
    /// The first root that has a file decides how its path is shown, so the order of calls matters.
    fn find(&mut self, dir: PathBuf, texts: &mut Texts) -> FoundRoot {
        let file = self.workspace.project(&dir, texts);
        FoundRoot { dir, file }
    }

    /// Reads one root with its configuration; `None` if its project file is broken.
    fn read(
        &self,
        found: &FoundRoot,
        texts: &mut Texts,
    ) -> Result<Option<ReadRoot>, WorkspaceError> {
        let Ok(file) = &found.file else {
            // The error is reported with the root.
            return Ok(None);
        };
        let root = self.workspace.open(&found.dir, Arc::clone(file), texts)?;
        Ok(root.map(|root| {
            // Files are read here, beside those of other roots: most of the time of a run over many roots goes there.
            ReadRoot {
                loaded: self
                    .inputs
                    .reading
                    .map(|reading| root.load(&reading, texts)),
                ignores_tofu_files: root.ignores_tofu_files(self.inputs.world.disk),
                root: Root::new(root, self.inputs.options, self.inputs.world.disk),
            }
        }))
    }
}

impl ReadRoot {
    /// Says whose rules apply to the root, and which of its files are not read.
    fn remark(&self, result: &mut RootResult) {
        let root = &self.root;
        result.flavor = Some(root.flavor);
        if let FlavorChoice::Stated(stated) = root.choice
            && stated.older_than_known
        {
            let version = match &root.tool_file {
                // The same words for all roots that have such a file of their own make one note of them.
                Some(path) if path.parent() == Some(&root.dir) => {
                    let name = path.file_name().unwrap_or_default().display();
                    format!("{stated}, stated in {name} beside it")
                }
                Some(path) => format!("{stated}, stated in {}", path.display()),
                None => "the stated version".to_owned(),
            };
            result.remark(format!(
                "the oldest known rules, {}, are used for {version}",
                stated.flavor
            ));
        }
        if root.sign == FlavorSign::Reviewed {
            result.remark(format!(
                "the rules of {} apply, as before: the lock file is one of the other program only since the \
                 revision that `--config-at` names; state a `flavor` in the project file of that revision first",
                root.flavor.program()
            ));
        }
        if root.special == Some(SpecialDirectory::Stack)
            && root.lock.is_some()
            && self.loaded.is_some()
        {
            result.remark(
                "a Terraform Stack: the modules of its components are not read, only its \
                 `required_providers` are compared; `terraform stacks providers-lock` writes its lock file",
            );
        }
        if self.ignores_tofu_files {
            result.remark(
                "the lock file has Terraform's header, so the `.tofu` files beside it are not read; \
                 `--flavor opentofu` reads them",
            );
        }
    }
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

/// Returns the result of a root whose lock file was changed while the run started over, too.
fn keeps_changing(dir: &Path) -> RootResult {
    let mut result = RootResult::new(dir.display().to_string());
    let path = workspace::lock_path(dir);
    result.fail(WorkspaceError::KeepsChanging { path }.into());
    result
}
