//! `lockctl lock`: create or complete the lock file.

mod args;
mod dropped;
mod ending;
mod finish;
mod in_use;
mod job;
mod moves;
mod provenance;
mod remarks;
mod rows;
mod run;
mod text;

use std::path::PathBuf;

use crate::cli::args::{Common, Configuration};
use crate::cli::{Command, Look, MarkdownText, Stderr, World};
use crate::report::reading::Total;
use crate::report::{CommandResult, TextBlock};
pub(in crate::cli) use args::{LockArgs, LockOptions};
pub(in crate::cli) use job::{LockJob, LockOutcome, OpenRoot, StartingLock, is_sound};
pub(in crate::cli) use moves::{Moves, NamedProvider};
pub(in crate::cli) use provenance::added;
pub(in crate::cli) use run::{LockRequest, run, run_with};
use text::Tense;

/// A command that locks roots: `lock` itself, and those that move versions or convert entries first.
pub(in crate::cli) trait LockCommand {
    /// Returns how lock files are made.
    fn options(&self) -> &LockOptions;

    /// Does what was typed, as [`Command::run`] does.
    fn lock(&self, common: &Common, world: World<'_>, stderr: &mut Stderr<'_>) -> CommandResult;

    /// Checks what is typed; see [`Command::check`].
    ///
    /// # Errors
    /// With the sentence that the user reads.
    fn check_arguments(&self, _common: &Common) -> Result<(), String> {
        Ok(())
    }
}

impl<C: LockCommand> Command for C {
    fn run(&self, common: &Common, world: World<'_>, stderr: &mut Stderr<'_>) -> CommandResult {
        self.lock(common, world, stderr)
    }

    fn check(&self, common: &Common) -> Result<(), String> {
        self.check_arguments(common)
    }

    fn configuration(&self) -> Option<&Configuration> {
        Some(&self.options().configuration)
    }

    fn packages(&self) -> Vec<PathBuf> {
        self.options().packages()
    }

    fn text(&self, result: &CommandResult, look: Look) -> Vec<TextBlock> {
        text::of_all(result, Tense::of(self.options()), look)
    }

    fn total(&self) -> Total {
        Total::Result
    }

    fn markdown(&self) -> MarkdownText {
        MarkdownText::Blocks
    }
}

impl LockCommand for LockArgs {
    fn options(&self) -> &LockOptions {
        &self.options
    }

    fn lock(&self, common: &Common, world: World<'_>, stderr: &mut Stderr<'_>) -> CommandResult {
        let request = LockRequest {
            command: "lock",
            roots: &self.roots,
            options: &self.options,
            moves: None,
        };
        run(common, request, world, stderr)
    }
}
