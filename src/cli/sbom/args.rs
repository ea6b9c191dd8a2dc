//! The arguments of `lockctl sbom`.

use clap::Args;

use crate::cli::args::{RootArgs, examples};

/// Print a bill of materials of what is locked
///
/// It is made of lock files and of facts that earlier runs kept; no request is made, and no package is read. See `lockctl
/// explain sbom`.
#[derive(Clone, Debug, Args)]
#[command(before_help = examples(&[
    ("lockctl sbom -r > bom.json", "CycloneDX, of all lock files below"),
    ("lockctl sbom --format spdx", "SPDX, of the root in this directory"),
    ("lockctl sbom -r --format github", "a snapshot for the dependency graph of GitHub"),
]))]
pub(in crate::cli) struct SbomArgs {
    #[command(flatten)]
    pub(in crate::cli) roots: RootArgs,
}
