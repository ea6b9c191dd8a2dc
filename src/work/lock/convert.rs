//! `lockctl convert`: rewrite the lock file for the other program, and complete it as `lock` does.

use std::rc::Rc;

use clap::Args;

use crate::flavor::{FlavorChoice, StatedFlavor};
use crate::lock::{self, LockCommand, LockOptions, LockRequest};
use crate::report::CommandResult;
use crate::run::options::{Options, RootArgs, examples};
use crate::run::session::Session;

/// Rewrite the lock file for the other program
///
/// Each entry of the one public registry becomes that of the other, in any namespace: with the same
/// version, and with the hashes of the package there. What cannot be converted is listed, and where a
/// version is missing there, nothing is written. See `lockctl explain convert`.
#[derive(Clone, Debug, Args)]
#[command(before_help = examples(&[
    ("lockctl convert --to opentofu", "for OpenTofu"),
    ("lockctl convert --to terraform -r --dry-run", "show what would change"),
]))]
pub(crate) struct ConvertArgs {
    #[command(flatten)]
    roots: RootArgs,
    /// The program to convert to: opentofu or terraform, or with a version, as in terraform@1.11
    #[arg(long, value_name = "PROGRAM", value_parser = target)]
    to: StatedFlavor,
    #[command(flatten)]
    pub(crate) options: LockOptions,
}

fn target(text: &str) -> Result<StatedFlavor, String> {
    match text.parse() {
        Ok(FlavorChoice::Stated(stated)) => Ok(stated),
        _ => {
            Err("write opentofu or terraform, perhaps with a version, as in terraform@1.11".into())
        }
    }
}

impl LockCommand for ConvertArgs {
    fn options(&self) -> &LockOptions {
        &self.options
    }

    fn lock(&self, session: &Rc<Session<'_>>) -> CommandResult {
        // Everything is read as the other program does.
        let options = Options {
            flavor: FlavorChoice::Stated(self.to),
            ..session.options.clone()
        };
        let session = session.with_options(&options);
        let request = LockRequest {
            converts: true,
            ..LockRequest::new("convert", &self.roots, &self.options)
        };
        lock::run(&session, request)
    }

    fn check_arguments(&self, options: &Options) -> Result<(), String> {
        if options.flavor == FlavorChoice::Auto {
            return Ok(());
        }
        Err(
            "the argument '--flavor' cannot be used with '--to', which says whose rules apply"
                .to_owned(),
        )
    }
}
