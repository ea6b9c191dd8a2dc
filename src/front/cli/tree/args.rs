//! The arguments of `lockctl tree`.

use clap::Args;

use crate::cli::args::{Configuration, RootArgs, examples};

/// Show the modules and what each requires
#[derive(Clone, Debug, Args)]
#[command(before_help = examples(&[
    ("lockctl tree", "the modules of the root in this directory"),
    ("lockctl tree --format dot | dot -Tsvg", "draw them with Graphviz"),
]))]
pub(in crate::front::cli) struct TreeArgs {
    #[command(flatten)]
    pub(in crate::front::cli) roots: RootArgs,
    #[command(flatten)]
    pub(in crate::front::cli) configuration: Configuration,
}
