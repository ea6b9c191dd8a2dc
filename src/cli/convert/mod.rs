//! `lockctl convert`: rewrite the lock file for the other program, and complete it as `lock` does.

mod args;
mod outcome;
mod text;

use std::path::PathBuf;

use crate::cli::args::{Common, Configuration};
use crate::cli::lock::{self, LockRequest, Tense};
use crate::cli::{Command, Look, MarkdownText, Stderr, World};
use crate::flavor::FlavorChoice;
use crate::report::reading::Total;
use crate::report::{CommandResult, TextBlock};
pub(in crate::cli) use args::ConvertArgs;
pub(in crate::cli) use outcome::{Target, done, missing, report, start, unfinished};
pub(in crate::cli) use text::lines;

impl Command for ConvertArgs {
    fn run(&self, common: &Common, world: World<'_>, stderr: &mut Stderr<'_>) -> CommandResult {
        // All that is read is read as the other program does.
        let common = Common {
            flavor: FlavorChoice::Stated(self.to),
            ..common.clone()
        };
        let job = LockRequest {
            command: "convert",
            roots: &self.roots,
            options: &self.options,
            moves: None,
            converts: Some(match self.roots.recursive {
                true => Target::Found,
                false => Target::Named,
            }),
        };
        lock::run(&common, &job, world, stderr)
    }

    fn check(&self, common: &Common) -> Result<(), String> {
        self.contradiction(common).map_or(Ok(()), Err)
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
