//! What is typed for `lockctl diff`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Explain what changed between two lock files, or in all of a git repository, and whether it is
/// alarming
#[derive(Clone, Debug, Args)]
pub(in crate::cli) struct Diff {
    /// The lock file before, its directory, or a revision: REV, A..B or A...B of a git repository
    /// [default: HEAD]
    #[arg(value_name = "OLD")]
    pub(in crate::cli) old: Option<PathBuf>,
    /// The lock file now, its directory, or a revision [default: the work tree]
    #[arg(value_name = "NEW", conflicts_with = "staged")]
    pub(in crate::cli) new: Option<PathBuf>,
    /// Compare with what the next commit will hold
    #[arg(long, alias = "cached")]
    pub(in crate::cli) staged: bool,
    /// Exit with 1 if a change is as risky as this, or worse
    #[arg(long, value_enum, value_name = "RISK")]
    pub(in crate::cli) fail_on: Option<FailOn>,
}

/// From which risk on a change is a bad answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum FailOn {
    Warning,
    Danger,
}
