//! What is typed for `lockctl show`.

use clap::Args;

use crate::cli::args::Roots;

/// Show what is locked
#[derive(Clone, Debug, Args)]
pub(in crate::cli) struct Show {
    #[command(flatten)]
    pub(in crate::cli) roots: Roots,
}
