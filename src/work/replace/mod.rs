//! `lockctl replace`: a provider that moved to another address, followed in all files.

mod job;
mod module;

use std::rc::Rc;

use clap::Args;
use job::{ReplaceJob, ReplacedRoots};

use crate::driver::{self, RunInputs};
use crate::lock::{self, LockCommand, LockOptions, LockRequest, Moves};
use crate::report::{CLEAN, CommandResult, FINDINGS, Sentence};
use crate::run::options::{Options, RootArgs, examples, job_count};
use crate::run::session::Session;
use crate::run::typed_addr::TypedAddr;
use crate::run::user::modules::{AutoModules, UserModules};
use crate::workspace::Reading;

/// Follow a provider that moved to another address
///
/// Each `source` in the modules of this repository, each lock entry and each setting of the project file names the
/// new address. The locked version stays if it is offered there, and its hashes are proven there. All files are
/// written together or not at all. The commands that change the states are printed, to be run after `init`; those for
/// an address of Terraform 0.12 before it.
#[derive(Clone, Debug, Args)]
#[command(before_help = examples(&[
    ("lockctl replace terraform-providers/azuread hashicorp/azuread -r", "in all roots below"),
    ("lockctl replace -/aws hashicorp/aws -r", "an address of Terraform 0.12"),
    ("lockctl replace acme/tool registry.example.com/acme/tool --dry-run", "show what would change"),
]))]
pub(crate) struct ReplaceArgs {
    /// The provider as files name it now, as in terraform-providers/azuread
    #[arg(value_name = "OLD", allow_hyphen_values = true)]
    old: TypedAddr,
    /// The provider that takes its place, as in hashicorp/azuread
    #[arg(value_name = "NEW")]
    new: TypedAddr,
    #[command(flatten)]
    roots: RootArgs,
    #[command(flatten)]
    options: LockOptions,
}

impl LockCommand for ReplaceArgs {
    fn options(&self) -> &LockOptions {
        &self.options
    }

    fn lock(&self, session: &Rc<Session<'_>>) -> CommandResult {
        let modules = UserModules::new(session, &self.options.configuration, AutoModules::Fetched);
        let mut job = ReplaceJob::new(session, &self.options, &self.old, &self.new);
        let inputs = RunInputs {
            reading: Some(Reading {
                keeps_legacy: is_legacy(&self.old),
                ..modules.reading()
            }),
            jobs: job_count(self.options.jobs),
            ..RunInputs::of_locks(session, &self.roots)
        };
        let planned = driver::over_roots(&mut job, inputs);
        let ReplacedRoots {
            mut edits,
            state_commands,
            remarks,
            ..
        } = job.replaced;
        let planned = planned.into_result("replace");
        // Only planned so far: a root that cannot be changed keeps all others from being changed.
        if planned.exit != CLEAN {
            return planned;
        }
        edits.replaces_legacy = is_legacy(&self.old);
        let moves = Moves::kept(std::slice::from_ref(&self.new));
        let request = LockRequest {
            moves: Some(&moves),
            ..LockRequest::new("replace", &self.roots, &self.options)
        };
        let mut result = lock::edit::write_with(session, request, &edits);
        // With --check a change that would be made counts as a finding, and its commands are shown as well.
        let is_done = result.exit == CLEAN || self.options.check && result.exit == FINDINGS;
        if is_done {
            let edits = result.edits.get_or_insert_default();
            edits.state_commands = state_commands;
            edits.are_states_first = is_legacy(&self.old);
            result
                .remarks
                .extend(remarks.into_iter().map(Sentence::note));
        }
        result
    }

    fn check_arguments(&self, options: &Options) -> Result<(), String> {
        if self.old.as_str() == self.new.as_str() {
            return Err("OLD and NEW are the same provider".to_owned());
        }
        // A hash of the new address must be proven: none of the old one says anything about it.
        options.check_offline("replace", self.options.source.fs_mirror.is_none())
    }
}

/// Returns true if an address is one of Terraform 0.12, as `-/aws`.
fn is_legacy(addr: &TypedAddr) -> bool {
    addr.as_str().rsplit('/').nth(1) == Some("-")
}
