//! The arguments of `lockctl show`.

use clap::Args;

use crate::cli::args::{RootArgs, examples};

/// Show what is locked
#[derive(Clone, Debug, Args)]
#[command(before_help = examples(&[
    ("lockctl show", "versions, constraints and platforms"),
    ("lockctl show --upstream", "also when each release was published"),
    ("lockctl show -v live/prod", "every hash, with its platform where that is known"),
]))]
pub(in crate::cli) struct ShowArgs {
    #[command(flatten)]
    pub(in crate::cli) roots: RootArgs,
    /// Also show when each locked release was published
    ///
    /// Fetches the signed list of each release, and no package. The dates are those of its signature,
    /// of the registry, and of the server of the list.
    #[arg(long)]
    pub(in crate::cli) upstream: bool,
}
