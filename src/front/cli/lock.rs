//! `lockctl lock`: create or complete the lock file; and what commands that lock have in common.

use std::path::PathBuf;
use std::rc::Rc;

use crate::cli::{Command, MarkdownText};
use crate::lock::{self, LockArgs, LockOptions};
use crate::report::reading::Total;
use crate::report::{CommandResult, Look, TextBlock};
use crate::run::options::{Configuration, Options};
use crate::run::session::Session;

/// A command that locks roots: `lock` itself, and those that move versions or convert entries first.
pub(crate) trait LockCommand {
    /// Returns how lock files are made.
    fn options(&self) -> &LockOptions;

    /// Does what was typed, as [`Command::run`] does.
    fn lock(&self, session: &Rc<Session<'_>>) -> CommandResult;

    /// Checks what is typed; see [`Command::check`].
    ///
    /// # Errors
    /// With the sentence that the user reads.
    fn check_arguments(&self, _options: &Options) -> Result<(), String> {
        Ok(())
    }
}

impl<C: LockCommand> Command for C {
    fn run(&self, session: &Rc<Session<'_>>) -> CommandResult {
        self.lock(session)
    }

    fn check(&self, options: &Options) -> Result<(), String> {
        self.check_arguments(options)
    }

    fn configuration(&self) -> Option<&Configuration> {
        Some(&self.options().configuration)
    }

    fn packages(&self) -> Vec<PathBuf> {
        self.options().packages()
    }

    fn text(&self, result: &CommandResult, look: Look) -> Vec<TextBlock> {
        lock::text::blocks(result, self.options(), look)
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

    fn lock(&self, session: &Rc<Session<'_>>) -> CommandResult {
        self.lock(session)
    }
}
