//! `lockctl verify`: will this lock file work?

use std::path::PathBuf;
use std::rc::Rc;

use crate::cli::Command;
use crate::report::reading::Total;
use crate::report::{CommandResult, Look, TextBlock};
use crate::run::options::{Configuration, Options};
use crate::run::session::Session;
use crate::verify::CheckGroup;
use crate::verifying::{self, VerifyArgs};

impl Command for VerifyArgs {
    fn run(&self, session: &Rc<Session<'_>>) -> CommandResult {
        self.verify(session)
    }

    fn check(&self, options: &Options) -> Result<(), String> {
        let asks = self
            .policy
            .as_ref()
            .is_some_and(|policy| policy.contains("://"));
        options.check_offline("--policy with a URL", asks)?;
        options.check_offline("--upstream", self.groups().wants(CheckGroup::Upstream))
    }

    fn configuration(&self) -> Option<&Configuration> {
        Some(&self.configuration)
    }

    fn packages(&self) -> Vec<PathBuf> {
        [&*self.fs_mirrors, &*self.packages].concat()
    }

    fn text(&self, result: &CommandResult, look: Look) -> Vec<TextBlock> {
        verifying::text::of_all(result, look)
    }

    fn total(&self) -> Total {
        Total::ResultWithCounts
    }
}
