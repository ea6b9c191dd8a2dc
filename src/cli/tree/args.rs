//! What is typed for `lockctl tree`.

use clap::Args;

use crate::cli::args::{Configuration, Roots};

/// What was typed.
#[derive(Clone, Debug, Args)]
pub(in crate::cli) struct Tree {
    #[command(flatten)]
    pub(in crate::cli) roots: Roots,
    #[command(flatten)]
    pub(in crate::cli) configuration: Configuration,
}
