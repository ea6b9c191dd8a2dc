//! Reasons why a repository gives no package.

use std::io;
use std::time::Duration;

use crate::modules::package::PackageError;

/// A repository that gives no package.
///
/// No message holds a password or a key.
#[derive(Debug, thiserror::Error)]
pub enum GitFailure {
    #[error("git is not installed, or not in PATH")]
    NotInstalled,
    #[error("{what} is not passed to git: {why}")]
    Refused { what: String, why: &'static str },
    #[error("{0}")]
    Unusable(String),
    #[error(
        "{} {url}: {message}",
        if *is_missing { "there is no repository at" } else { "git could not read" }
    )]
    Unreachable {
        /// The address without its password.
        url: String,
        /// The message of git, cut and without secrets.
        message: String,
        /// There is no repository, by the words of git.
        is_missing: bool,
    },
    #[error("the repository has no branch, tag or commit {text:?}{}", if *is_shallow {
        " (with depth= the name of a branch or tag is needed)"
    } else {
        ""
    })]
    NoRef { text: String, is_shallow: bool },
    #[error("git {command} of {url} took longer than {} s", limit.as_secs())]
    TooSlow {
        command: &'static str,
        /// The address without its password.
        url: String,
        limit: Duration,
    },
    #[error("the repository {url} has more than {limit} bytes of {what}")]
    TooLarge {
        what: &'static str,
        /// The address without its password.
        url: String,
        /// The limit in bytes.
        limit: u64,
    },
    #[error("the output of git {command} was not understood")]
    Unexpected { command: &'static str },
    #[error("git could not be run")]
    NotRun(#[source] io::Error),
    #[error(transparent)]
    Package(#[from] PackageError),
    #[error("the submodule {path:?} could not be fetched: {cause}")]
    Submodule { path: String, cause: Box<Self> },
}

impl GitFailure {
    /// Returns whether something unsafe was refused, here or in a submodule.
    #[must_use]
    pub fn is_refusal(&self) -> bool {
        match self {
            Self::Refused { .. } => true,
            Self::Submodule { cause, .. } => cause.is_refusal(),
            _ => false,
        }
    }
}
