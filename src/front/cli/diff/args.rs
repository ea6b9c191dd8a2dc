//! The arguments of `lockctl diff`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::cli::args::examples;

/// Explain what changed in lock files, and whether it is alarming
#[derive(Clone, Debug, Args)]
#[command(before_help = examples(&[
    ("lockctl diff", "since the last commit"),
    ("lockctl diff main...HEAD", "what this branch changed"),
    ("lockctl diff main...HEAD --format markdown", "the same, for a pull request"),
    ("lockctl diff old.hcl new.hcl --fail-on danger", "two files; fail on danger"),
]))]
pub(in crate::front::cli) struct DiffArgs {
    /// The lock file before, its directory, or a git revision: REV, A..B or A...B [default: HEAD]
    #[arg(value_name = "OLD")]
    pub(in crate::front::cli) old: Option<PathBuf>,
    /// The lock file now, its directory, or a git revision [default: the working tree]
    #[arg(value_name = "NEW", conflicts_with = "staged")]
    pub(in crate::front::cli) new: Option<PathBuf>,
    /// Compare with the index: what the next commit contains
    #[arg(long, alias = "cached")]
    pub(in crate::front::cli) staged: bool,
    /// Exit with code 1 if a change has this risk or a higher one
    #[arg(long, value_enum, value_name = "RISK")]
    pub(in crate::front::cli) fail_on: Option<FailOn>,
}

/// The lowest risk that makes a change a bad answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::front::cli) enum FailOn {
    Warning,
    Danger,
}
