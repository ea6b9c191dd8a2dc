//! How `lockctl resolve` reads: one line for each lock file with conflicts.

use crate::cli::args::Common;
use crate::cli::{Command, Look, Stderr, World};
use crate::report::reading::{self, Heading, RootsText, Total};
use crate::report::{Block, CommandResult};

use super::args::Resolve;

impl Command for Resolve {
    fn run(&self, common: &Common, world: World<'_>, _: &mut Stderr<'_>) -> CommandResult {
        super::run(common, self, world)
    }

    fn text(&self, result: &CommandResult, look: Look) -> Vec<Block> {
        let text = RootsText {
            root: &|root| {
                root.verdict
                    .clone()
                    .map(reading::verdict)
                    .into_iter()
                    .collect()
            },
            heading: Heading::Own,
            total: Total::Note,
        };
        reading::roots(result, text, look.verbose)
    }
}
