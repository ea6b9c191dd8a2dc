//! What is typed for `lockctl tree`.

use clap::Args;

use crate::cli::args::{Configuration, Roots};

/// Show the modules, and what each of them requires by itself
#[derive(Clone, Debug, Args)]
pub(in crate::cli) struct Tree {
    #[command(flatten)]
    pub(in crate::cli) roots: Roots,
    #[command(flatten)]
    pub(in crate::cli) configuration: Configuration,
}
