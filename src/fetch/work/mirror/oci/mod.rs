//! An OCI image layout for each provider, beside the mirror: `OUT/HOST/NAMESPACE/TYPE/` with `oci-layout`,
//! `index.json` and `blobs/sha256/`.
//!
//! Zips are copied from the mirror and not linked, because a program that writes to a hard link changes both files. A
//! blob is named by its hash, and an existing blob is used only if it has that hash. Invariant: `index.json` is written
//! last, so it never names a missing blob.

mod documents;
mod prune;

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io::{self, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde_json::Value;

use self::documents::{
    BlobName, LayoutDocument, MARKER, blob, configuration, package_entry, package_manifest,
    references, version_index,
};
use super::copy::{self, FileCopyError};
use super::directory::MirrorDirectory;
use super::layout::{INDEX, provider_dir, zip_name};
use super::{ExistingCheck, MirroredForm, MirroredRelease, MirroringError};
use crate::addr::ProviderAddr;
use crate::hash;
use crate::parallel;
use crate::platform::Platform;
use crate::sources::oci::media::MAX_MANIFEST_BYTES;
use crate::version::Version;
use crate::world::{Disk, FileKind};

/// The file that marks a directory as an image layout.
const MARKER_NAME: &str = "oci-layout";

/// Image layouts below one directory.
pub(super) struct OciLayouts<'a> {
    /// The directory of all layouts.
    pub(super) out: MirrorDirectory<'a>,
    pub(super) mirror: &'a MirrorDirectory<'a>,
}

/// A zip of the mirror that is placed in a layout.
struct LayoutPackage<'a> {
    version: &'a Version,
    platform: &'a Platform,
    file_name: String,
    zip: BlobName,
}

/// Opens the directory of the layouts; `None` if none are wanted.
pub(super) fn layouts<'a>(
    disk: &'a dyn Disk,
    mirror: &'a MirrorDirectory<'a>,
) -> Result<Option<OciLayouts<'a>>, MirroringError> {
    let Some(dir) = mirror.settings.oci_layout else {
        return Ok(None);
    };
    let out = MirrorDirectory::open(disk, dir, mirror.settings)?;
    Ok(Some(OciLayouts { out, mirror }))
}

