//! From directories to open roots.
//!
//! Roots are read side by side, which changes nothing and reports nothing; what was read is reported
//! root by root, in the order of the run.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::diag::{Diagnostic, Texts, has_errors};
use crate::flavor::FlavorChoice;
use crate::parallel;
use crate::project::ProjectFile;
use crate::report::json::RootStatus;
use crate::report::{Failure, RootResult};
use crate::run::World;
use crate::run::job::Job;
use crate::run::options::RunOptions;
use crate::run::root::Root;
use crate::workspace::{StatedProject, Workspace, WorkspaceError};
use crate::world::Disk;

/// Maximum number of roots that are read before the first of them is opened: enough to keep all cores busy,
/// and few enough to be kept in memory.
pub(crate) const MAX_READ_AHEAD: usize = 64;

/// Opens the roots of a run.
pub(crate) struct RootReader<'a> {
    pub(crate) workspace: Workspace<'a>,
    options: &'a RunOptions,
    files: &'a dyn Disk,
    /// The project files whose problems were reported.
    reported: BTreeSet<PathBuf>,
}

/// A directory with the project file that governs it.
pub(crate) struct FoundRoot {
    pub(crate) dir: PathBuf,
    file: Result<Arc<ProjectFile>, WorkspaceError>,
}

/// A root that was read; `None` if its project file is broken.
pub(crate) struct ReadRoot<L>(Result<Option<LoadedRoot<L>>, WorkspaceError>);

/// A root, and what a job needs of it beside its lock file.
struct LoadedRoot<L> {
    root: Root,
    loaded: L,
    /// The directory holds `.tofu` files that are not read.
    ignores_tofu_files: bool,
}

impl<'a> RootReader<'a> {
    /// Prepares to open roots.
    ///
    /// # Errors
    /// If the working directory could not be determined.
    pub(crate) fn new(
        options: &'a RunOptions,
        world: World<'a>,
        texts: &mut Texts,
    ) -> Result<Self, WorkspaceError> {
        let project = options.project_file.as_ref().map(|path| StatedProject {
            path: options.below(path),
            base: options.below(Path::new(".")),
        });
        let files = world.disk;
        Ok(Self {
            workspace: Workspace::new(files, world.env, options.flavor, project.as_ref(), texts)?,
            options,
            files,
            reported: BTreeSet::new(),
        })
    }

    /// Finds the project file of a root.
    ///
    /// The first root that has a file decides how its path is shown, so the order of calls matters.
    pub(crate) fn find(&mut self, dir: PathBuf, texts: &mut Texts) -> FoundRoot {
        let file = self.workspace.project(&dir, texts);
        FoundRoot { dir, file }
    }

    /// Reads roots side by side; the texts of each continue those of the roots before it.
    pub(crate) fn read_all<J: Job>(
        &self,
        job: &J,
        found: &[FoundRoot],
        texts: &Texts,
    ) -> Vec<(ReadRoot<J::Loaded>, Texts)> {
        let numbered: Vec<(usize, &FoundRoot)> = found.iter().enumerate().collect();
        parallel::map(job.threads(), &numbered, |(number, found)| {
            // The ids of texts depend on the place of the root, not on which thread finishes first.
            let mut texts = texts.after(*number);
            (self.read(job, found, &mut texts), texts)
        })
    }

    /// Reads one root with what the job needs of it.
    pub(crate) fn read<J: Job>(
        &self,
        job: &J,
        found: &FoundRoot,
        texts: &mut Texts,
    ) -> ReadRoot<J::Loaded> {
        let Ok(file) = &found.file else {
            // The error is reported with the root.
            return ReadRoot(Ok(None));
        };
        let root = self.workspace.open(&found.dir, Arc::clone(file), texts);
        ReadRoot(root.map(|root| {
            root.map(|root| {
                let root = Root::new(root, self.options);
                LoadedRoot {
                    // Files are read here, beside those of other roots: most of the time of a run over many roots goes there.
                    loaded: job.load(&root, texts),
                    ignores_tofu_files: root.ignores_tofu_files(self.files),
                    root,
                }
            })
        }))
    }

    /// Reports what was found and read of a root, and returns it; `None` if its project file is broken.
    pub(crate) fn report<L>(
        &mut self,
        found: FoundRoot,
        read: ReadRoot<L>,
        result: &mut RootResult,
    ) -> Result<Option<(Root, L)>, Failure> {
        let file = found.file?;
        // A repository often has one project file for hundreds of roots.
        let is_first = file
            .path
            .as_ref()
            .is_none_or(|path| self.reported.insert(path.clone()));
        project_faults(result, &file.diagnostics, is_first);
        let Some(read) = read.0? else {
            return Ok(None);
        };
        let root = read.root;
        result.flavor = Some(root.flavor);
        if let Some(remark) = flavor_remark(root.choice) {
            result.remark(remark);
        }
        if read.ignores_tofu_files {
            result.remark(
                "the lock file has Terraform's header, so the `.tofu` files beside it are not read; \
                 `--flavor opentofu` reads them",
            );
        }
        Ok(Some((root, read.loaded)))
    }
}

/// Adds what is wrong with a project file; people see it once, whatever the number of its roots.
fn project_faults(result: &mut RootResult, faults: &[Diagnostic], is_shown: bool) {
    if is_shown {
        result.faults(faults);
        return;
    }
    result.aside(faults);
    if has_errors(faults) {
        result.status = RootStatus::Failed;
    }
}

/// Returns a remark on a stated version that no rule set was recorded for.
fn flavor_remark(choice: FlavorChoice) -> Option<String> {
    match choice {
        FlavorChoice::Stated(stated) if stated.older_than_known => Some(format!(
            "the oldest known rules, {}, are used for the stated version",
            stated.flavor
        )),
        _ => None,
    }
}
