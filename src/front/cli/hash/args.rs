//! The arguments of `lockctl hash`.

use std::path::PathBuf;

use clap::Args;

use crate::cli::args::examples;

/// Print the hashes of packages: zip files or unpacked directories
#[derive(Clone, Debug, Args)]
#[command(before_help = examples(&[
    ("lockctl hash terraform-provider-null_3.2.3_linux_amd64.zip", "print zh: and h1:"),
    ("lockctl hash --files ./package", "the digest of each file, too"),
]))]
pub(in crate::front::cli) struct HashArgs {
    /// Zip files or unpacked directories
    #[arg(required = true, value_name = "PATH")]
    pub(in crate::front::cli) paths: Vec<PathBuf>,
    /// Also print the digest of every file in a package
    #[arg(long)]
    pub(in crate::front::cli) files: bool,
}
