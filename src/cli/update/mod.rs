//! `lockctl update`: move versions, and complete the lock file as `lock` does.

mod args;

use std::path::PathBuf;

use crate::cli::args::{Common, Configuration};
use crate::cli::lock::{self, LockRequest, Tense};
use crate::cli::{Command, Look, MarkdownText, Stderr, World};
use crate::report::reading::Total;
use crate::report::{CommandResult, TextBlock};
pub(in crate::cli) use args::UpdateArgs;

impl Command for UpdateArgs {
    fn run(&self, common: &Common, world: World<'_>, stderr: &mut Stderr<'_>) -> CommandResult {
        let job = LockRequest {
            command: "update",
            roots: &self.roots(),
            options: &self.options,
            moves: Some(&self.moves()),
            converts: None,
        };
        lock::run(common, &job, world, stderr)
    }

    fn check(&self, _: &Common) -> Result<(), String> {
        self.contradiction().map_or(Ok(()), Err)
    }

    fn configuration(&self) -> Option<&Configuration> {
        Some(&self.options.configuration)
    }

    fn packages(&self) -> Vec<PathBuf> {
        self.options.packages()
    }

    fn text(&self, result: &CommandResult, look: Look) -> Vec<TextBlock> {
        lock::text(result, Tense::of(&self.options), look)
    }

    fn total(&self) -> Total {
        Total::Result
    }

    fn markdown(&self) -> MarkdownText {
        MarkdownText::Blocks
    }
}
