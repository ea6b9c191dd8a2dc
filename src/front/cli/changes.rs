//! `lockctl changes`: what another version of a provider brings.

use std::rc::Rc;

use crate::changes::{self, ChangesArgs};
use crate::cli::{Command, MarkdownText};
use crate::report::{CommandResult, Look, ResultSubject, TextBlock};
use crate::run::session::Session;

impl Command for ChangesArgs {
    fn run(&self, session: &Rc<Session<'_>>) -> CommandResult {
        self.changes(session)
    }

    fn text(&self, result: &CommandResult, look: Look) -> Vec<TextBlock> {
        match &result.subject {
            ResultSubject::Releases(releases) => changes::text::blocks(releases, look),
            _ => Vec::new(),
        }
    }

    fn markdown(&self) -> MarkdownText {
        MarkdownText::Blocks
    }
}
