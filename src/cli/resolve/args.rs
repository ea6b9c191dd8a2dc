//! What was typed to resolve conflicts.

use clap::Args;

use crate::cli::args::Roots;
use crate::cli::merge::args::Policy;

/// Merge lock files in which git left conflict markers, entry by entry
#[derive(Clone, Debug, Args)]
pub(in crate::cli) struct Resolve {
    #[command(flatten)]
    pub(in crate::cli) roots: Roots,
    #[command(flatten)]
    pub(in crate::cli) policy: Policy,
}
