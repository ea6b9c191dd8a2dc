//! Reasons why a root cannot be opened, read or written.

use std::io;
use std::path::PathBuf;

use crate::flavor::Flavor;
use crate::lockfile;
use crate::project::roots::RootsError;
use crate::world::named;

/// A reason why a root cannot be opened, read or written.
#[derive(Debug, thiserror::Error)]
pub enum WorkspaceError {
    /// The path of a root is no directory.
    #[error("{} is not a directory", dir.display())]
    NotADirectory {
        /// The path as it was typed.
        dir: PathBuf,
    },
    /// The directory of a root cannot be read.
    #[error("{} cannot be read", dir.display())]
    UnreadableDirectory {
        /// The path as it was typed.
        dir: PathBuf,
        /// The error of the system.
        #[source]
        cause: io::Error,
    },
    /// The lock file is a link to nothing.
    #[error("{} is a link that leads nowhere", path.display())]
    DanglingLink {
        /// The path of the lock file.
        path: PathBuf,
    },
    /// The lock file cannot be read, or has more than [`lockfile::MAX_BYTES`] bytes.
    #[error("{} cannot be read", path.display())]
    UnreadableLock {
        /// The path of the lock file.
        path: PathBuf,
        /// The reason why it cannot be read.
        #[source]
        cause: LockCause,
    },
    /// There is no lock file where one is needed.
    #[error("there is no {}", path.display())]
    NoLock {
        /// The path that it would have.
        path: PathBuf,
    },
    /// There is no configuration where some is needed.
    #[error("no configuration in {}", named(dir))]
    NoConfiguration {
        /// The directory of the root.
        dir: PathBuf,
        /// Whose files were looked for.
        flavor: Flavor,
        /// The kind of the directory, if it is a special one.
        special: Option<SpecialDirectory>,
    },
    /// The lock file cannot be written.
    #[error("{} cannot be written", path.display())]
    Unwritable {
        /// The path of the lock file.
        path: PathBuf,
        /// The error of the system.
        #[source]
        cause: io::Error,
    },
    /// The lock file would be too large to be read again.
    #[error("{} would have {bytes} bytes, more than {}", path.display(), lockfile::MAX_BYTES)]
    TooLarge {
        /// The path of the lock file.
        path: PathBuf,
        /// The size that it would have, in bytes.
        bytes: usize,
    },
    /// Another program writes the lock file at the same time.
    #[error("{} keeps changing", path.display())]
    KeepsChanging {
        /// The path of the lock file.
        path: PathBuf,
    },
    /// Relative paths have no meaning.
    #[error("the working directory could not be determined")]
    NoWorkingDirectory {
        /// The error of the system.
        #[source]
        cause: io::Error,
    },
    /// A search found no root.
    #[error("no root in {} or below", tops.iter().map(|top| named(top)).collect::<Vec<_>>().join(", "))]
    NoRoot {
        /// The directories where the search began.
        tops: Vec<PathBuf>,
        /// The directories with configuration.
        not_locked: Vec<PathBuf>,
        /// Number of units of Terragrunt among them.
        units: usize,
    },
    /// A search could not look everywhere.
    #[error(transparent)]
    Search(#[from] RootsError),
}

/// A directory without configuration that the programs read as a root module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpecialDirectory {
    /// A git submodule that is not checked out.
    MissingSubmodule,
    /// A Terraform Stack, a project of several components.
    Stack,
    /// A stack of Terragrunt, which generates units.
    UnitStack,
    /// A file that units of Terragrunt include is here, under the name of a unit file.
    UnitParent,
}

/// A reason why a lock file cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum LockCause {
    /// The file exceeds [`lockfile::MAX_BYTES`].
    #[error("it has more than {} bytes", lockfile::MAX_BYTES)]
    TooLarge,
    /// The error of the system.
    #[error(transparent)]
    Io(io::Error),
}
