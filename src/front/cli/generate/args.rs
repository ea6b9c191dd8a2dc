//! The arguments of `lockctl completions`, `lockctl man` and `lockctl schema`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use clap_complete::Shell;

use crate::cli::args::examples;

/// Print a completion script for a shell
///
/// bash reads the file below if the package bash-completion is installed; without it, ~/.bashrc needs the line
/// `source <(lockctl completions bash)`. zsh reads functions in the directories of `fpath`: ~/.zshrc needs the
/// line `fpath=(~/.zfunc $fpath)` before `compinit`. Then start a new shell.
#[derive(Clone, Debug, Args)]
#[command(before_help = examples(&[
    ("lockctl completions bash > ~/.local/share/bash-completion/completions/lockctl", "for bash"),
    ("lockctl completions zsh > ~/.zfunc/_lockctl", "for zsh"),
    ("lockctl completions fish > ~/.config/fish/completions/lockctl.fish", "for fish"),
]))]
pub(in crate::front::cli) struct CompletionsArgs {
    /// The shell that reads the script
    #[arg(value_enum, value_name = "SHELL")]
    pub(super) shell: Shell,
}

/// Print the manual page of a command, or write those of all
#[derive(Clone, Debug, Args)]
#[command(before_help = examples(&[
    ("lockctl man verify | man -l -", "show the manual page of a command"),
    ("lockctl man --dir /usr/local/share/man/man1", "write the pages of all commands"),
]))]
pub(in crate::front::cli) struct ManArgs {
    /// The command that the page is about, as in `lockctl man git install` [default: lockctl itself]
    #[arg(value_name = "COMMAND")]
    pub(super) command: Vec<String>,
    /// Write the pages of all commands into this directory instead
    #[arg(long, value_name = "DIR", conflicts_with = "command")]
    pub(super) dir: Option<PathBuf>,
}

/// Print the JSON schema of the output
#[derive(Clone, Debug, Args)]
#[command(before_help = examples(&[
    ("lockctl schema", "of what every command prints with --format json"),
    ("lockctl schema event", "of the lines before that with --format json-lines"),
]))]
pub(in crate::front::cli) struct SchemaArgs {
    /// The part of the output that is described
    #[arg(value_enum, value_name = "PART", default_value_t = SchemaPart::Output)]
    pub(super) part: SchemaPart,
}

/// A part of the output for programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum SchemaPart {
    /// The object of --format json, the last line of --format json-lines
    Output,
    /// Any other line of --format json-lines
    Event,
}
