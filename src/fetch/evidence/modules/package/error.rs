//! Reasons why there is no package, or no file in it.

use std::io;

use crate::archive::ArchiveError;

/// A package that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PackageError {
    #[error("the package cannot be read")]
    Read(#[source] io::Error),
    #[error("it is no valid {kind} archive: {reason}")]
    NotAnArchive {
        /// The expected kind, by its ending.
        kind: &'static str,
        reason: String,
    },
    #[error(transparent)]
    Zip(#[from] ArchiveError),
    #[error("the archive is empty")]
    Empty,
    #[error("the entry {:?} has a path part \"..\"", String::from_utf8_lossy(.path))]
    ParentInPath {
        /// The name, raw and relative to the package.
        path: Box<[u8]>,
    },
    #[error("the entry {:?} cannot be unpacked under that name", String::from_utf8_lossy(.path))]
    UnusablePath {
        /// The name, raw and relative to the package.
        path: Box<[u8]>,
    },
    #[error("{:?} is a file and a directory in the same package", String::from_utf8_lossy(.path))]
    FileAndDirectory { path: Box<[u8]> },
    #[error("the entry {:?} is {what}, which is not supported", String::from_utf8_lossy(.path))]
    UnsupportedEntry { path: Box<[u8]>, what: &'static str },
    #[error("the package has more than {limit} {what}")]
    TooMuch { what: &'static str, limit: u64 },
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
