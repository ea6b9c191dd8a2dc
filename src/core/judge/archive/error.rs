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
    /// An entry with a path part `..`; the programs take a backslash for a separator here.
    #[error("the entry {:?} has a path part \"..\"", shown(.name))]
    ParentInName {
        /// The name of the entry.
        name: Box<[u8]>,
    },
    /// A name that no file system takes.
    #[error("the name {:?} is too long for a file", shown(.name))]
    NameTooLong {
        /// The name of the entry.
        name: Box<[u8]>,
    },
    /// A file entry whose name is empty, names the package itself or holds a NUL.
    #[error("the entry {:?} cannot be unpacked under that name", shown(.name))]
    NameUnusable {
        /// The name of the entry.
        name: Box<[u8]>,
    },
    /// A name that `h1` cannot cover.
    #[error(transparent)]
    LineFeedInName(#[from] LineFeedInName),
    /// Two entries have the same path, one as a file and the other as a directory.
    #[error("{:?} is a file and a directory in the same zip", shown(.name))]
    FileAndDirectory {
        /// The path inside the package.
        name: Box<[u8]>,
    },
    /// Neither stored nor deflated; the programs support no other method.
    #[error("the entry {:?} is compressed by the unsupported method {method}", shown(.name))]
    UnsupportedMethod {
        /// The name of the entry.
        name: Box<[u8]>,
        /// The number of the method.
        method: u16,
    },
    /// The content of an entry is not what the zip says about it.
    #[error("the entry {:?} is damaged: {damage}", shown(.name))]
    Damaged {
        /// The name of the entry.
        name: Box<[u8]>,
        /// The difference from the list of entries.
        damage: Damage,
    },
    /// A directory entry that states a content. The programs unpack such a zip, but fail as soon as
    /// they have to check it against an `h1`.
    #[error("the directory entry {:?} holds data", shown(.name))]
    DirectoryWithData {
        /// The name of the entry.
        name: Box<[u8]>,
    },
    /// Bytes of the zip that belong to two entries: harmless to the programs, but a way to make a
    /// small zip unpack to very much.
    #[error("the entry {:?} overlaps another one", shown(.name))]
    Overlap {
        /// The name of the entry.
        name: Box<[u8]>,
    },
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

/// A difference between the content of an entry and what the zip states of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Damage {
    /// Its own header is not where the list says.
    #[error("its header is missing")]
    NoHeader,
    /// The content is encrypted; the programs cannot read it either.
    #[error("it is encrypted")]
    Encrypted,
    /// The content ends before the stated size.
    #[error("it ends after {found} of {stated} bytes")]
    TooShort {
        /// The stated size in bytes.
        stated: u64,
        /// The number of bytes that there are.
        found: u64,
    },
    /// The content goes on behind the stated size.
    #[error("it has more than the stated {stated} bytes")]
    TooLong {
        /// The stated size in bytes.
        stated: u64,
    },
    /// Its compressed data ends before its own end mark, or the checksum behind it is missing.
    #[error("it is cut off")]
    CutOff,
    /// The compressed data cannot be decompressed.
    #[error("its compressed data is corrupt")]
    Corrupt,
    /// The checksum is another one.
    #[error("its checksum is {found:08x}, not the stated {stated:08x}")]
    Checksum {
        /// The CRC-32 that the zip states.
        stated: u32,
        /// The CRC-32 of the content.
        found: u32,
    },
}

fn shown(name: &[u8]) -> std::borrow::Cow<'_, str> {
    String::from_utf8_lossy(name)
}
