//! Reasons for which a repository gives no package.

use std::io;
use std::time::Duration;

use crate::modules::package::PackageError;

/// A repository that gives no package.
///
/// No message holds a password or a key.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GitFailure {
    /// There is no program `git`.
    #[error("git is not installed, or not in PATH")]
    NotInstalled,
    /// The address asks for something unsafe, so git is not started.
    #[error("{what} is not passed to git: {why}")]
    Refused {
        /// A part of the address.
        what: String,
        /// The reason of the refusal.
        why: &'static str,
    },
    /// The address cannot be read.
    #[error("the address has {what}")]
    BadAddress {
        /// The fault of the setting.
        what: &'static str,
    },
    /// `.gitmodules` and the repository do not fit together, or git cannot read it.
    #[error(".gitmodules {what}")]
    BadSubmodule {
        /// The fault of the ref.
        what: &'static str,
    },
    /// git could not reach the repository, or was refused.
    #[error("git could not read {url}: {message}")]
    Unreachable {
        /// The address without its password.
        url: String,
        /// The message of git, cut and without secrets.
        message: String,
    },
    /// There is no repository at the address.
    #[error("there is no repository at {url}: {message}")]
    NoRepository {
        /// The address without its password.
        url: String,
        /// The message of git, cut and without secrets.
        message: String,
    },
    /// The repository has no such ref, or a program would not find it.
    #[error("the repository has no branch, tag or commit {text:?}{}", if *is_shallow {
        " (with depth= the name of a branch or tag is needed)"
    } else {
        ""
    })]
    NoRef {
        /// The ref in the address.
        text: String,
        /// The address states a depth.
        is_shallow: bool,
    },
    /// The command ran into its time limit.
    #[error("git {command} of {url} took longer than {} s", limit.as_secs())]
    TooSlow {
        /// The git command that ran.
        command: &'static str,
        /// The address without its password.
        url: String,
        /// The limit that was passed.
        limit: Duration,
    },
    /// The command printed more than is read.
    #[error("the repository {url} has more than {limit} bytes of {what}")]
    TooLarge {
        /// The kind of output that is too long.
        what: &'static str,
        /// The address without its password.
        url: String,
        /// The limit in bytes.
        limit: u64,
    },
    /// git printed something unexpected.
    #[error("the output of git {command} was not understood")]
    Unexpected {
        /// The git command that ran.
        command: &'static str,
    },
    /// git cannot be started, or there is no place for what it writes.
    #[error("git could not be run")]
    NotRun(#[source] io::Error),
    /// The files in the repository make no package.
    #[error(transparent)]
    Package(#[from] PackageError),
    /// A submodule fails, and so does the module, as in the programs.
    #[error("the submodule {path:?} could not be fetched: {cause}")]
    Submodule {
        /// The path of the submodule in the package.
        path: String,
        /// The failure of the submodule.
        cause: Box<Self>,
    },
    /// More submodules than a package may have, or more in each other.
    #[error("the package has more than {limit} submodules{}", if *is_nesting { " in each other" } else { "" })]
    TooManySubmodules {
        /// The limit on submodules.
        limit: usize,
        /// The limit is on submodules inside each other.
        is_nesting: bool,
    },
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
