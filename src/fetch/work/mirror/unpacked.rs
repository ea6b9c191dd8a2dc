//! Unpacked packages: written beside their places, and hashed before they get their names.

use std::io::{Read, Seek};
use std::num::NonZeroUsize;
use std::path::Path;

use crate::archive::{ArchiveError, Limits, UnpackError, dir, unpack_files};
use crate::hash::Hash;
use crate::world::{Disk, DraftDirectory};

/// An unpacked package in a directory that has no name yet.
pub(super) struct UnpackedPackage<'d> {
    pub(super) draft: Box<dyn DraftDirectory + 'd>,
    /// The hash of its files as they are on the disk.
    pub(super) h1: Hash,
    /// The length of all files.
    pub(super) bytes: u64,
}

/// Unpacks a zip into a draft in the directory of its version, which is made if it is missing.
pub(super) fn unpack<'d>(
    disk: &'d dyn Disk,
    zip: impl Read + Seek,
    version_dir: &Path,
) -> Result<UnpackedPackage<'d>, UnpackError> {
    let mut draft = begin(disk, version_dir)?;
    unpack_files(zip, &Limits::PACKAGE, &mut *draft)?;
    Ok(hashed(disk, draft)?)
}

/// Copies an unpacked package into a draft in the directory of its version, which is made if it is missing.
pub(super) fn copy<'d>(
    files: &dyn Disk,
    disk: &'d dyn Disk,
    package: &Path,
    version_dir: &Path,
) -> Result<UnpackedPackage<'d>, UnpackError> {
    let mut draft = begin(disk, version_dir)?;
    dir::copy_files(files, package, &Limits::PACKAGE, &mut *draft)?;
    Ok(hashed(disk, draft)?)
}

fn begin<'d>(
    disk: &'d dyn Disk,
    version_dir: &Path,
) -> Result<Box<dyn DraftDirectory + 'd>, UnpackError> {
    disk.make_directory(version_dir)
        .and_then(|()| disk.draft_directory(version_dir))
        .map_err(UnpackError::Write)
}

/// Hashes the written files.
fn hashed<'d>(
    disk: &dyn Disk,
    draft: Box<dyn DraftDirectory + 'd>,
) -> Result<UnpackedPackage<'d>, ArchiveError> {
    // Read again from the disk: a file system may fold the case of names, and a disk may fail.
    let hashes = dir::hash_directory(disk, draft.path(), &Limits::PACKAGE, NonZeroUsize::MIN)?;
    Ok(UnpackedPackage {
        draft,
        h1: hashes.h1,
        bytes: hashes.files.iter().map(|file| file.size).sum(),
    })
}
