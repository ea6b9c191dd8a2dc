//! `lockctl sbom`: bills of materials.

mod args;
mod origin;

use crate::cli::args::Common;
use crate::cli::formats::{BillFormat, Format};
use crate::cli::session::paths;
use crate::cli::{Command, Stderr, World};
use crate::report::{CommandResult, Failure};
use crate::run::sbom;
use crate::sbom::{Bill, Circumstances, cyclonedx, snapshot, spdx};
pub(in crate::front::cli) use args::SbomArgs;

/// The version of this program, as documents state it.
const VERSION: &str = env!("CARGO_PKG_VERSION");

impl Command for SbomArgs {
    fn run(&self, common: &Common, world: World<'_>, _: &mut Stderr<'_>) -> CommandResult {
        // Checked before any lock file is read, because an invalid time stops the command.
        let created = match origin::stated_time(world.env) {
            Ok(created) => created,
            Err(failure) => return CommandResult::failed("sbom", [failure]),
        };
        let options = common.options();
        let choice = self.roots.choice();
        let naming = paths::from_the_top(world);
        let (bill, mut result) = sbom::bill(&options, &choice, world, &naming);
        // If no lock file could be read, an empty bill would look like that of a project without providers.
        if bill.roots.is_empty() && !bill.left_out.is_empty() {
            return result;
        }
        let circumstances = Circumstances {
            tool_version: VERSION,
            created,
        };
        match self.document(common, world, &bill, circumstances) {
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
        common: &Common,
        world: World<'_>,
        bill: &Bill,
        circumstances: Circumstances,
    ) -> Result<String, Failure> {
        Ok(match common.format {
            Format::Bill(BillFormat::Spdx) => spdx::document(bill, circumstances),
            Format::Bill(BillFormat::Snapshot) => {
                let dirs = self.roots.choice().dirs_below(&common.options());
                let origin = origin::snapshot(&dirs[0], circumstances.created, world)?;
                snapshot::document(bill, &origin, circumstances.tool_version)
            }
            _ => cyclonedx::document(bill, circumstances),
        })
    }
}
