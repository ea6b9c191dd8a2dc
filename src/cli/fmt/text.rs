//! How `lockctl fmt` reads: one path a line.

use std::path::Path;

use crate::lockfile;
use crate::report::json::Status;
use crate::report::{Block, RootResult};
use crate::run::root;

/// Names the lock file if it was, or would be, rewritten.
pub(super) fn of_root(root: &RootResult) -> Vec<Block> {
    if root.changed != Some(true) || root.status == Status::Failed {
        return Vec::new();
    }
    let path = root::shown(Path::new(&root.path)).join(lockfile::FILE_NAME);
    vec![Block::Lines(vec![path.display().to_string()])]
}
