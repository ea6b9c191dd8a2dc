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
    #[error("the address has {what}")]
    BadAddress { what: &'static str },
    #[error(".gitmodules {what}")]
    BadSubmodule { what: &'static str },
    #[error("git could not read {url}: {message}")]
    Unreachable {
        /// The address without its password.
        url: String,
        /// The message of git, cut and without secrets.
        message: String,
    },
    #[error("there is no repository at {url}: {message}")]
    NoRepository {
        /// The address without its password.
        url: String,
        /// The message of git, cut and without secrets.
        message: String,
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
    #[error("the package has more than {limit} submodules{}", if *is_nesting { " in each other" } else { "" })]
    TooManySubmodules { limit: usize, is_nesting: bool },
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
