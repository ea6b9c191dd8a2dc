//! All roots of a run: which they are, and what is done with each.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::cli::World;
use crate::cli::args::{Common, Roots};
use crate::cli::session::opening::{FoundRoot, MAX_READ_AHEAD, Opening, ReadRoot};
use crate::cli::session::root::Root;
use crate::cli::session::unseen::some_of;
use crate::diag::Texts;
use crate::parallel;
use crate::project::roots::UnitRoots;
use crate::report::json::Status;
use crate::report::{CommandResult, Failure, RootResult, Sentence};
use crate::workspace::{self, SearchSettings, StatedProject, Workspace, WorkspaceError};
use crate::world::{Exclusive, Replaced};

pub(in crate::cli) use crate::cli::session::opening::Reading;

/// How often a command starts over when the lock file changes under it.
const RESTARTS: usize = 1;

/// What all roots came to.
#[derive(Default)]
pub(in crate::cli) struct RootResults {
    pub(in crate::cli) results: Vec<RootResult>,
    /// Everything that was read.
    pub(in crate::cli) texts: Texts,
    /// Directories with configuration that no root covers, if roots were looked for.
    pub(in crate::cli) not_locked: Option<Vec<PathBuf>>,
    /// Git submodules that are not checked out, if roots were looked for.
    submodules: Vec<PathBuf>,
}

/// Does something with every root that was typed, or that is found below.
///
/// Work that writes a lock file and finds it changed meanwhile starts over; what it said before
/// does not count. The failure of one root stops no other.
pub(in crate::cli) fn each(
    common: &Common,
    roots: &Roots,
    world: World<'_>,
    mut work: impl FnMut(&Arc<Root>, &mut Texts, &mut RootResult) -> Result<Replaced, Failure>,
) -> RootResults {
    let reading = Reading {
        jobs: parallel::cores(),
        load: &|_, _| (),
    };
    each_loaded(common, roots, world, &reading, |root, (), texts, output| {
        work(root, texts, output)
    })
}

/// Does what [`each`] does, with what is read of each root beforehand.
pub(in crate::cli) fn each_loaded<L: Send>(
    common: &Common,
    roots: &Roots,
    world: World<'_>,
    reading: &Reading<'_, L>,
    mut work: impl FnMut(&Arc<Root>, L, &mut Texts, &mut RootResult) -> Result<Replaced, Failure>,
) -> RootResults {
    let mut ran = RootResults::default();
    let Some((mut opening, dirs)) = start(common, roots, world, reading.jobs, &mut ran) else {
        return ran;
    };
    for_each_read(
        &mut opening,
        dirs,
        reading,
        &mut ran,
        |opening, one, ran| {
            let dir = one.found.dir.clone();
            let mut first = Some(one);
            let output = with_restarts(&dir, 1 + RESTARTS, &mut |output| {
                let opened = match first.take() {
                    Some(one) => opening.open(one.found, one.read, output)?,
                    None => opening.open_again(&dir, &mut ran.texts, reading.load, output)?,
                };
                match opened {
                    Some((root, loaded)) => work(&Arc::new(root), loaded, &mut ran.texts, output),
                    None => Ok(Replaced::Done),
                }
            });
            ran.results.push(output);
        },
    );
    ran
}

/// Work on all roots of a run together.
pub(in crate::cli) trait Together {
    /// What is read of a root beforehand.
    type Loaded: Send;
    /// A root that was opened for the work.
    type Opened;
    /// What the work came to for a root.
    type Outcome;

    /// Decides what the work needs of a root that was read; `None` if there is nothing to do.
    fn open(
        &mut self,
        root: Root,
        loaded: Self::Loaded,
        texts: &mut Texts,
        output: &mut RootResult,
    ) -> Result<Option<Self::Opened>, Failure>;

    /// Returns what keeps the work from being done for any root, now that all are open.
    fn obstacles(&self) -> Vec<Failure> {
        Vec::new()
    }

    /// Does the work; returns an outcome for each root, in their order.
    fn work(&mut self, roots: &[&Self::Opened]) -> Vec<Self::Outcome>;

