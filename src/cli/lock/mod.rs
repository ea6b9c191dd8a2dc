//! `lockctl lock`: create or complete the lock file.

mod args;
mod dropped;
mod evidence;
mod in_use;
mod moves;
mod provenance;
mod result;
mod run;
mod text;

use std::path::PathBuf;

use crate::cli::args::{Common, Configuration};
use crate::cli::{Command, Look, MarkdownText, Stderr, World};
use crate::report::reading::Total;
use crate::report::{CommandResult, TextBlock};
pub(in crate::cli) use args::{LockArgs, LockOptions};
pub(in crate::cli) use moves::{Moves, NamedProvider};
pub(in crate::cli) use run::{LockRequest, run};
pub(in crate::cli) use text::{Tense, of_all as text};

impl Command for LockArgs {
    fn run(&self, common: &Common, world: World<'_>, stderr: &mut Stderr<'_>) -> CommandResult {
        let job = LockRequest {
            command: "lock",
            roots: &self.roots,
            options: &self.options,
            moves: None,
            converts: None,
        };
        run(common, &job, world, stderr)
    }

    fn configuration(&self) -> Option<&Configuration> {
        Some(&self.options.configuration)
    }

    fn packages(&self) -> Vec<PathBuf> {
        self.options.packages()
    }

    fn text(&self, result: &CommandResult, look: Look) -> Vec<TextBlock> {
        text(result, Tense::of(&self.options), look)
    }

    fn total(&self) -> Total {
        Total::Result
    }

    fn markdown(&self) -> MarkdownText {
        MarkdownText::Blocks
    }
}
