//! The arguments of `lockctl explain`.

use clap::Args;

use crate::cli::args::examples;

/// Explain findings, topics, and errors of terraform and tofu
#[derive(Clone, Debug, Args)]
#[command(before_help = examples(&[
    ("lockctl explain", "list all topics and rules"),
    ("lockctl explain platforms-incomplete", "what a finding means and how to fix it"),
    ("lockctl explain \"checksums do not match\"", "search all pages for words"),
    ("terraform init 2>&1 | lockctl explain -", "what an error means and how to fix it"),
]))]
pub(in crate::front::cli) struct ExplainArgs {
    /// Rules, topics, or words to search; - reads output of terraform or tofu [default: list all pages]
    #[arg(value_name = "TEXT")]
    pub(in crate::front::cli) names: Vec<String>,
}
