//! What is typed for `lockctl show`.

use clap::Args;

use crate::cli::args::{Roots, examples};

/// Show what is locked
#[derive(Clone, Debug, Args)]
#[command(before_help = examples(&[
    ("lockctl show", "versions, constraints and platforms"),
    ("lockctl show -v live/prod", "every hash, with its platform where that is known"),
]))]
pub(in crate::cli) struct Show {
    #[command(flatten)]
    pub(in crate::cli) roots: Roots,
}
