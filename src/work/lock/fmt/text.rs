//! The text of `lockctl fmt`: one path a line.

use std::path::Path;

use crate::lockfile;
use crate::report::json::RootStatus;
use crate::report::{Column, RootNames, RootResult, Row, Table, TextBlock};
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
