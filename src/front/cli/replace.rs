//! `lockctl replace`: a provider that moved to another address, followed in all files.

use std::rc::Rc;

use crate::cli::lock::LockCommand;
use crate::lock::LockOptions;
use crate::replace::ReplaceArgs;
use crate::report::CommandResult;
use crate::run::options::Options;
use crate::run::session::Session;

impl LockCommand for ReplaceArgs {
    fn options(&self) -> &LockOptions {
        &self.options
    }

    fn lock(&self, session: &Rc<Session<'_>>) -> CommandResult {
        self.replace(session)
    }

    fn check_arguments(&self, options: &Options) -> Result<(), String> {
        self.check(options)
    }
}