    /// Writes what came of a root; `held` is the right to write in its directory, if the run has it.
    fn finish(
        &mut self,
        root: &Self::Opened,
        outcome: Self::Outcome,
        held: Option<&Exclusive>,
        texts: &Texts,
        output: &mut RootResult,
    ) -> Result<Replaced, Failure>;
}

/// Opens every root that was typed, or that is found below, works on all of them together, and
/// then finishes each.
///
/// A root whose lock file changed meanwhile starts over, alone; what it said before does not count.
/// Several processes that lock one root at once would all find it changed again, so who starts over
/// keeps the others waiting until it is done. The failure of one root stops no other.
pub(in crate::cli) fn together<T: Together>(
    common: &Common,
    roots: &Roots,
    world: World<'_>,
    reading: &Reading<'_, T::Loaded>,
    job: &mut T,
) -> RootResults {
    let mut ran = RootResults::default();
    let Some((mut opening, dirs)) = start(common, roots, world, reading.jobs, &mut ran) else {
        return ran;
    };
    let mut all = Vec::new();
    for_each_read(
        &mut opening,
        dirs,
        reading,
        &mut ran,
        |opening, one, ran| {
            let dir = one.found.dir.clone();
            let mut output = RootResult::new(dir.display().to_string());
            let opened = opening.open(one.found, one.read, &mut output);
            let opened = opened.and_then(|opened| match opened {
                Some((root, loaded)) => job.open(root, loaded, &mut ran.texts, &mut output),
                None => Ok(None),
            });
            let opened = opened.unwrap_or_else(|failure| {
                output.fail(failure);
                None
            });
            all.push((dir, output, opened));
        },
    );
    // What a root that failed would have said is unknown.
    let all_opened = all
        .iter()
        .all(|(_, output, _)| output.status != Status::Failed);
    let obstacles = if all_opened {
        job.obstacles()
    } else {
        Vec::new()
    };
    if !obstacles.is_empty() {
        ran.results = all.into_iter().map(|(_, output, _)| output).collect();
        for output in &mut ran.results {
            output.verdict = None;
            obstacles
                .iter()
                .cloned()
                .for_each(|failure| output.fail(failure));
        }
        return ran;
    }
    let opened: Vec<&T::Opened> = all
        .iter()
        .filter_map(|(.., opened)| opened.as_ref())
        .collect();
    let mut outcomes = job.work(&opened).into_iter();
    for (dir, mut output, opened) in all {
        let Some(opened) = opened else {
            ran.results.push(output);
            continue;
        };
        let outcome = outcomes.next().expect("an outcome for each root");
        let output = match job.finish(&opened, outcome, None, &ran.texts, &mut output) {
            Ok(Replaced::Done) => output,
            Err(failure) => {
                output.fail(failure);
                output
            }
            Ok(Replaced::Changed) => with_restarts(&dir, RESTARTS, &mut |output| {
                let path = workspace::lock_path(&dir);
                let held = world.disk.exclusive(&path);
                let held = held.map_err(|cause| WorkspaceError::Unwritable { path, cause })?;
                let texts = &mut ran.texts;
                let again = opening.open_again(&dir, texts, reading.load, output)?;
                let opened = match again {
                    Some((root, loaded)) => job.open(root, loaded, texts, output)?,
                    None => None,
                };
                let Some(opened) = opened else {
                    return Ok(Replaced::Done);
                };
                let outcome = job.work(&[&opened]).remove(0);
                job.finish(&opened, outcome, Some(&held), &ran.texts, output)
            }),
        };
        ran.results.push(output);
    }
    ran
}

/// A root that was read and not yet looked at.
struct ReadAhead<L> {
    found: FoundRoot,
    read: ReadRoot<L>,
}

