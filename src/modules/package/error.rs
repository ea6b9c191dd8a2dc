//! Reasons for which there is no package, or no file in it.

use std::io;

use crate::archive::ArchiveError;

/// A package that cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PackageError {
    /// The archive cannot be read from where it is.
    #[error("the package cannot be read")]
    Read(#[source] io::Error),
    /// Its bytes are not of the kind that its address says.
    #[error("it is no valid {kind} archive: {reason}")]
    NotAnArchive {
        /// The expected kind, by its ending.
        kind: &'static str,
        /// The fault of the archive.
        reason: String,
    },
    /// A zip that cannot be used.
    #[error(transparent)]
    Zip(#[from] ArchiveError),
    /// Nothing is in it; the programs refuse that.
    #[error("the archive is empty")]
    Empty,
    /// A name with a path part `..`; the programs take a backslash for a separator here.
    #[error("the entry {:?} has a path part \"..\"", String::from_utf8_lossy(.path))]
    ParentInPath {
        /// The name, raw and relative to the package.
        path: Box<[u8]>,
    },
    /// A name that is empty, too long or holds a NUL.
    #[error("the entry {:?} cannot be unpacked under that name", String::from_utf8_lossy(.path))]
    UnusablePath {
        /// The name, raw and relative to the package.
        path: Box<[u8]>,
    },
    /// One path is both a file and a directory.
    #[error("{:?} is a file and a directory in the same package", String::from_utf8_lossy(.path))]
    FileAndDirectory {
        /// The path inside the package.
        path: Box<[u8]>,
    },
    /// An entry of a kind that is not read.
    #[error("the entry {:?} is {what}, which is not supported", String::from_utf8_lossy(.path))]
    UnsupportedEntry {
        /// The path inside the package.
        path: Box<[u8]>,
        /// The type of the entry.
        what: &'static str,
    },
    /// More files than a package may have.
    #[error("the package has more than {limit} entries")]
    TooManyEntries {
        /// The limit on entries.
        limit: usize,
    },
    /// Paths that are longer than those of a package may be.
    #[error("the paths of the package have more than {limit} bytes together")]
    PathsTooLong {
        /// The limit in bytes.
        limit: usize,
    },
    /// The archive itself is longer than is read.
    #[error("the archive has more than {limit} bytes")]
    ArchiveTooLarge {
        /// The limit in bytes.
        limit: u64,
    },
    /// The archive would unpack to more than is read.
    #[error("the archive unpacks to more than {limit} bytes")]
    TooLarge {
        /// The limit in bytes for this archive: by size or by ratio.
        limit: u64,
    },
}

/// The file is there, but its content is not kept: no configuration file is so large.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("its content of {bytes} bytes is not kept: too much for a file of a module")]
pub struct ContentNotKept {
    /// The length in bytes.
    pub bytes: u64,
}

impl From<ContentNotKept> for io::Error {
    fn from(lacking: ContentNotKept) -> Self {
        Self::other(lacking)
    }
}
