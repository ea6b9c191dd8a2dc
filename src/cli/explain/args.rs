//! The arguments of `lockctl explain`.

use clap::Args;

use crate::cli::args::examples;

/// Explain findings, and topics such as exit codes
#[derive(Clone, Debug, Args)]
#[command(before_help = examples(&[
    ("lockctl explain", "list all topics and rules"),
    ("lockctl explain platforms-incomplete", "what a finding means and how to fix it"),
    ("lockctl explain project-file", "how to write .lockctl.hcl"),
]))]
pub(in crate::cli) struct ExplainArgs {
    /// Topics, or rules as named in brackets in findings [default: list all of them]
    #[arg(value_name = "NAME")]
    pub(in crate::cli) names: Vec<String>,
}
