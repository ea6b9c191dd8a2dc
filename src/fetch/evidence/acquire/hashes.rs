//! The hashes of a package, zip or directory.

use crate::archive::FileDigest;
use crate::archive::dir::DirHashes;
use crate::archive::zip::{Oddity, ZipHashes};
use crate::hash::{CheckedPackage, Hash};

/// The hashes of a package.
#[derive(Clone, Debug)]
pub struct PackageHashes {
    /// The hash of its files: this is recorded.
    pub h1: Hash,
    /// None if the package was hashed as a directory.
    pub zip: Option<ZipIdentity>,
    /// Its files by name; none if they were not kept.
    pub files: Vec<FileDigest>,
}

/// The hashes of a zip besides that of its files.
#[derive(Clone, Debug)]
pub struct ZipIdentity {
    /// The hash of its bytes.
    pub zh: Hash,
    /// The hash of its members, with entries of directories: the programs check it before they unpack the zip.
    pub member_h1: Hash,
    /// Properties about whose hash programs disagree.
    pub oddities: Vec<Oddity>,
}

impl From<DirHashes> for PackageHashes {
    fn from(hashes: DirHashes) -> Self {
        Self {
            h1: hashes.h1,
            zip: None,
            files: hashes.files,
        }
    }
}

impl From<ZipHashes> for PackageHashes {
    fn from(hashes: ZipHashes) -> Self {
        Self {
            h1: hashes.h1,
            zip: Some(ZipIdentity {
                zh: hashes.zh,
                member_h1: hashes.member_h1,
                oddities: hashes.oddities,
            }),
            files: hashes.files,
        }
    }
}

impl PackageHashes {
    /// Returns the hash of the bytes of a zip.
    #[must_use]
    pub fn zh(&self) -> Option<&Hash> {
        self.zip.as_ref().map(|zip| &zip.zh)
    }

    /// Returns the hash of the members of a zip.
    #[must_use]
    pub fn member_h1(&self) -> Option<&Hash> {
        self.zip.as_ref().map(|zip| &zip.member_h1)
    }

    /// Returns the package as `init` compares it with a lock entry.
    #[must_use]
    pub fn to_install(&self) -> CheckedPackage<'_> {
        match &self.zip {
            Some(ZipIdentity { zh, member_h1, .. }) => CheckedPackage::Zip { zh, member_h1 },
            None => CheckedPackage::Unpacked { h1: &self.h1 },
        }
    }
}
