//! The arguments of `lockctl show`.

use std::path::PathBuf;

use clap::Args;

use crate::cli::args::{RootArgs, examples};

/// Show what is locked
#[derive(Clone, Debug, Args)]
#[command(before_help = examples(&[
    ("lockctl show", "versions, constraints and platforms"),
    ("lockctl show --upstream", "also when each release was published"),
    ("lockctl show --build", "what the programs were built from, if known"),
    ("lockctl show -v live/prod", "every hash, with its platform where that is known"),
]))]
pub(in crate::front::cli) struct ShowArgs {
    #[command(flatten)]
    pub(in crate::front::cli) roots: RootArgs,
    /// Also show when each locked release was published
    ///
    /// Fetches the signed list of each release, and no package. The dates are those of its signature,
    /// of the registry, and of the server of the list.
    #[arg(long)]
    pub(in crate::front::cli) upstream: bool,
    /// Show what the programs were built from: Go, modules, commit
    ///
    /// Uses the stored build information of earlier downloads, and reads packages that are installed,
    /// cached or in a mirror; see `lockctl explain contents`.
    #[arg(long, conflicts_with = "upstream")]
    pub(in crate::front::cli) build: bool,
    /// Also download packages whose contents are not known
    #[arg(long, requires = "build")]
    pub(in crate::front::cli) contents: bool,
    /// Also read the packages in this filesystem mirror (may be repeated)
    #[arg(long = "fs-mirror", value_name = "DIR", requires = "build")]
    pub(in crate::front::cli) fs_mirrors: Vec<PathBuf>,
}
