//! Why git could not be run, or what it printed could not be used.

use std::io;
use std::path::PathBuf;

use crate::world::Ended;

/// Why git could not be run, or what it printed could not be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GitError {
    /// There is no program `git`.
    #[error("git is not installed, or not in PATH")]
    NotInstalled,
    /// The system did not start it.
    #[error("git could not be run in {}", dir.display())]
    NotRun {
        /// Where it should have been started.
        dir: PathBuf,
        /// The error of the system.
        #[source]
        cause: io::Error,
    },
    /// The directory is in no repository.
    #[error("{} is in no git repository", dir.display())]
    NoRepository {
        /// Which directory.
        dir: PathBuf,
    },
    /// A text names no commit and no tree.
    #[error("{text:?} names no commit of this repository")]
    NoRevision {
        /// What was given.
        text: String,
    },
    /// Two commits have no ancestor in common.
    #[error("{one:?} and {other:?} have no commit in common")]
    NoMergeBase {
        /// What was given.
        one: String,
        /// And what else.
        other: String,
    },
    /// A bare repository has neither work tree nor index.
    #[error("the repository has no work tree")]
    Bare,
    /// git prints more than is read.
    #[error("git lists more than {limit} bytes")]
    TooMuch {
        /// How much is read.
        limit: u64,
    },
    /// git failed.
    #[error("git {command} failed: {message}")]
    Failed {
        /// Its command.
        command: String,
        /// The first line that says why.
        message: String,
    },
    /// git printed something unexpected.
    #[error("the output of git {command} was not understood")]
    Unexpected {
        /// Its command.
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
