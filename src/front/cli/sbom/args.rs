//! The arguments of `lockctl sbom`.

use clap::Args;

use crate::cli::args::{RootArgs, examples};

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
pub(in crate::front::cli) struct SbomArgs {
    #[command(flatten)]
    pub(in crate::front::cli) roots: RootArgs,
}
