//! Failures of git, and output of it that cannot be used.

use std::io;
use std::path::PathBuf;

use crate::world::{Ended, named};

/// A failure of git, or output of it that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// There is no program `git`.
    #[error("git is not installed, or not in PATH")]
    NotInstalled,
    /// The system did not start it.
    #[error("git could not be run in {}", dir.display())]
    NotRun {
        /// The directory where git should have started.
        dir: PathBuf,
        /// The error of the system.
        #[source]
        cause: io::Error,
    },
    /// The directory is in no repository.
    #[error("{} is in no git repository", named(dir))]
    NoRepository {
        /// The directory that was searched upwards.
        dir: PathBuf,
    },
    /// A text names no commit and no tree.
    #[error("{text:?} names no commit of this repository")]
    NoRevision {
        /// The text that was typed.
        text: String,
        /// The branch of a remote repository that has this name, as in `origin/main`.
        remote_branch: Option<String>,
        /// The clone has the newest commits only.
        is_shallow: bool,
    },
    /// The current branch has no commit, as after `git init`.
    #[error("the current branch has no commit yet")]
    NoCommit,
    /// Two commits have no ancestor in common.
    #[error("{old:?} and {new:?} have no commit in common")]
    NoMergeBase {
        /// The text that named the first commit.
        old: String,
        /// The text that named the second commit.
        new: String,
        /// The clone has the newest commits only.
        is_shallow: bool,
    },
    /// A bare repository has neither work tree nor index.
    #[error("the repository has no work tree")]
    Bare,
    /// git prints more than is read.
    #[error("git lists more than {limit} bytes")]
    TooMuch {
        /// Maximum size of the output, in bytes.
        limit: u64,
    },
    /// git was ended because it took too long.
    #[error("git {command} did not end within {seconds} s")]
    TooSlow {
        /// The subcommand, as in `rev-parse`.
        command: String,
        /// The time limit, in seconds.
        seconds: u64,
    },
    /// git ended with an error.
    #[error("git {command} failed: {message}")]
    Failed {
        /// The subcommand, as in `rev-parse`.
        command: String,
        /// The first line that says why.
        message: String,
    },
    /// git printed something unexpected.
    #[error("the output of git {command} was not understood")]
    Unexpected {
        /// The subcommand, as in `rev-parse`.
        command: &'static str,
    },
}

impl GitError {
    /// Makes the error of a command that failed.
    pub(super) fn failed(command: &str, ended: &Ended) -> Self {
        let text = String::from_utf8_lossy(&ended.stderr);
        let reason = text
            .lines()
            .find_map(|line| line.strip_prefix("fatal: "))
            .or_else(|| text.lines().find(|line| !line.trim().is_empty()));
        Self::Failed {
            command: command.to_owned(),
            message: match (reason, ended.code) {
                (Some(reason), _) => reason.to_owned(),
                (None, Some(code)) => format!("exit code {code}"),
                (None, None) => "it was ended by a signal".to_owned(),
            },
        }
    }
}
