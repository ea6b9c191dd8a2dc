//! What is typed for `lockctl fmt`.

use clap::Args;

use crate::cli::args::Roots;

/// Rewrite lock files in canonical form
#[derive(Clone, Debug, Args)]
pub(in crate::cli) struct Fmt {
    #[command(flatten)]
    pub(in crate::cli) roots: Roots,
    /// Write nothing; exit with 1 if a lock file is not canonical
    #[arg(long)]
    pub(in crate::cli) check: bool,
}
