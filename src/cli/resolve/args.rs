//! The arguments of `lockctl resolve`.

use clap::Args;

use crate::cli::args::{Roots, examples};
use crate::cli::merge::args::Policy;

/// Merge lock files with conflict markers, entry by entry
#[derive(Clone, Debug, Args)]
#[command(before_help = examples(&[
    ("lockctl resolve", "the lock file of this directory"),
    ("lockctl resolve -r --prefer theirs", "all below; their version where both sides moved"),
]))]
pub(in crate::cli) struct Resolve {
    #[command(flatten)]
    pub(in crate::cli) roots: Roots,
    #[command(flatten)]
    pub(in crate::cli) policy: Policy,
}
