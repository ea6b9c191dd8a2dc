//! The arguments of `lockctl resolve`.

use clap::Args;

use crate::cli::args::{RootArgs, examples};
use crate::cli::merge::args::MergePolicy;

/// Merge lock files with conflict markers, entry by entry
#[derive(Clone, Debug, Args)]
#[command(before_help = examples(&[
    ("lockctl resolve", "the lock file of this directory"),
    ("lockctl resolve -r --prefer theirs", "all below; their version where both sides moved"),
]))]
pub(in crate::front::cli) struct ResolveArgs {
    #[command(flatten)]
    pub(in crate::front::cli) roots: RootArgs,
    #[command(flatten)]
    pub(in crate::front::cli) policy: MergePolicy,
}
