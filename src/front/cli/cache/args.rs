//! The arguments of `lockctl cache`.

use std::path::PathBuf;

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, Subcommand};

use crate::cli::args::examples;

/// Show, share and clean what is kept about packages, modules and advisories
#[derive(Clone, Debug, Args)]
#[command(before_help = examples(&[
    ("lockctl cache stats", "what is kept, and where"),
    ("lockctl cache export facts.txt -r", "what the lock files below need, to be committed"),
    ("lockctl cache import facts.txt", "use it on another machine"),
    ("lockctl explain facts", "what facts are, and when they count"),
]))]
pub(in crate::front::cli) struct CacheArgs {
    #[command(subcommand)]
    pub(in crate::front::cli) command: CacheCommand,
}

#[derive(Clone, Debug, Subcommand)]
pub(in crate::front::cli) enum CacheCommand {
    /// Print the directory that holds it
    Dir,
    /// Count what is kept, and say what is ignored and why
    Stats,
    /// Write facts as text: sorted, one per line, fit for version control
    Export(ExportArgs),
    /// Read facts that another machine exported
    ///
    /// They replace downloads only with `trust { imported_facts = true }` in the project file. If one of
    /// them contradicts a fact that is kept, nothing of the file is imported, and the exit code is 1.
    Import(ImportArgs),
    /// Remove what is too old, and files that are no facts
    Clean(CleanArgs),
}

#[derive(Clone, Debug, Args)]
pub(in crate::front::cli) struct ExportArgs {
    /// Write to this file [default: standard output]
    ///
    /// The file is not touched if it would stay the same. A file that is no export is not replaced.
    #[arg(value_name = "FILE")]
    pub(in crate::front::cli) file: Option<PathBuf>,
    /// Only what the lock file of this root needs; may be repeated
    ///
    /// What FILE already holds and a lock file still needs stays in it.
    #[arg(long = "for", value_name = "ROOT")]
    pub(in crate::front::cli) roots: Vec<PathBuf>,
    /// Only what lock files need, in each ROOT and below [default: below the working directory]
    #[arg(short, long)]
    pub(in crate::front::cli) recursive: bool,
    /// Also facts that were imported
    #[arg(long)]
    pub(in crate::front::cli) imported: bool,
}

#[derive(Clone, Debug, Args)]
pub(in crate::front::cli) struct ImportArgs {
    /// Files that `lockctl cache export` wrote; - is standard input
    #[arg(required = true, value_name = "FILE")]
    pub(in crate::front::cli) files: Vec<PathBuf>,
    /// Where the facts come from, as results will name it [default: FILE]
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    pub(in crate::front::cli) from: Option<String>,
}

#[derive(Clone, Copy, Debug, Args)]
pub(in crate::front::cli) struct CleanArgs {
    /// Also remove facts that were imported
    #[arg(long)]
    pub(in crate::front::cli) imported: bool,
    /// Remove everything
    #[arg(long, conflicts_with = "imported")]
    pub(in crate::front::cli) all: bool,
    /// Remove nothing; count what would be removed
    #[arg(long)]
    pub(in crate::front::cli) dry_run: bool,
}
