//! Writing bundles: the packages of a mirror that a run needs, streamed into one file.

use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::Path;

use super::manifest::Manifest;
use super::{Bundle, BundleError, BundledLock, BundledPackage, MANIFEST_NAME, member};
use crate::hash::{self, Digest, hex_of_digest};
use crate::mirror::copy::{FileCopyError, copy_into};
use crate::mirror::directory::MirrorDirectory;
use crate::mirror::layout::{provider_dir, zip_name};
use crate::mirror::{MirrorOutcome, MirrorSettings, MirroredForm, MirroringError};
use crate::package::PackageId;
use crate::world::Disk;

/// A bundle to write.
#[derive(Clone, Debug)]
pub struct BundleRequest<'a> {
    /// The file, in an existing directory.
    pub path: &'a Path,
    /// The lock files of the run, in any order.
    pub locks: Vec<BundledLock>,
    /// The bundle that it builds on: the packages of that bundle are left out.
    pub base: Option<&'a Bundle>,
}

/// A bundle that was written, or that existed with the same bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenBundle {
    /// Number of packages in the bundle.
    pub packages: usize,
    /// Number of packages that earlier bundles have.
    pub left_out: usize,
    /// The size of the file.
    pub bytes: u64,
    /// The SHA-256 of the manifest.
    pub manifest: Digest,
    /// The file is new, or its bytes changed.
    pub is_changed: bool,
}

/// Writes the packages of an outcome into a bundle. A file with the same bytes is not written again.
///
/// # Errors
/// If a package or the file cannot be read or written, or a package changed since it was hashed; then the file is
/// unchanged.
pub fn write_bundle(
    disk: &dyn Disk,
    settings: &MirrorSettings<'_>,
    outcome: &MirrorOutcome,
    mut request: BundleRequest<'_>,
) -> Result<WrittenBundle, MirroringError> {
    let path = request.path;
    // A bundle of the same lock files has the same bytes, in any order of the roots.
    request.locks.sort();
    request.locks.dedup();
    let base = request.base;
    let [packages, left_out] = Manifest::split(packages(outcome), base.map(|base| &base.manifest));
    let manifest = Manifest {
        base: base.map(|base| hex_of_digest(base.digest())),
        lock_files: request.locks,
        packages,
        left_out,
        ..Manifest::default()
    };
    let unusable = |cause: BundleError| MirroringError::Bundle {
        path: path.to_owned(),
        cause,
    };
    let unwritable = |cause| MirroringError::io(disk, path, "written", cause);
    let text = manifest.to_bytes().map_err(unusable)?;
    let mirror = MirrorDirectory::open(disk, settings.dir, settings)?;
    disk.sweep(path);
    let name = path
        .file_name()
        .ok_or_else(|| unwritable(io::ErrorKind::InvalidInput.into()))?;
    // The parent of a bare file name is empty, which is not the path of a directory.
    let dir = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    let mut draft = disk.draft(dir).map_err(unwritable)?;
    let packages = &manifest.packages;
    write_members(&mirror, &text, packages, &mut draft, unusable, unwritable)?;
    let is_changed = match disk.open(path) {
        Ok(old) => {
            draft.rewind().map_err(unwritable)?;
            let new = hash::zh(&mut draft).map_err(unwritable)?;
            // A file that cannot be read is replaced.
            !hash::zh(old).is_ok_and(|old| old == new)
        }
        Err(_) => true,
    };
    let bytes = draft.seek(SeekFrom::End(0)).map_err(unwritable)?;
    if is_changed {
        draft.place(name).map_err(unwritable)?;
    }
    Ok(WrittenBundle {
        packages: manifest.packages.len(),
        left_out: manifest.left_out.len(),
        bytes,
        manifest: hash::sha256(&text),
        is_changed,
    })
}

/// Writes the text of the manifest, then packages, which are copied out of the mirror.
fn write_members(
    mirror: &MirrorDirectory<'_>,
    text: &[u8],
    packages: &[BundledPackage],
    draft: impl Write,
    unusable: impl Fn(BundleError) -> MirroringError + Copy,
    unwritable: impl Fn(io::Error) -> MirroringError + Copy,
) -> Result<(), MirroringError> {
    let mut out = BufWriter::new(draft);
    let size = text.len() as u64;
    let header = member::header(MANIFEST_NAME, size).map_err(unusable)?;
    for part in [&header, text, member::padding(size)] {
        out.write_all(part).map_err(unwritable)?;
    }
    for package in packages {
        let header = member::header(&package.name(), package.bytes).map_err(unusable)?;
        out.write_all(&header).map_err(unwritable)?;
        let PackageId {
            provider,
            version,
            platform,
        } = &package.id;
        let zip = provider_dir(&mirror.path, provider).join(zip_name(provider, version, platform));
        let unreadable = |cause| mirror.failure(&zip, "read", cause);
        let reader = mirror.disk.open(&zip).map_err(unreadable)?;
        // Reading a file that keeps growing would never end.
        let copied = copy_into(reader.take(package.bytes + 1), &mut out);
        let (digest, bytes) = copied.map_err(|error| match error {
            FileCopyError::Read(cause) => unreadable(cause),
            FileCopyError::Write(cause) => unwritable(cause),
        })?;
        // Hashed again during the copy: another process may have replaced the file since it was hashed.
        if bytes != package.bytes || hash::zh_of_digest(&digest) != package.zh {
            return Err(MirroringError::Changed { path: zip });
        }
        out.write_all(member::padding(package.bytes))
            .map_err(unwritable)?;
    }
    // Flushed here, because a `BufWriter` that is dropped hides the error of its last bytes.
    out.write_all(&member::END)
        .and_then(|()| out.flush())
        .map_err(unwritable)
}

/// Returns the packages of an outcome, in the order of a bundle.
fn packages(outcome: &MirrorOutcome) -> Vec<BundledPackage> {
    let mut packages: Vec<BundledPackage> = outcome
        .releases
        .iter()
        .flat_map(|release| {
            release
                .packages
                .iter()
                // A `zh:` is the hash of a zip, which an unpacked package does not have.
                .filter(|package| package.layout == MirroredForm::Zip)
                .filter_map(|package| {
                    Some(BundledPackage {
                        id: PackageId {
                            provider: release.release.provider.clone(),
                            version: release.release.version.clone(),
                            platform: package.platform.clone(),
                        },
                        zh: package.zh.clone()?,
                        h1: package.h1.clone()?,
                        bytes: package.bytes?,
                    })
                })
        })
        .collect();
    // Readers refuse any other order, because the order excludes duplicates.
    packages.sort_by(|a, b| a.id.cmp(&b.id));
    packages
}
