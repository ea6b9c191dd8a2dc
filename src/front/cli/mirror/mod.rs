//! `lockctl mirror`: the packages of lock files in one directory.

mod text;

use std::rc::Rc;

use crate::cli::{Command, MarkdownText};
use crate::mirroring::{self, MirrorArgs};
use crate::report::reading::Total;
use crate::report::{CommandResult, Look, TextBlock};
use crate::run::options::Options;
use crate::run::session::Session;

impl Command for MirrorArgs {
    fn run(&self, session: &Rc<Session<'_>>) -> CommandResult {
        mirroring::mirror(session, self)
    }

    fn check(&self, _: &Options) -> Result<(), String> {
        self.check_unpacked()
    }

    fn text(&self, result: &CommandResult, look: Look) -> Vec<TextBlock> {
        text::of_all(result, self.extent(), look)
    }

    fn total(&self) -> Total {
        Total::Result
    }

    fn markdown(&self) -> MarkdownText {
        MarkdownText::Blocks
    }
}
