//! The directories of a whole repository, for what its other roots have in common.

use std::ops::ControlFlow;
use std::path::Path;

use crate::world::{DirEntry, FileKind, Files};

use super::ignores::{self, Ignores};
use super::locate::{ProjectPlace, REPOSITORY};
use super::roots::{MAX_DEPTH, SKIPPED, holds};

/// How many directories of a repository are listed at most; what is in the others does not count.
pub const MAX_NEIGHBOURS: usize = 10_000;

/// What is done with each directory.
type Look<'l> = dyn FnMut(&ProjectPlace, &[DirEntry]) -> ControlFlow<()> + 'l;

/// Looks at a directory and at those below, as a search for roots does: what git ignores, links, other
/// repositories and what belongs to programs are left out, and so is what cannot be read.
///
/// `data_dir` is the directory of the program's own records, from a root on.
pub fn visit(
    files: &dyn Files,
    top: &ProjectPlace,
    data_dir: &Path,
    look: &mut dyn FnMut(&ProjectPlace, &[DirEntry]) -> ControlFlow<()>,
) {
    let mut visit = Visit {
        files,
        data_dir,
        ignores: Ignores::above(files, top).unwrap_or_default(),
        left: MAX_NEIGHBOURS,
    };
    // The caller decides when enough was seen.
    let _ = visit.directory(top, 0, look);
}

struct Visit<'a> {
    files: &'a dyn Files,
    data_dir: &'a Path,
    ignores: Ignores,
    /// How many more directories may be listed.
    left: usize,
}

impl Visit<'_> {
    fn directory(
        &mut self,
        place: &ProjectPlace,
        depth: usize,
        look: &mut Look<'_>,
    ) -> ControlFlow<()> {
        let Some(left) = self.left.checked_sub(1) else {
            return ControlFlow::Break(());
        };
        self.left = left;
        let Ok(entries) = self.files.list(place.shown()) else {
            return ControlFlow::Continue(());
        };
        if depth > 0 && holds(&entries, REPOSITORY) {
            return ControlFlow::Continue(());
        }
        let entered = holds(&entries, ignores::FILE_NAME)
            && self.ignores.enter(self.files, place).unwrap_or(false);
        let mut flow = look(place, &entries);
        let directories = entries.iter().filter(|one| one.kind == FileKind::Directory);
        for entry in directories {
            if flow.is_break() || depth == MAX_DEPTH {
                break;
            }
            let child = place.child(&entry.name);
            let is_skipped = SKIPPED.iter().any(|name| entry.name == *name)
                || child.absolute().ends_with(self.data_dir);
            if !is_skipped && !self.ignores.ignore(child.absolute()) {
                flow = self.directory(&child, depth + 1, look);
            }
        }
        if entered {
            self.ignores.leave();
        }
        flow
    }
}
