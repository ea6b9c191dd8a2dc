//! Unpacked packages: written beside their places, and hashed before they get their names.

use std::io::{Read, Seek};
use std::num::NonZeroUsize;
use std::path::Path;

use super::present::MirroredHashes;
use crate::archive::{ArchiveError, Limits, UnpackError, dir, unpack_files};
use crate::world::{Disk, DraftDirectory};

/// An unpacked package in a directory that has no name yet.
pub(super) struct UnpackedPackage<'d> {
    pub(super) draft: Box<dyn DraftDirectory + 'd>,
    /// Those of its files as they are on the disk.
    pub(super) hashes: MirroredHashes,
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
    let hashed = dir::hash_directory(disk, draft.path(), &Limits::PACKAGE, NonZeroUsize::MIN)?;
    let hashes = MirroredHashes::of_directory(hashed);
    Ok(UnpackedPackage { draft, hashes })
}
