//! The arguments of `lockctl convert`.

use clap::Args;

use crate::cli::args::{Common, RootArgs, examples};
use crate::cli::lock::LockOptions;
use crate::flavor::{FlavorChoice, StatedFlavor};

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
pub(in crate::front::cli) struct ConvertArgs {
    #[command(flatten)]
    pub(super) roots: RootArgs,
    /// The program to convert to: opentofu or terraform, or with a version, as in terraform@1.11
    #[arg(long, value_name = "PROGRAM", value_parser = target)]
    pub(super) to: StatedFlavor,
    #[command(flatten)]
    pub(in crate::front::cli) options: LockOptions,
}

fn target(text: &str) -> Result<StatedFlavor, String> {
    match text.parse() {
        Ok(FlavorChoice::Stated(stated)) => Ok(stated),
        _ => {
            Err("write opentofu or terraform, perhaps with a version, as in terraform@1.11".into())
        }
    }
}

impl ConvertArgs {
    /// Says which option contradicts what is typed.
    pub(in crate::front::cli) fn contradiction(&self, common: &Common) -> Option<String> {
        let is_stated = common.flavor != FlavorChoice::Auto;
        is_stated.then(|| {
            "the argument '--flavor' cannot be used with '--to', which says whose rules apply"
                .to_owned()
        })
    }
}