/// Reads all roots, some of them side by side, and does something with one after the other, in their
/// order; by then its texts are among those of the run.
fn for_each_read<L: Send>(
    opening: &mut Opening<'_>,
    dirs: Vec<PathBuf>,
    reading: &Reading<'_, L>,
    ran: &mut RootResults,
    mut work: impl FnMut(&mut Opening<'_>, ReadAhead<L>, &mut RootResults),
) {
    let dirs = dirs.into_iter();
    let found: Vec<FoundRoot> = dirs.map(|dir| opening.find(dir, &mut ran.texts)).collect();
    let mut found = found.into_iter();
    loop {
        let next: Vec<FoundRoot> = found.by_ref().take(MAX_READ_AHEAD).collect();
        if next.is_empty() {
            break;
        }
        let read = opening.read_all(reading, &next, &ran.texts);
        for (found, (read, texts)) in next.into_iter().zip(read) {
            ran.texts.append(texts);
            work(opening, ReadAhead { found, read }, ran);
        }
    }
}

/// Finds the roots of a run, and what it takes to open them; `None` if there can be none, which is
/// put out already.
fn start<'a>(
    common: &'a Common,
    roots: &Roots,
    world: World<'a>,
    jobs: NonZeroUsize,
    ran: &mut RootResults,
) -> Option<(Opening<'a>, Vec<PathBuf>)> {
    let project = common.config.as_ref().map(|path| StatedProject {
        path: common.below(path),
        base: common.below(Path::new(".")),
    });
    let (files, texts) = (world.disk, &mut ran.texts);
    let opened = Workspace::new(files, world.env, common.flavor, project.as_ref(), texts);
    let mut workspace = match opened {
        Ok(workspace) => workspace,
        Err(error) => {
            ran.fail(PathBuf::from("."), error.into());
            return None;
        }
    };
    let typed = roots.paths();
    let typed: Vec<PathBuf> = typed.iter().map(|path| common.below(path)).collect();
    let dirs = if roots.recursive {
        let units = match roots.terragrunt {
            true => UnitRoots::All,
            false => UnitRoots::Named,
        };
        let how = SearchSettings { jobs, units };
        let searched = workspace.search(&typed, how, &mut ran.texts);
        for (dir, error) in searched.errors {
            ran.fail(dir, error.into());
        }
        ran.not_locked = Some(searched.not_locked);
        ran.submodules = searched.submodules;
        searched.roots
    } else {
        workspace.distinct(&typed)
    };
    let opening = Opening {
        common,
        files,
        workspace,
        reported: BTreeSet::new(),
    };
    Some((opening, dirs))
}

impl RootResults {
    /// Makes the result of a command out of those of its roots.
    pub(in crate::cli) fn into_result(self, command: &'static str) -> CommandResult {
        let not_locked = self.not_locked.map(|dirs| {
            let shown = dirs.iter().map(|dir| dir.display().to_string());
            shown.collect()
        });
        let mut result = CommandResult::of_roots(command, self.results, self.texts);
        result.not_locked = not_locked;
        result.remarks.extend(not_checked_out(&self.submodules));
        result
    }
}

/// Names the git submodules in which no root could be found.
fn not_checked_out(submodules: &[PathBuf]) -> Option<Sentence> {
    let names = submodules.iter().map(|dir| dir.display().to_string());
    let (what, are) = match submodules.len() {
        0 => return None,
        1 => ("git submodule", "is"),
        _ => ("git submodules", "are"),
    };
    Some(Sentence::note(format!(
        "the {what} {} {are} not checked out, so roots in there are not found; run `git submodule \
         update --init`",
        some_of(names).join(", ")
    )))
}

impl RootResults {
    fn fail(&mut self, dir: PathBuf, failure: Failure) {
        let mut output = RootResult::new(dir.display().to_string());
        output.fail(failure);
        self.results.push(output);
    }
}

/// Attempts something so many times as long as the lock file changes under it.
fn with_restarts(
    dir: &Path,
    times: usize,
    attempt: &mut dyn FnMut(&mut RootResult) -> Result<Replaced, Failure>,
) -> RootResult {
    for _ in 0..times {
        let mut output = RootResult::new(dir.display().to_string());
        match attempt(&mut output) {
            Ok(Replaced::Done) => return output,
            Ok(Replaced::Changed) => {}
            Err(failure) => {
                output.fail(failure);
                return output;
            }
        }
    }
    let mut output = RootResult::new(dir.display().to_string());
    let path = workspace::lock_path(dir);
    output.fail(WorkspaceError::KeepsChanging { path }.into());
    output
}
