//! Packages: from a place to bytes, hashes, build information and facts.
//!
//! All rooms that download, hash or look into packages of providers do it here: the lock run, mirrors, and the
//! checks of packages on this machine. What a package is compared with is up to them.

mod facts;
mod hashes;

use std::io::{Read, Seek};
use std::num::NonZeroUsize;
use std::sync::Arc;

pub use self::facts::TrustedFacts;
pub use self::hashes::{PackageHashes, ZipIdentity};
use crate::archive::zip::{self, ZipHashes};
use crate::archive::{ArchiveError, Limits, dir, has_executable};
use crate::contents::ProgramContents;
use crate::hash::Hash;
use crate::package::Local;
use crate::parallel::Gate;
use crate::store::{Facts, StoredFact};
use crate::world::{Files, ReadSeek};

/// A fault that makes a package unusable before it is compared with anything.
#[derive(Debug, thiserror::Error)]
pub enum PackageFault {
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    #[error("its package has no program of the provider")]
    NoExecutable,
}

/// A zip that was looked into.
pub struct HashedZip {
    pub hashes: ZipHashes,
    pub contents: ProgramContents,
}

/// Hashes packages with the help of facts.
#[derive(Clone, Copy)]
pub struct Hasher<'a> {
    pub facts: &'a dyn Facts,
    /// Lets as many packages through as may be hashed at once, however many are being downloaded.
    pub turns: &'a Gate,
}

impl Hasher<'_> {
    /// Returns the fact that says what a zip holds, if one counts (`store` rules 1.2).
    #[must_use]
    pub fn known(
        &self,
        trusted: TrustedFacts,
        zh: &Hash,
        type_name: &str,
    ) -> Option<Arc<StoredFact>> {
        // The check for an executable was made for the type of the fact's provider.
        trusted
            .find(self.facts, zh)
            .filter(|stored| stored.fact.id.provider.type_name() == type_name)
    }

    /// Hashes the members of a zip whose bytes were hashed while they arrived.
    ///
    /// # Errors
    /// If it is no sound zip, or has no program of the provider.
    pub fn zip(
        &self,
        zh: Hash,
        reader: impl Read + Seek,
        type_name: &str,
    ) -> Result<HashedZip, PackageFault> {
        // Hashing occupies a core, so it waits for a turn.
        let _turn = self.turns.enter();
        let (hashes, contents) =
            zip::hash_members_and_contents(zh, reader, &Limits::PACKAGE, type_name)?;
        // Such a zip may carry the right name and a stated hash, and no program would ever start.
        if !has_executable(hashes.files.iter().map(|file| &*file.name), type_name) {
            return Err(PackageFault::NoExecutable);
        }
        Ok(HashedZip { hashes, contents })
    }

    /// Hashes a package on this machine. No fact is kept of it: a fact needs a zip that was downloaded from where its
    /// signed list is (`store` rules 1.1).
    ///
    /// # Errors
    /// If it cannot be read, or has no program of the provider.
    pub fn local(
        &self,
        files: &dyn Files,
        place: &Local,
        jobs: NonZeroUsize,
        type_name: &str,
    ) -> Result<PackageHashes, PackageFault> {
        let _turn = self.turns.enter();
        let hashes = hash_local(files, place, jobs)?;
        let mut names = hashes.files.iter().map(|file| &*file.name);
        if has_executable(&mut names, type_name) {
            Ok(hashes)
        } else {
            Err(PackageFault::NoExecutable)
        }
    }
}

/// Hashes a package on this machine, a directory with so many threads.
///
/// # Errors
/// If it cannot be read, or is no sound zip.
pub fn hash_local(
    files: &dyn Files,
    place: &Local,
    jobs: NonZeroUsize,
) -> Result<PackageHashes, ArchiveError> {
    match place {
        Local::Directory(path) => {
            Ok(dir::hash_directory(files, path, &Limits::PACKAGE, jobs)?.into())
        }
        Local::Archive(_) => Ok(zip::hash_zip(open(files, place)?, &Limits::PACKAGE)?.into()),
    }
}

/// Reads the build information of the program in a package on this machine.
///
/// # Errors
/// If the package cannot be read.
pub fn local_contents(
    files: &dyn Files,
    place: &Local,
    type_name: &str,
) -> Result<ProgramContents, ArchiveError> {
    match place {
        Local::Directory(path) => dir::program_contents(files, path, &Limits::PACKAGE, type_name),
        Local::Archive(_) => {
            zip::program_contents(open(files, place)?, &Limits::PACKAGE, type_name)
        }
    }
}

fn open(files: &dyn Files, place: &Local) -> Result<Box<dyn ReadSeek>, ArchiveError> {
    files
        .open(place.path())
        .map_err(|cause| ArchiveError::Path {
            path: place.path().to_owned(),
            cause,
        })
}
