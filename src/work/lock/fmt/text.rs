//! The text of `lockctl fmt`: one path a line.

use std::path::Path;

use crate::diag::counted;
use crate::lockfile;
use crate::report::json::RootStatus;
use crate::report::shared::SharedFact;
use crate::report::{Column, RootNames, RootResult, Row, Sentence, Table, TextBlock};
use crate::run::root;

/// Names the lock files that were, or would be, rewritten.
pub(super) fn of_all(roots: &[RootResult]) -> Vec<TextBlock> {
    let rows = roots
        .iter()
        .filter(|root| root.changed == Some(true) && root.status != RootStatus::Failed)
        .map(|root| {
            let path = root::shown(Path::new(&root.path)).join(lockfile::FILE_NAME);
            Row::new(&root.path, [path.display().to_string().into()])
        });
    let table = Table::new(&[Column::Key("LOCK FILE")], rows);
    vec![TextBlock::Table(
        table.without_head().naming(RootNames::Hidden),
    )]
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
