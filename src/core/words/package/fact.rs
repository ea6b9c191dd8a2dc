//! Known content of the zip with a `zh:` hash.

use super::PackageId;
use crate::hash::{Digest, Hash};
use crate::platform::Platform;

/// The content of the zip with a `zh:` hash: a function of its bytes, so it is true for ever.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    /// The `zh:` of the zip.
    pub zh: Hash,
    /// The `h1:` of its files, unpacked or not.
    pub h1: Hash,
    /// The length of the zip, in bytes.
    pub size: u64,
    /// The package that a signed list of checksums calls it.
    pub id: PackageId,
    /// The platforms that the same list has packages for, sorted; none if it names no other.
    pub offered: Vec<Platform>,
    /// The files that it holds, by name, if these are few; else none.
    pub files: Vec<PackedFile>,
}

impl Fact {
    /// Returns whether another fact says something else about the same zip.
    ///
    /// Zips are published under several names, so different names are no contradiction.
    #[must_use]
    pub fn contradicts(&self, other: &Self) -> bool {
        // The size too: it is a property of the same bytes (`store` rules 4.2).
        self.zh == other.zh && (self.h1 != other.h1 || self.size != other.size)
    }
}

/// A file of a package.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PackedFile {
    /// The path inside the package, with `/` between its parts.
    pub name: String,
    /// The SHA-256 of its content.
    pub digest: Digest,
}
