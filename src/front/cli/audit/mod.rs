//! `lockctl audit`: known vulnerabilities of locked providers.

mod text;

use std::rc::Rc;

use crate::audit::run::{self, AuditArgs};
use crate::cli::Command;
use crate::report::reading::Total;
use crate::report::{CommandResult, Look, TextBlock};
use crate::run::options::Configuration;
use crate::run::session::Session;

impl Command for AuditArgs {
    fn run(&self, session: &Rc<Session<'_>>) -> CommandResult {
        run::audit(session, self)
    }

    fn configuration(&self) -> Option<&Configuration> {
        Some(&self.configuration)
    }

    fn text(&self, result: &CommandResult, look: Look) -> Vec<TextBlock> {
        text::of_all(result, look)
    }

    fn total(&self) -> Total {
        Total::Result
    }
}
