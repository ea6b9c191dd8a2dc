//! What is typed for `lockctl tree`.

use clap::Args;

use crate::cli::args::{Configuration, Roots, examples};

/// Show the modules and what each requires
#[derive(Clone, Debug, Args)]
#[command(before_help = examples(&[
    ("lockctl tree", "the modules of the root in this directory"),
    ("lockctl tree --format dot | dot -Tsvg", "draw them with Graphviz"),
]))]
pub(in crate::cli) struct Tree {
    #[command(flatten)]
    pub(in crate::cli) roots: Roots,
    #[command(flatten)]
    pub(in crate::cli) configuration: Configuration,
}
