//! Why a root cannot be opened, read or written.

use std::io;
use std::path::{Path, PathBuf};

use crate::flavor::Flavor;
use crate::lockfile;
use crate::project::roots::RootsError;

/// Why a root cannot be opened, read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorkspaceError {
    /// What was named as a root is something else.
    #[error("{} is not a directory", dir.display())]
    NotADirectory {
        /// What was named.
        dir: PathBuf,
    },
    /// What was named as a root cannot be read.
    #[error("{} cannot be read", dir.display())]
    UnreadableDirectory {
        /// What was named.
        dir: PathBuf,
        /// Why.
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
        /// Why.
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
        /// The root.
        dir: PathBuf,
        /// Whose files were looked for.
        flavor: Flavor,
        /// Whether it is a git submodule that is not checked out.
        is_missing_submodule: bool,
    },
    /// The lock file cannot be written.
    #[error("{} cannot be written", path.display())]
    Unwritable {
        /// The path of the lock file.
        path: PathBuf,
        /// Why.
        #[source]
        cause: io::Error,
    },
    /// The lock file would be too large to be read again.
    #[error("{} would have {bytes} bytes, more than {}", path.display(), lockfile::MAX_BYTES)]
    TooLarge {
        /// The path of the lock file.
        path: PathBuf,
        /// How many bytes it would have.
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
        /// Why.
        #[source]
        cause: io::Error,
    },
    /// A search found no root.
    #[error("no root in {} or below", listed(tops))]
    NoRoot {
        /// Where it began.
        tops: Vec<PathBuf>,
        /// How many directories hold configuration all the same.
        not_locked: usize,
        /// How many of these are units of Terragrunt.
        units: usize,
    },
    /// A search could not look everywhere.
    #[error(transparent)]
    Search(#[from] RootsError),
}

/// Why a lock file cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LockCause {
    /// It has more bytes than are read.
    #[error("it has more than {} bytes", lockfile::MAX_BYTES)]
    TooLarge,
    /// The system refuses.
    #[error(transparent)]
    Io(io::Error),
}

/// Names a directory in a sentence.
pub(super) fn named(dir: &Path) -> String {
    if dir == Path::new(".") {
        "the working directory".to_owned()
    } else {
        dir.display().to_string()
    }
}

fn listed(dirs: &[PathBuf]) -> String {
    let dirs: Vec<String> = dirs.iter().map(|dir| named(dir)).collect();
    dirs.join(", ")
}
