//! Evidence of git about the roots of a repository (rules 1.5).

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::world::{FileKind, Files};

use super::locate::{LOCK_FILE, ProjectPlace};

/// The evidence of git about roots (rules 1.5). Without it a pull request hides a root: by a line of a `.gitignore`, by
/// a link in the place of its directory, or by deleting its lock file.
#[derive(Clone, Copy)]
pub struct GitEvidence<'a> {
    /// Lists the directories of all lock files that git tracks in the repository of a directory.
    pub tracked: &'a (dyn Fn(&Path) -> Vec<PathBuf> + Sync),
    /// Directories whose lock file changed, or was deleted, since the revision that the run compares with.
    pub changed: &'a BTreeSet<PathBuf>,
    /// The files of a revision that was reviewed.
    pub reviewed: Option<&'a dyn Files>,
}

impl GitEvidence<'_> {
    /// Evidence that states nothing.
    pub const NONE: GitEvidence<'static> = GitEvidence {
        tracked: &|_| Vec::new(),
        changed: &BTreeSet::new(),
        reviewed: None,
    };

    /// Returns true if the reviewed revision has a directory of this name in a directory, rather than a link.
    pub(super) fn had_directory(&self, dir: &ProjectPlace, name: &OsStr) -> bool {
        let entries = self.reviewed.map(|files| files.list(dir.shown()));
        entries.is_some_and(|entries| {
            entries.is_ok_and(|entries| {
                entries
                    .iter()
                    .any(|entry| entry.name == name && entry.kind == FileKind::Directory)
            })
        })
    }

    /// Returns true if a directory held a lock file before.
    pub(super) fn had_lock(&self, dir: &ProjectPlace) -> bool {
        self.changed.contains(dir.absolute())
            || self
                .reviewed
                .is_some_and(|files| files.kind(&dir.file(LOCK_FILE)).is_ok())
    }
}
