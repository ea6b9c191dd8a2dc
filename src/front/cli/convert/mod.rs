//! `lockctl convert`: rewrite the lock file for the other program, and complete it as `lock` does.

mod args;
mod failures;
mod job;
mod report;
mod text;

use crate::cli::args::Common;
use crate::cli::lock::{self, LockCommand, LockOptions, LockRequest};
use crate::cli::{Stderr, World};
use crate::flavor::{Flavor, FlavorChoice, Program};
use crate::report::CommandResult;
use crate::run;
pub(in crate::front::cli) use args::ConvertArgs;
use job::ConvertJob;
pub(in crate::front::cli) use text::lines;

impl LockCommand for ConvertArgs {
    fn options(&self) -> &LockOptions {
        &self.options
    }

    fn lock(&self, common: &Common, world: World<'_>, stderr: &mut Stderr<'_>) -> CommandResult {
        // Everything is read as the other program does.
        let common = Common {
            flavor: FlavorChoice::Stated(self.to),
            ..common.clone()
        };
        let request = LockRequest {
            command: "convert",
            roots: &self.roots,
            changed: None,
            options: &self.options,
            moves: None,
        };
        lock::run_with(&common, request, world, stderr, &|lock, inputs| {
            let mut job = ConvertJob {
                lock,
                files: world.disk,
                needs_lock: !inputs.choice.recursive,
            };
            run::over_roots(&mut job, inputs)
        })
    }

    fn check_arguments(&self, common: &Common) -> Result<(), String> {
        self.contradiction(common).map_or(Ok(()), Err)
    }
}

/// Returns the newest rules of the program that is converted from.
fn other_flavor(target: Flavor) -> Flavor {
    Flavor::newest(match target.program() {
        Program::Terraform => Program::OpenTofu,
        Program::OpenTofu => Program::Terraform,
    })
}
