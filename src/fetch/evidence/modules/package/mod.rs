//! The files of one package, in memory.
//!
//! A package comes from an archive or a repository whose content is not trusted. Its files never touch the
//! disk: [`PackageTree`] implements [`Files`](crate::world::Files), follows the links of the package by itself,
//! and refuses every path that leads out. Contents that no configuration reads are not kept (rules 1.3).

mod build;
mod error;
mod glob;
mod read;
mod stored;
mod subdirectory;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::sync::Arc;

use crate::archive::FileDigest;
use crate::hash::{Digest, sha256};

pub use build::PackageBuilder;
pub use error::{ContentNotKept, PackageError};
pub use subdirectory::{SubdirectoryError, SubdirectoryPattern};

/// The most files, directories and links that a package may have; the largest public repositories of
/// modules have some 30,000.
pub const MAX_ENTRIES: usize = 200_000;

/// The most bytes that all paths of a package may have together.
pub const MAX_PATH_BYTES: usize = 64 << 20;

/// The largest file whose content is kept if its name is not that of configuration, in bytes.
pub const MAX_KEPT_FILE_BYTES: u64 = 256 << 10;

/// The largest file whose content is kept if its name is that of configuration, in bytes; no larger
/// configuration file is read from the disk either.
pub const MAX_KEPT_CONFIGURATION_BYTES: u64 = 16 << 20;

/// The most bytes of configuration that are kept of one package.
pub const MAX_ALL_CONFIGURATION_BYTES: u64 = 48 << 20;

/// The most bytes of other contents that are kept of one package.
pub const MAX_ALL_OTHERS_BYTES: u64 = 16 << 20;

/// The files of one package.
///
/// Paths are relative to the top of the package, which is the empty path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PackageTree {
    top: Directory,
}

/// The entries of a directory, by raw names: on Unix those of the file system, elsewhere UTF-8.
///
/// Invariant: no name is empty, `.` or `..`, or holds `/` or NUL.
type Directory = BTreeMap<Box<[u8]>, TreeNode>;

#[derive(Clone, Debug, PartialEq, Eq)]
enum TreeNode {
    Directory(Directory),
    File(FileContent),
    /// The target of the link, as it is written.
    Link(Box<[u8]>),
}

/// The content of a file of a package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileContent {
    /// The bytes, because the file may be read again.
    Kept(Arc<[u8]>),
    /// So many bytes, which are not kept, with their SHA-256 if they were read.
    Passed(u64, Option<Box<Digest>>),
}

impl FileContent {
    /// Makes a file whose bytes were read and are not kept.
    #[must_use]
    pub fn of_passed(bytes: &[u8]) -> Self {
        Self::Passed(bytes.len() as u64, Some(sha256(bytes).into()))
    }
}

impl PackageTree {
    /// Returns the digests of all files and links, as [`hash_module`](crate::archive::dir::hash_module) makes them of a
    /// directory; `None` if the content of a file was not read.
    #[must_use]
    pub fn digests(&self) -> Option<Vec<FileDigest>> {
        let mut rows = Vec::new();
        self.rows(&mut rows);
        rows.retain(|(name, _)| !name.split(|byte| *byte == b'/').any(|part| part == b".git"));
        let mut files = Vec::new();
        for (name, node) in rows {
            let (size, digest) = match node {
                TreeNode::Directory(_) => continue,
                TreeNode::File(FileContent::Kept(bytes)) => (bytes.len() as u64, sha256(bytes)),
                TreeNode::File(FileContent::Passed(bytes, digest)) => (*bytes, **digest.as_ref()?),
                TreeNode::Link(target) => (target.len() as u64, sha256(target)),
            };
            files.push(FileDigest {
                name: name.into(),
                size,
                digest,
            });
        }
        Some(files)
    }
}

/// Returns true if a name is that of a file which configuration is read from.
#[must_use]
pub fn is_configuration_name(name: &[u8]) -> bool {
    [".tf", ".tofu", ".json", ".tfvars", ".hcl"]
        .iter()
        .any(|ending| name.ends_with(ending.as_bytes()))
}

/// The room for contents that is left in a package.
#[derive(Clone, Debug)]
pub struct ContentRoom {
    configuration: u64,
    others: u64,
}

impl Default for ContentRoom {
    fn default() -> Self {
        Self {
            configuration: MAX_ALL_CONFIGURATION_BYTES,
            others: MAX_ALL_OTHERS_BYTES,
        }
    }
}

impl ContentRoom {
    /// Returns true if the content of a file is kept, whose room is taken then (rules 1.3).
    pub fn takes(&mut self, path: &[u8], bytes: u64) -> bool {
        let left = if is_configuration_name(path) {
            &mut self.configuration
        } else {
            &mut self.others
        };
        let is_kept = is_kept(path, bytes) && bytes <= *left;
        if is_kept {
            *left -= bytes;
        }
        is_kept
    }
}

/// Returns whether the content of a file may be kept, by its path and its length in bytes.
#[must_use]
pub fn is_kept(path: &[u8], bytes: u64) -> bool {
    let limit = if is_configuration_name(path) {
        MAX_KEPT_CONFIGURATION_BYTES
    } else {
        MAX_KEPT_FILE_BYTES
    };
    bytes <= limit
}

/// Returns a raw name as the system spells it; `None` where it cannot.
fn system_name(name: &[u8]) -> Option<OsString> {
    #[cfg(unix)]
    let spelled = Some(std::os::unix::ffi::OsStringExt::from_vec(name.to_vec()));
    #[cfg(not(unix))]
    let spelled = std::str::from_utf8(name).ok().map(OsString::from);
    spelled
}
