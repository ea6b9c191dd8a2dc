//! The text of `lockctl fmt`: one path a line.

use std::path::Path;

use crate::lockfile;
use crate::report::json::RootStatus;
use crate::report::{RootResult, TextBlock};
use crate::run::root;

/// Names the lock file if it was, or would be, rewritten.
pub(super) fn of_root(root: &RootResult) -> Vec<TextBlock> {
    if root.changed != Some(true) || root.status == RootStatus::Failed {
        return Vec::new();
    }
    let path = root::shown(Path::new(&root.path)).join(lockfile::FILE_NAME);
    vec![TextBlock::Lines(vec![path.display().to_string()])]
}
