//! The text of `lockctl fmt`: one path a line.

use std::path::Path;

use crate::diag::counted;
use crate::lockfile;
use crate::report::json::RootStatus;
use crate::report::shared::SharedFact;
use crate::report::shared_table::MAX_ROWS;
use crate::report::{RootResult, Sentence, TextBlock};
use crate::run::root;

/// Names the lock file if it was, or would be, rewritten.
pub(super) fn of_root(root: &RootResult) -> Vec<TextBlock> {
    if root.changed != Some(true) || root.status == RootStatus::Failed {
        return Vec::new();
    }
    let path = root::shown(Path::new(&root.path)).join(lockfile::FILE_NAME);
    vec![TextBlock::Lines(vec![path.display().to_string()])]
}

/// Names the lock files of several roots that were, or would be, rewritten; of many the first ones.
pub(super) fn folded(roots: &[RootResult]) -> Vec<TextBlock> {
    let mut blocks: Vec<TextBlock> = roots.iter().flat_map(of_root).collect();
    let more = blocks.len().saturating_sub(MAX_ROWS);
    // "… and 1 more" would be no shorter than the last name.
    if more > 1 {
        blocks.truncate(MAX_ROWS);
        blocks.push(TextBlock::Lines(vec![format!(
            "… and {more} more (-v lists all)"
        )]));
    }
    blocks
}

/// Says how many comments the rewrite of lock files drops, each given with its path; nothing if there are none.
pub(super) fn dropped(files: &[(String, usize)], verbose: bool) -> Option<Sentence> {
    let comments = counted(files.iter().map(|(_, comments)| comments).sum(), "comment");
    let does = format!("a rewrite drops {comments}");
    let like_them = "as Terraform and OpenTofu do";
    Some(Sentence::note(match files {
        [] => return None,
        [(path, _)] => format!("{path}: {does}, {like_them}"),
        _ => {
            let paths = SharedFact {
                fact: (),
                roots: files.iter().map(|(path, _)| path.as_str()).collect(),
            };
            let count = counted(files.len(), "lock file");
            let names = paths.names(verbose);
            format!("{does} in {count}, {like_them}: {names}")
        }
    }))
}
