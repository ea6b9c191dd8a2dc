//! `lockctl outdated`: what is locked against what is offered.

use std::path::PathBuf;
use std::rc::Rc;

use crate::cli::{Command, MarkdownText};
use crate::outdated::{self, OutdatedArgs};
use crate::report::reading::Total;
use crate::report::{CommandResult, Look, TextBlock};
use crate::run::options::Configuration;
use crate::run::session::Session;

impl Command for OutdatedArgs {
    fn run(&self, session: &Rc<Session<'_>>) -> CommandResult {
        self.outdated(session)
    }

    fn configuration(&self) -> Option<&Configuration> {
        Some(&self.configuration)
    }

    fn packages(&self) -> Vec<PathBuf> {
        self.source.fs_mirror.iter().cloned().collect()
    }

    fn text(&self, result: &CommandResult, look: Look) -> Vec<TextBlock> {
        outdated::text::of_all(result, look)
    }

    fn total(&self) -> Total {
        Total::Result
    }

    fn markdown(&self) -> MarkdownText {
        MarkdownText::Blocks
    }
}
