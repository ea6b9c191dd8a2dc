//! Lock files that git ignores.

use std::ffi::OsStr;

use crate::git::Repository;
use crate::lockfile::FILE_NAME;
use crate::project::{self, IgnoringLine, ProjectPlace};
use crate::run::World;
use crate::run::root::Root;

/// Returns the line of a `.gitignore` that makes git ignore the lock file of a root, existing or not.
pub(crate) fn ignoring_line(world: World<'_>, root: &Root) -> Option<IgnoringLine> {
    let current = world.env.current_dir().ok()?;
    let place = ProjectPlace::new(&root.dir, &current);
    let line = project::ignoring_line(world.disk, &place, OsStr::new(FILE_NAME))?;
    // git starts only if a line matches: it knows if the file is tracked all the same.
    Repository::ignores(world.run, &root.dir, FILE_NAME)
        .ok()?
        .then_some(line)
}
