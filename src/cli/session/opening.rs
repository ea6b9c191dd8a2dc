//! From directories to open roots.
//!
//! Roots are read side by side, which changes nothing and reports nothing; what was read is reported
//! root by root, in the order of the run.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::cli::args::Common;
use crate::cli::session::root::Root;
use crate::diag::{Diagnostic, Texts, has_errors};
use crate::flavor::FlavorChoice;
use crate::parallel;
use crate::project::ProjectFile;
use crate::report::json::Status;
use crate::report::{Failure, RootResult};
use crate::workspace::{Workspace, WorkspaceError};
use crate::world::Disk;

/// How many roots are read before something is done with them: enough to keep all cores busy, and few
/// enough to be kept in memory.
pub(super) const MAX_READ_AHEAD: usize = 64;

/// What it takes to open the roots of a run.
pub(super) struct Opening<'a> {
    pub(super) common: &'a Common,
    pub(super) files: &'a dyn Disk,
    pub(super) workspace: Workspace<'a>,
    /// The project files whose problems were reported.
    pub(super) reported: BTreeSet<PathBuf>,
}

/// A directory with the project file that governs it.
pub(super) struct FoundRoot {
    pub(super) dir: PathBuf,
    file: Result<Arc<ProjectFile>, WorkspaceError>,
}

/// What was read of a root.
pub(super) struct ReadRoot<L> {
    /// `None` if its project file is broken.
    root: Result<Option<LoadedRoot<L>>, WorkspaceError>,
}

/// A root, and what a command needs of it beside its lock file.
struct LoadedRoot<L> {
    root: Root,
    loaded: L,
    /// Whether there are `.tofu` files that are not read.
    ignores_tofu_files: bool,
}

/// Reads what a command needs of a root beside its lock file; it changes nothing.
pub(in crate::cli) type Load<'l, L> = &'l (dyn Fn(&Root, &mut Texts) -> L + Sync);

/// How the roots of a run are read.
pub(in crate::cli) struct Reading<'l, L> {
    /// How many are read at once.
    pub(in crate::cli) jobs: NonZeroUsize,
    /// What is read beside the lock file.
    pub(in crate::cli) load: Load<'l, L>,
}

impl Opening<'_> {
    /// Finds the project file of a root.
    ///
    /// The first root that has a file decides how its path is shown, so the order of calls matters.
    pub(super) fn find(&mut self, dir: PathBuf, texts: &mut Texts) -> FoundRoot {
        let file = self.workspace.project(&dir, texts);
        FoundRoot { dir, file }
    }

    /// Reads roots side by side; the texts of each continue those of the roots before it.
    pub(super) fn read_all<L: Send>(
        &self,
        reading: &Reading<'_, L>,
        found: &[FoundRoot],
        texts: &Texts,
    ) -> Vec<(ReadRoot<L>, Texts)> {
        let places: Vec<(usize, &FoundRoot)> = found.iter().enumerate().collect();
        parallel::map(reading.jobs, &places, |(place, found)| {
            let mut texts = texts.after(*place);
            (self.read(found, &mut texts, reading.load), texts)
        })
    }

    /// Reads one root.
    pub(super) fn read<L>(
        &self,
        found: &FoundRoot,
        texts: &mut Texts,
        load: Load<'_, L>,
    ) -> ReadRoot<L> {
        let root = match &found.file {
            Ok(file) => self.workspace.open(&found.dir, Arc::clone(file), texts),
            // Why there is none is reported with the root.
            Err(_) => Ok(None),
        };
        let loaded = |root| {
            let root = Root::new(root, self.common);
            LoadedRoot {
                loaded: load(&root, texts),
                ignores_tofu_files: root.ignores_tofu_files(self.files),
                root,
            }
        };
        ReadRoot {
            root: root.map(|root| root.map(loaded)),
        }
    }

    /// Reports what was found and read of a root, and returns it; `None` if its project file is broken.
    pub(super) fn open<L>(
        &mut self,
        found: FoundRoot,
        read: ReadRoot<L>,
        output: &mut RootResult,
    ) -> Result<Option<(Root, L)>, Failure> {
        let file = found.file?;
        let is_first = file
            .path
            .as_ref()
            .is_none_or(|path| self.reported.insert(path.clone()));
        project_faults(output, &file.diagnostics, is_first);
        let Some(read) = read.root? else {
            return Ok(None);
        };
        let root = read.root;
        output.flavor = Some(root.flavor);
        if let Some(remark) = flavor_remark(root.choice) {
            output.remark(remark);
        }
        if read.ignores_tofu_files {
            output.remark(
                "the lock file has Terraform's header, so the `.tofu` files beside it are not read; \
                 `--flavor opentofu` reads them",
            );
        }
        Ok(Some((root, read.loaded)))
    }

    /// Finds, reads and opens one root, after its lock file changed.
    pub(super) fn open_again<L>(
        &mut self,
        dir: &Path,
        texts: &mut Texts,
        load: Load<'_, L>,
        output: &mut RootResult,
    ) -> Result<Option<(Root, L)>, Failure> {
        let found = self.find(dir.to_owned(), texts);
        let read = self.read(&found, texts, load);
        self.open(found, read, output)
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
        result.status = Status::Failed;
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
