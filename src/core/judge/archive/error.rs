//! Reasons why a package has no hash.

use std::io;
use std::path::PathBuf;

use crate::hash::LineFeedInName;

/// A package that cannot be hashed.
///
/// Names are those inside the package, raw.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// The zip cannot be read from where it is.
    #[error("reading the zip failed")]
    Read(#[from] io::Error),
    /// The bytes are no zip, or its list of entries is broken or can be read in two ways.
    #[error("the file is not a valid zip: {reason}")]
    NotAZip {
        /// The fault of the end record or of the list.
        reason: &'static str,
    },
    /// The library cannot read the list of entries.
    #[error("the list of entries of the zip is not valid")]
    BrokenList(#[source] io::Error),
    /// A valid zip without any entry, which the programs refuse.
    #[error("the zip is empty")]
    Empty,
    /// An entry that cannot be unpacked, or that readers may unpack in different ways.
    #[error("the entry {:?} {fault}", String::from_utf8_lossy(.name))]
    Entry {
        /// The name of the entry; of a file and a directory of one name their path.
        name: Box<[u8]>,
        /// The fault of the entry.
        fault: EntryFault,
    },
    /// A name that `h1` cannot cover.
    #[error(transparent)]
    LineFeedInName(#[from] LineFeedInName),
    /// More entries, files or directories than a package can have.
    #[error("the package has more than {limit} entries")]
    TooManyEntries {
        /// The limit on entries, files and directories.
        limit: u64,
    },
    /// The list of entries is too long to be held in memory.
    #[error("the list of entries of the zip takes {bytes} bytes, more than {limit}")]
    ListTooLong {
        /// The stated length of the list, in bytes.
        bytes: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// The entries together state more than a package can hold.
    #[error("the zip would unpack to {bytes} bytes, more than {limit}")]
    TooLarge {
        /// The stated sizes of all entries, in bytes.
        bytes: u64,
        /// The limit in bytes for this zip: by size or by ratio.
        limit: u64,
    },
    /// A file or directory of an unpacked package cannot be read, or a link leads nowhere.
    #[error("reading {} failed", path.display())]
    Path {
        /// The path of the file or directory.
        path: PathBuf,
        /// The error that the system reports.
        #[source]
        cause: io::Error,
    },
    /// A symbolic link to a directory, which the programs cannot hash.
    #[error("{} is a link to a directory", path.display())]
    LinkToDirectory {
        /// The path of the link.
        path: PathBuf,
    },
    /// A FIFO, a socket or a device, or a link to one. Terraform would wait for a FIFO for ever.
    #[error("{} is no regular file", path.display())]
    NotRegular {
        /// The path of the special file or link.
        path: PathBuf,
    },
    /// Directories inside each other, more than any package has.
    #[error("{} is more than {limit} directories deep", path.display())]
    TooDeep {
        /// The path of the directory.
        path: PathBuf,
        /// The limit in directories inside each other.
        limit: usize,
    },
}

/// A fault of an entry of a zip.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EntryFault {
    /// A path part `..`; the programs take a backslash for a separator here.
    #[error("has a path part \"..\"")]
    ParentInName,
    /// A name that no file system takes.
    #[error("has a name that is too long for a file")]
    NameTooLong,
    /// The name of a file that is empty, names the package itself or holds a NUL.
    #[error("cannot be unpacked under that name")]
    NameUnusable,
    /// Two entries have the same path, one as a file and the other as a directory.
    #[error("is a file and a directory in the same zip")]
    FileAndDirectory,
    /// Neither stored nor deflated; the programs support no other method.
    #[error("is compressed by the unsupported method {0}")]
    UnsupportedMethod(u16),
    /// A directory entry that states a content. The programs unpack such a zip, but fail as soon as
    /// they have to check it against an `h1`.
    #[error("is a directory that holds data")]
    DirectoryWithData,
    /// Bytes of the zip that belong to two entries: harmless to the programs, but a way to make a
    /// small zip unpack to very much.
    #[error("overlaps another one")]
    Overlap,
    /// Its own header is not where the list says.
    #[error("is damaged: its header is missing")]
    NoHeader,
    /// The content is encrypted; the programs cannot read it either.
    #[error("is damaged: it is encrypted")]
    Encrypted,
    /// The content ends before the stated size.
    #[error("is damaged: it ends after {found} of {stated} bytes")]
    TooShort {
        /// The stated size in bytes.
        stated: u64,
        /// The number of bytes that there are.
        found: u64,
    },
    /// The content goes on behind the stated size, in bytes.
    #[error("is damaged: it has more than the stated {0} bytes")]
    TooLong(u64),
    /// Its compressed data ends before its own end mark, or the checksum behind it is missing.
    #[error("is damaged: it is cut off")]
    CutOff,
    /// The compressed data cannot be decompressed.
    #[error("is damaged: its compressed data is corrupt")]
    Corrupt,
    /// The checksum is another one.
    #[error("is damaged: its checksum is {found:08x}, not the stated {stated:08x}")]
    Checksum {
        /// The CRC-32 that the zip states.
        stated: u32,
        /// The CRC-32 of the content.
        found: u32,
    },
}

impl EntryFault {
    /// Names the entry that has the fault.
    pub(super) fn of(self, name: &[u8]) -> ArchiveError {
        let name = name.into();
        ArchiveError::Entry { name, fault: self }
    }
}
