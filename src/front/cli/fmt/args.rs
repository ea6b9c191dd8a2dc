//! The arguments of `lockctl fmt`.

use clap::Args;

use crate::cli::args::{RootArgs, examples};

/// Rewrite lock files in canonical form
#[derive(Clone, Debug, Args)]
#[command(before_help = examples(&[
    ("lockctl fmt", "rewrite the lock file of this directory"),
    ("lockctl fmt -r --check", "check all lock files below"),
]))]
pub(in crate::front::cli) struct FmtArgs {
    #[command(flatten)]
    pub(in crate::front::cli) roots: RootArgs,
    /// Write nothing; exit with code 1 if a lock file is not canonical
    #[arg(long)]
    pub(in crate::front::cli) check: bool,
}
