//! What was typed to set up git, and to show what it compares.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// Wire lockctl into git: merge driver, diff driver, attributes
#[derive(Clone, Debug, Args)]
pub(in crate::cli) struct Git {
    #[command(subcommand)]
    pub(in crate::cli) command: GitCommand,
}

#[derive(Clone, Debug, Subcommand)]
pub(in crate::cli) enum GitCommand {
    /// Make git merge and show lock files with lockctl
    Install(Wire),
    /// Take back what `install` wrote
    Uninstall(Wire),
    /// Show what is in force in the repository; exit with 1 unless all of it is
    Status,
}

#[derive(Clone, Copy, Debug, Args)]
pub(in crate::cli) struct Wire {
    /// For all repositories of the user, not only for this one
    #[arg(long)]
    pub(in crate::cli) global: bool,
    /// Write nothing; show what would be written
    #[arg(long)]
    pub(in crate::cli) dry_run: bool,
}

/// Print a lock file for people, one fact a line (a diff driver of git)
#[derive(Clone, Debug, Args)]
pub(in crate::cli) struct GitTextconv {
    /// A lock file
    #[arg(value_name = "FILE")]
    pub(in crate::cli) file: PathBuf,
}
