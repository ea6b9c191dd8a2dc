//! The arguments of `lockctl git` and `lockctl git-textconv`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::cli::args::examples;

/// Set up git to merge and show lock files with lockctl
#[derive(Clone, Debug, Args)]
#[command(before_help = examples(&[
    ("lockctl git install", "set up this repository"),
    ("lockctl git install --global", "set up all repositories of the user"),
    ("lockctl git status", "show what is set up"),
]))]
pub(in crate::front::cli) struct GitArgs {
    #[command(subcommand)]
    pub(in crate::front::cli) command: GitCommand,
}

#[derive(Clone, Debug, Subcommand)]
pub(in crate::front::cli) enum GitCommand {
    /// Write the settings of git and .gitattributes
    Install(Wire),
    /// Remove what `install` wrote
    Uninstall(Wire),
    /// Show what is set up; exit with code 1 unless all of it is
    Status,
}

#[derive(Clone, Copy, Debug, Args)]
pub(in crate::front::cli) struct Wire {
    /// For all repositories of the user, not only for this one
    #[arg(long)]
    pub(in crate::front::cli) global: bool,
    /// Write nothing; show what would be written
    #[arg(long)]
    pub(in crate::front::cli) dry_run: bool,
}

/// Print a lock file with one fact per line, as a diff driver of git
#[derive(Clone, Debug, Args)]
pub(in crate::front::cli) struct GitTextconvArgs {
    /// A lock file
    #[arg(value_name = "FILE")]
    pub(in crate::front::cli) file: PathBuf,
}
