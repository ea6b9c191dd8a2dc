//! `lockctl diff`: what changed between lock files, and whether it is alarming.

use std::rc::Rc;

use crate::cli::Command;
use crate::diff::{self, DiffArgs};
use crate::report::{CommandResult, Look, TextBlock};
use crate::run::session::Session;

impl Command for DiffArgs {
    fn run(&self, session: &Rc<Session<'_>>) -> CommandResult {
        self.diff(session)
    }

    fn text(&self, result: &CommandResult, look: Look) -> Vec<TextBlock> {
        diff::text::blocks(result, look)
    }
}
