//! Writing bundles: the packages of a mirror that a run needs, streamed into one file.

use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::Path;

use super::manifest::Manifest;
use super::{Bundle, BundleError, BundledLock, BundledPackage, MANIFEST_NAME, member};
use crate::hash::{self, Digest, READ_BUFFER_BYTES, Sha256Stream};
use crate::mirror::layout::{provider_dir, zip_name};
use crate::mirror::{MirrorOutcome, MirrorSettings, MirroredForm, MirroringError, opened};
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

/// The content of a bundle that is being written.
struct Content<'a> {
    /// The disk with the mirror, which follows no link.
    mirror: &'a dyn Disk,
    dir: &'a Path,
    manifest: &'a Manifest,
    manifest_bytes: &'a [u8],
    /// The file, for messages.
    path: &'a Path,
}

/// The writer of an archive.
type ArchiveWriter<'a> = Counting<BufWriter<&'a mut dyn Write>>;

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
        base: base.map(|base| *base.digest()),
        locks: request.locks,
        packages,
        left_out,
    };
    let unusable = |cause: BundleError| MirroringError::Bundle {
        path: path.to_owned(),
        cause,
    };
    let manifest_bytes = manifest.to_bytes().map_err(unusable)?;
    let (dir, mirror) = opened(disk, settings.dir, settings)?;
    let content = Content {
        mirror,
        dir: &dir,
        manifest: &manifest,
        manifest_bytes: &manifest_bytes,
        path,
    };
    let written = |bytes, is_changed| WrittenBundle {
        packages: manifest.packages.len(),
        left_out: manifest.left_out.len(),
        bytes,
        manifest: hash::sha256(&manifest_bytes),
        is_changed,
    };
    disk.sweep(path);
    if let Some(bytes) = content.same_in(disk) {
        return Ok(written(bytes, false));
    }
    let unwritable = |cause| MirroringError::io(disk, path, "written", cause);
    let name = path.file_name().ok_or_else(|| {
        let cause = io::Error::from(io::ErrorKind::InvalidInput);
        unwritable(cause)
    })?;
    // The parent of a bare file name is empty, which is not the path of a directory.
    let dir = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    let mut draft = disk.draft(dir).map_err(unwritable)?;
    let bytes = content.write(&mut draft)?;
    draft.place(name).map_err(unwritable)?;
    Ok(written(bytes, true))
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
                .filter(|package| package.form == MirroredForm::Zip)
                .filter_map(|package| {
                    Some(BundledPackage {
                        id: PackageId {
                            provider: release.release.provider.clone(),
                            version: release.release.version.clone(),
                            platform: package.platform.clone(),
                        },
                        zh: package.zh.clone()?,
                        h1: package.h1.clone()?,
                        bytes: package.bytes,
                    })
                })
        })
        .collect();
    // Readers refuse any other order, because the order excludes duplicates.
    packages.sort_by(|a, b| a.id.cmp(&b.id));
    packages
}

impl Content<'_> {
    /// Returns the size of the file if it has these bytes already.
    fn same_in(&self, disk: &dyn Disk) -> Option<u64> {
        let mut old = disk.open(self.path).ok()?;
        let length = old.seek(SeekFrom::End(0)).ok()?;
        old.rewind().ok()?;
        // The manifest comes first and names every hash, so different bundles usually differ at the beginning.
        let mut comparison = Comparison {
            old,
            buffer: Vec::new(),
        };
        let bytes = self.write(&mut comparison).ok()?;
        (bytes == length).then_some(length)
    }

    /// Writes the archive, and returns its size.
    fn write(&self, out: &mut dyn Write) -> Result<u64, MirroringError> {
        let mut out = Counting {
            out: BufWriter::new(out),
            bytes: 0,
        };
        let manifest = self.manifest_bytes;
        self.begin(&mut out, MANIFEST_NAME, manifest.len() as u64)?;
        out.write_all(manifest)
            .and_then(|()| out.pad())
            .map_err(|cause| self.unwritable(cause))?;
        let mut buffer = vec![0; READ_BUFFER_BYTES];
        for package in &self.manifest.packages {
            self.begin(&mut out, &package.name(), package.bytes)?;
            self.copy(&mut out, package, &mut buffer)?;
        }
        // Flushed here, because a `BufWriter` that is dropped hides the error of its last bytes.
        out.write_all(&member::END)
            .and_then(|()| out.flush())
            .map_err(|cause| self.unwritable(cause))?;
        Ok(out.bytes)
    }

    /// Writes the header of a member.
    fn begin(
        &self,
        out: &mut ArchiveWriter<'_>,
        name: &str,
        bytes: u64,
    ) -> Result<(), MirroringError> {
        let header = member::header(name, bytes).map_err(|cause| MirroringError::Bundle {
            path: self.path.to_owned(),
            cause,
        })?;
        out.write_all(&header)
            .map_err(|cause| self.unwritable(cause))
    }

    /// Copies a package out of the mirror.
    fn copy(
        &self,
        out: &mut ArchiveWriter<'_>,
        package: &BundledPackage,
        buffer: &mut [u8],
    ) -> Result<(), MirroringError> {
        let PackageId {
            provider,
            version,
            platform,
        } = &package.id;
        let zip = provider_dir(self.dir, provider).join(zip_name(provider, version, platform));
        let unreadable = |cause| MirroringError::io(self.mirror, &zip, "read", cause);
        let mut reader = self.mirror.open(&zip).map_err(unreadable)?;
        let mut sha = Sha256Stream::default();
        let mut bytes = 0;
        // Reading a file that keeps growing would never end.
        while bytes <= package.bytes {
            let count = match reader.read(buffer) {
                Ok(0) => break,
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(cause) => return Err(unreadable(cause)),
            };
            sha.update(&buffer[..count]);
            out.write_all(&buffer[..count])
                .map_err(|cause| self.unwritable(cause))?;
            bytes += count as u64;
        }
        // Hashed again during the copy: another process may have replaced the file since it was hashed.
        if bytes != package.bytes || hash::zh_of_digest(&sha.finish()) != package.zh {
            return Err(MirroringError::Changed { path: zip });
        }
        out.pad().map_err(|cause| self.unwritable(cause))
    }

    fn unwritable(&self, cause: io::Error) -> MirroringError {
        MirroringError::Io {
            path: self.path.to_owned(),
            more: 0,
            action: "written",
            cause,
        }
    }
}

/// A writer that counts its bytes.
struct Counting<W> {
    out: W,
    bytes: u64,
}

impl<W: Write> Counting<W> {
    /// Pads the last block of a member.
    fn pad(&mut self) -> io::Result<()> {
        let zeros = usize::try_from(member::padding(self.bytes)).expect("less than a block");
        self.write_all(&member::END[..zeros])
    }
}

impl<W: Write> Write for Counting<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.out.write(bytes)?;
        self.bytes += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// A writer that fails at the first byte that differs from an old file.
struct Comparison<R> {
    old: R,
    buffer: Vec<u8>,
}

impl<R: Read> Write for Comparison<R> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.buffer.resize(bytes.len(), 0);
        self.old.read_exact(&mut self.buffer)?;
        if self.buffer == bytes {
            Ok(bytes.len())
        } else {
            Err(io::ErrorKind::InvalidData.into())
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
