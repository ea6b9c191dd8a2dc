//! `lockctl sbom`: bills of materials.

use std::rc::Rc;
use std::time::SystemTime;

use clap::Args;

use crate::report::{CommandResult, Failure};
use crate::run::command::Command;
use crate::run::formats::{BillFormat, Format};
use crate::run::options::{RootArgs, examples};
use crate::run::paths;
use crate::run::session::Session;
use crate::sbom::{Bill, cyclonedx, origin, run, snapshot, spdx};

/// Print a bill of materials of locked providers
///
/// Reads lock files and facts that earlier runs kept; makes no request, and opens no package. See
/// `lockctl explain sbom`.
#[derive(Clone, Debug, Args)]
#[command(before_help = examples(&[
    ("lockctl sbom -r > bom.json", "CycloneDX, of all lock files below"),
    ("lockctl sbom --format spdx", "SPDX, of the root in this directory"),
    ("lockctl sbom -r --format github", "a snapshot for the dependency graph of GitHub"),
]))]
pub(crate) struct SbomArgs {
    #[command(flatten)]
    roots: RootArgs,
}

impl Command for SbomArgs {
    fn run(&self, session: &Rc<Session<'_>>) -> CommandResult {
        // Checked before any lock file is read, because an invalid time stops the command.
        let created = match origin::stated_time(session.world.env) {
            Ok(created) => created,
            Err(failure) => return CommandResult::failed("sbom", [failure]),
        };
        let naming = paths::from_the_top(session.world);
        let (bill, mut result) = run::bill(session, &self.roots, &naming);
        // If no lock file could be read, an empty bill would look like that of a project without providers.
        if bill.roots.is_empty() && !bill.left_out.is_empty() {
            return result;
        }
        match self.document(session, &bill, created) {
            Ok(document) => {
                result.document = Some(document);
                result
            }
            Err(failure) => CommandResult::failed("sbom", [failure]),
        }
    }
}

impl SbomArgs {
    fn document(
        &self,
        session: &Session<'_>,
        bill: &Bill,
        created: Option<SystemTime>,
    ) -> Result<String, Failure> {
        Ok(match session.options.format {
            Format::Bill(BillFormat::Spdx) => spdx::document(bill, created),
            Format::Bill(BillFormat::Snapshot) => {
                let dirs = self.roots.dirs(session.options);
                let origin = origin::snapshot(&dirs[0], created, session.world)?;
                snapshot::document(bill, &origin)
            }
            _ => cyclonedx::document(bill, created),
        })
    }
}