impl OciLayouts<'_> {
    /// Writes the layout of a provider where it differs, `index.json` last; returns the files that differed.
    ///
    /// The versions of an earlier run stay, and the platforms of a version whose blobs are right.
    ///
    /// # Errors
    /// The first path that cannot be read or written.
    pub(super) fn write(
        &self,
        provider: &ProviderAddr,
        releases: &[&MirroredRelease],
    ) -> Result<BTreeSet<PathBuf>, MirroringError> {
        let packages = packages(provider, releases);
        let mut differing = BTreeSet::new();
        if packages.is_empty() {
            return Ok(differing);
        }
        let dir = provider_dir(&self.out.path, provider);
        let is_there = |name: &str| self.out.disk.kind(&dir.join(name)).is_ok();
        // The marker is written first, so an index without a marker belongs to something else.
        // A network mirror has a file of this name, too.
        if is_there(INDEX) && !is_there(MARKER_NAME) {
            return Err(MirroringError::NoLayout { path: dir });
        }
        let blobs = blobs_dir(&dir);
        let (disk, settings) = (self.out.disk, self.out.settings);
        if self.out.writes() {
            disk.make_directory(&blobs)
                .map_err(|cause| self.out.failure(&blobs, "written", cause))?;
            for path in [blobs.join(INDEX), dir.join(INDEX)] {
                disk.sweep(&path);
            }
        }
        let zips = provider_dir(&self.mirror.path, provider);
        let place_zips = |check: ExistingCheck| {
            parallel::map(settings.jobs, &packages, |package| {
                self.place_zip(&zips, &blobs, package, check)
            })
        };
        // Done without the right to write: otherwise other runs would wait while gigabytes are copied.
        for placed in place_zips(settings.existing) {
            differing.extend(placed?);
        }
        let held = self.out.held(&dir)?;
        // Repeated, because a run that prunes may have removed the blobs meanwhile: no index names them yet.
        for placed in place_zips(ExistingCheck::Sizes) {
            differing.extend(placed?);
        }
        differing.extend(self.place_document(&blobs, &configuration())?);
        let mut tags = documents::tags(&self.out.read(&dir.join(INDEX))?.unwrap_or_default());
        // Tags of versions that this run does not name stay unchecked: another run has placed them.
        for version in BTreeSet::from_iter(packages.iter().map(|package| package.version)) {
            let of_version = packages.iter().filter(|package| package.version == version);
            let tag = tags.keyed.get(version);
            let index = self.place_version(&blobs, tag, of_version, &mut differing)?;
            tags.set(version, &index);
        }
        for (name, text) in [(MARKER_NAME, MARKER), (INDEX, &tags.text())] {
            let path = dir.join(name);
            differing.extend(self.out.replace(held.as_ref(), path, text)?);
        }
        Ok(differing)
    }

    /// Reads a document that is kept as a blob; `None` unless it has the hash that names it.
    fn document(&self, blobs: &Path, name: &BlobName) -> Option<Vec<u8>> {
        let path = blobs.join(name.name.value());
        let text = self.out.disk.read(&path, MAX_MANIFEST_BYTES).ok()?;
        let found = hash::zh(&*text).ok()?;
        (found == name.name).then_some(text)
    }

    /// Writes the manifests of a version's packages and the index that lists them; returns the index. Other entries of
    /// the index that a tag leads to stay, without packages that have a wrong blob.
    fn place_version<'p>(
        &self,
        blobs: &Path,
        tag: Option<&Value>,
        packages: impl Iterator<Item = &'p LayoutPackage<'p>>,
        differing: &mut BTreeSet<PathBuf>,
    ) -> Result<LayoutDocument, MirroringError> {
        // A wrong index is ignored: otherwise its packages would be pushed under the right tag.
        let index = tag
            .and_then(blob)
            .and_then(|name| self.document(blobs, &name));
        let mut entries = documents::packages(&index.unwrap_or_default());
        entries.keyed.retain(|_, entry| {
            let manifest = blob(entry).and_then(|name| self.document(blobs, &name));
            let manifest: Value =
                serde_json::from_slice(&manifest.unwrap_or_default()).unwrap_or_default();
            let needed = references(&manifest);
            // `all` is true for an empty list, which a missing or damaged manifest has.
            !needed.is_empty()
                && needed
                    .iter()
                    .all(|name| self.has(blobs, name, self.out.settings.existing))
        });
        for package in packages {
            let manifest = package_manifest(&package.zip, &package.file_name);
            differing.extend(self.place_document(blobs, &manifest)?);
            let entry = package_entry(&manifest, package.platform);
            entries.keyed.insert(package.platform.clone(), entry);
        }
        let index = version_index(&entries.all());
        differing.extend(self.place_document(blobs, &index)?);
        Ok(index)
    }

    /// Returns true if a blob exists and passes the check.
    fn has(&self, blobs: &Path, name: &BlobName, check: ExistingCheck) -> bool {
        let path = blobs.join(name.name.value());
        // The target of a link may change after it was hashed, and reading a FIFO would never end.
        if !matches!(self.out.disk.kind(&path), Ok(FileKind::File)) {
            return false;
        }
        let is_right = || -> io::Result<bool> {
            let mut reader = self.out.disk.open(&path)?;
            if reader.seek(SeekFrom::End(0))? != name.bytes {
                return Ok(false);
            }
            if check == ExistingCheck::Sizes {
                return Ok(true);
            }
            reader.rewind()?;
            Ok(hash::zh(reader)? == name.name)
        };
        // A blob that cannot be read is written again; if that fails too, it is reported.
        is_right().unwrap_or(false)
    }

    /// Copies a zip into its blob; returns the path if it was missing or wrong.
    fn place_zip(
        &self,
        zips: &Path,
        blobs: &Path,
        package: &LayoutPackage<'_>,
        check: ExistingCheck,
    ) -> Result<Option<PathBuf>, MirroringError> {
        let path = blobs.join(package.zip.name.value());
        if self.has(blobs, &package.zip, check) {
            return Ok(None);
        }
        if self.out.writes() {
            // The zips of the mirror were hashed earlier in this run; the copy is hashed, since a zip may have changed.
            let zip = zips.join(&package.file_name);
            let disk = self.out.disk;
            let copied = copy::copy(disk.open(&zip), disk, blobs).map_err(|error| match error {
                FileCopyError::Read(cause) => self.out.failure(&zip, "read", cause),
                FileCopyError::Write(cause) => self.out.failure(&path, "written", cause),
            })?;
            if hash::zh_of_digest(&copied.digest) != package.zip.name {
                return Err(MirroringError::Changed { path: zip });
            }
            copied
                .file
                .place(OsStr::new(package.zip.name.value()))
                .map_err(|cause| self.out.failure(&path, "written", cause))?;
        }
        Ok(Some(path))
    }

    /// Writes a document into its blob; returns the path if it was missing or wrong.
    fn place_document(
        &self,
        blobs: &Path,
        document: &LayoutDocument,
    ) -> Result<Option<PathBuf>, MirroringError> {
        // The setting avoids reading gigabytes of zips; a document is small, so it is always hashed.
        if self.has(blobs, &document.blob(), ExistingCheck::Hashes) {
            return Ok(None);
        }
        let name = document.name.value();
        let path = blobs.join(name);
        if self.out.writes() {
            let placed = self.out.disk.draft(blobs).and_then(|mut draft| {
                draft.write_all(&document.text)?;
                draft.place(OsStr::new(name))
            });
            placed.map_err(|cause| self.out.failure(&path, "written", cause))?;
        }
        Ok(Some(path))
    }
}

/// Returns the zips of a provider that the mirror has and that are right.
fn packages<'r>(
    provider: &ProviderAddr,
    releases: &[&'r MirroredRelease],
) -> Vec<LayoutPackage<'r>> {
    let mut packages = Vec::new();
    for release in releases {
        let version = &release.release.version;
        for package in &release.packages {
            let is_right = package.state.is_right();
            if let (MirroredForm::Zip, true, Some(name), Some(bytes)) =
                (package.layout, is_right, &package.zh, package.bytes)
            {
                packages.push(LayoutPackage {
                    version,
                    platform: &package.platform,
                    file_name: zip_name(provider, version, &package.platform),
                    zip: BlobName {
                        name: name.clone(),
                        bytes,
                    },
                });
            }
        }
    }
    packages
}

fn blobs_dir(dir: &Path) -> PathBuf {
    dir.join("blobs").join("sha256")
}
