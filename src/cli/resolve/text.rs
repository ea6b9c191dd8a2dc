//! The text of `lockctl resolve`: one line for each lock file with conflicts.

use crate::report::reading::{self};
use crate::report::{RootResult, TextBlock};

/// Says how the merge of a root ended.
pub(super) fn of_root(root: &RootResult) -> Vec<TextBlock> {
    root.verdict
        .clone()
        .map(reading::verdict)
        .into_iter()
        .collect()
}
