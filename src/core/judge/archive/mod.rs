//! Packages as lists of files with their digests, from a zip or from an unpacked directory.
//!
//! There are two `h1` of a zip, and they differ for unusual ones (rules 1): the *directory
//! hash* is what gets recorded after unpacking, the *member hash* is what a lock is checked against
//! before. [`zip::hash_zip`] gives both without unpacking anything. [`dir::hash_directory`] gives
//! the directory hash of what is on disk.
//!
//! Everything read here may be hostile. What the programs refuse is refused, and so is what could
//! make two readers see two different packages, or one reader run out of memory or time.

mod central;
pub mod dir;
mod end_record;
mod error;
mod executable;
mod layout;
mod member;
mod unpack;
pub mod zip;

pub mod rules {
    #![doc = include_str!("rules.md")]
}

pub use error::{ArchiveError, EntryFault};
pub use executable::{has_any_executable, has_executable};
pub use unpack::{UnpackError, UnpackedContent, UnpackedEntry, unpack_files, unpack_zip};

use crate::hash::Digest;

/// One file of a package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileDigest {
    /// The path inside the package, raw bytes, with `/` between its parts.
    pub name: Box<[u8]>,
    /// Length of the content in bytes.
    pub size: u64,
    /// SHA-256 of the content.
    pub digest: Digest,
}

/// Limits beyond which a package is refused as hostile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Entries of a zip, or files and directories of an unpacked package.
    pub entries: u64,
    /// Bytes of the list of entries at the end of a zip, which is held in memory.
    pub list_bytes: u64,
    /// Bytes that all entries of a zip have together when unpacked.
    pub unpacked_bytes: u64,
    /// Maximum size of all entries together, as a multiple of the size of the zip; not applied to the first
    /// [`FREE_UNPACKED_BYTES`].
    pub ratio: u64,
    /// Directories inside each other in an unpacked package.
    pub depth: usize,
}

/// Unpacked size without a check of the ratio, in bytes. Hashing that much takes a fraction of a second, so
/// that is no attack.
pub const FREE_UNPACKED_BYTES: u64 = 256 * 1024 * 1024;

/// A provider has a handful of files; those that bring their own run-time have some thousands. So
/// many with their names and digests take some 20 MB, which is what `verify` may use for a package.
const MAX_ENTRIES: u64 = 50_000;

/// 50,000 entries with names of 40 bytes.
const MAX_LIST_BYTES: u64 = 4 * 1024 * 1024;

/// The largest providers unpack to some 700 MB.
const MAX_UNPACKED_BYTES: u64 = 16 * 1024 * 1024 * 1024;

/// Programs shrink by a factor of 3 to 6, with sparse debug sections perhaps by 20; the most that
/// deflate can do is 1,032.
const MAX_RATIO: u64 = 200;

/// Deeper trees are links that lead into themselves, or an attack on a walker's stack.
const MAX_DEPTH: usize = 128;

/// The largest public repositories of modules have some 30,000 files.
const MAX_MODULE_ENTRIES: u64 = 200_000;

/// 200,000 entries with names of 80 bytes, and the other fields of each entry.
const MAX_MODULE_LIST_BYTES: u64 = 32 * 1024 * 1024;

/// The largest public repositories of modules hold some 300 MB.
const MAX_MODULE_BYTES: u64 = 2 * 1024 * 1024 * 1024;

impl Limits {
    /// The limits for provider packages; far above every real one.
    pub const PACKAGE: Self = Self {
        entries: MAX_ENTRIES,
        list_bytes: MAX_LIST_BYTES,
        unpacked_bytes: MAX_UNPACKED_BYTES,
        ratio: MAX_RATIO,
        depth: MAX_DEPTH,
    };

    /// The limits for zips of modules: a repository has more and longer names than a provider, and less in
    /// its files.
    pub const MODULE: Self = Self {
        entries: MAX_MODULE_ENTRIES,
        list_bytes: MAX_MODULE_LIST_BYTES,
        unpacked_bytes: MAX_MODULE_BYTES,
        ratio: MAX_RATIO,
        depth: MAX_DEPTH,
    };
}
