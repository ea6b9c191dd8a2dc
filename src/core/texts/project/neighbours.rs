//! The directories of a whole repository, for what its other roots have in common.

use std::ops::ControlFlow;
use std::path::Path;

use crate::world::{DirEntry, FileKind, Files};

use super::ignores::{self, Ignores};
use super::locate::{ProjectPlace, REPOSITORY, holds};
use super::roots::{MAX_DEPTH, is_skipped};

/// Maximum number of directories of a repository that are listed; the others do not count.
pub const MAX_NEIGHBOURS: usize = 10_000;

/// A visitor, which decides when enough was seen.
pub type Look<'l> = dyn FnMut(&ProjectPlace, &[DirEntry]) -> ControlFlow<()> + 'l;

/// Looks at a directory and at those below, as a search for roots does: what git ignores, links, other
/// repositories and what belongs to programs are left out, and so is what cannot be read.
///
/// `data_dir` is the directory of the program's own records, from a root on.
pub fn visit(files: &dyn Files, top: &ProjectPlace, data_dir: &Path, look: &mut Look<'_>) {
    let mut walk = NeighbourWalk {
        files,
        data_dir,
        // A `.gitignore` that cannot be read is reported by the search for roots, not here.
        ignores: Ignores::above(files, top).unwrap_or_default(),
        left: MAX_NEIGHBOURS,
    };
    // A break means only that `look` has seen enough.
    let _ = walk.directory(top, 0, look);
}

struct NeighbourWalk<'a> {
    files: &'a dyn Files,
    data_dir: &'a Path,
    ignores: Ignores,
    /// Number of directories that may still be listed.
    left: usize,
}

impl NeighbourWalk<'_> {
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
        // A repository inside this one is a project of its own.
        if depth > 0 && holds(&entries, REPOSITORY) {
            return ControlFlow::Continue(());
        }
        let entered = holds(&entries, ignores::FILE_NAME)
            && self.ignores.enter(self.files, place).unwrap_or(false);
        let mut flow = look(place, &entries);
        for entry in entries {
            if flow.is_break() || depth == MAX_DEPTH {
                break;
            }
            if entry.kind != FileKind::Directory {
                continue;
            }
            let child = place.child(&entry.name);
            if !is_skipped(&child, self.data_dir) && !self.ignores.ignore(child.absolute()) {
                flow = self.directory(&child, depth + 1, look);
            }
        }
        if entered {
            self.ignores.leave();
        }
        flow
    }
}
