//! How `lockctl fmt` reads: one path a line.

use std::path::Path;

use crate::cli::args::Common;
use crate::cli::session::root;
use crate::cli::{Command, Look, Stderr, World};
use crate::lockfile;
use crate::report::json::Status;
use crate::report::reading::{self, Heading, RootsText, Total};
use crate::report::{Block, CommandResult, RootResult};

use super::Fmt;

impl Command for Fmt {
    fn run(&self, common: &Common, world: World<'_>, _: &mut Stderr<'_>) -> CommandResult {
        super::run(common, self, world)
    }

    fn text(&self, result: &CommandResult, look: Look) -> Vec<Block> {
        let text = RootsText {
            root: &of_root,
            heading: Heading::Own,
            total: Total::Note,
        };
        reading::roots(result, text, look.verbose)
    }
}

/// Names the lock file if it was, or would be, rewritten.
fn of_root(root: &RootResult) -> Vec<Block> {
    if root.changed != Some(true) || root.status == Status::Failed {
        return Vec::new();
    }
    let path = root::shown(Path::new(&root.path)).join(lockfile::FILE_NAME);
    vec![Block::Lines(vec![path.display().to_string()])]
}
