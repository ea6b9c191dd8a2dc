//! What is typed for `lockctl hash`.

use std::path::PathBuf;

use clap::Args;

/// Print the hashes of packages: zip files or unpacked directories
#[derive(Clone, Debug, Args)]
pub(in crate::cli) struct Hash {
    /// Zip files or unpacked directories
    #[arg(required = true, value_name = "PATH")]
    pub(in crate::cli) paths: Vec<PathBuf>,
    /// Also print the digest of every file in a package
    #[arg(long)]
    pub(in crate::cli) files: bool,
}
