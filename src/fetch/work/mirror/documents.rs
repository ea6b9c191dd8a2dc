//! The documents of the network mirror protocol, as `providers mirror` writes them: two spaces, keys in the order
//! of their bytes, no line feed at the end. Beside its `h1:` a package has its `zh:` here, which the programs
//! accept as well (`sources` rules 8.4).

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::layout::{INDEX, ZipNames, provider_dir, version_document, zips};
use super::present::{MAX_DOCUMENT_BYTES, PresentCheck};
use super::{MirrorExtent, MirroredForm, MirroredPackage, MirroredRelease, MirroringError};
use crate::addr::ProviderAddr;
use crate::hash::{Hash, Hashes};
use crate::platform::Platform;
use crate::sources::network_mirror::stated_hashes;
use crate::version::Version;
use crate::world::{Disk, Exclusive, FileKind, Replacement};

/// The list of versions, `index.json`.
#[derive(Serialize)]
struct WrittenIndex {
    versions: BTreeMap<String, NoFields>,
}

#[derive(Serialize)]
struct NoFields {}

/// The packages of a version, `VERSION.json`.
#[derive(Serialize)]
struct WrittenArchives {
    archives: BTreeMap<String, WrittenArchive>,
}

#[derive(Serialize)]
struct WrittenArchive {
    hashes: Vec<Hash>,
    url: String,
}

/// The context of writing documents.
pub(super) struct DocumentRun<'a> {
    pub(super) dir: &'a Path,
    pub(super) extent: MirrorExtent,
    pub(super) check: PresentCheck<'a>,
    /// The disk that names links in messages.
    pub(super) files: &'a dyn Disk,
}

impl DocumentRun<'_> {
    /// Writes the documents of a provider where they differ, the index last; returns those that differed.
    ///
    /// A version that no release is about keeps its document.
    ///
    /// # Errors
    /// The first path that cannot be read or written.
    pub(super) fn write(
        &self,
        provider: &ProviderAddr,
        releases: &[&MirroredRelease],
    ) -> Result<Vec<PathBuf>, MirroringError> {
        let disk = self.check.disk;
        let dir = provider_dir(self.dir, provider);
        let unreadable = |cause| MirroringError::io(self.files, &dir, "read", cause);
        // Nothing of the provider was placed, or a link is there, which is never followed.
        if !matches!(disk.kind(&dir), Ok(FileKind::Directory)) {
            return Ok(Vec::new());
        }
        let index = dir.join(INDEX);
        // Held until the index is written: another run would list the packages that it knows, and not these.
        let held = match self.extent {
            MirrorExtent::Place => Some(disk.exclusive(&index).map_err(unreadable)?),
            MirrorExtent::DryRun | MirrorExtent::Check => None,
        };
        // The directory is listed under the right to write there, so that of two runs at once the last one
        // lists the packages of both.
        let zips = zips(disk, &dir, provider).map_err(unreadable)?;
        let mut differing = Vec::new();
        for release in releases {
            let version = &release.release.version;
            let path = dir.join(version_document(version));
            let archives = self.archives(&dir, &path, &zips, version, &release.packages);
            // An empty document would tell the programs that the version has no package for any platform.
            if !archives.archives.is_empty() {
                differing.extend(replace(
                    self.files,
                    disk,
                    held.as_ref(),
                    path,
                    &text(&archives),
                )?);
            }
        }
        let versions: BTreeMap<String, NoFields> = zips
            .keys()
            // A version without its document cannot be installed from a network mirror.
            .filter(|version| {
                let document = dir.join(version_document(version));
                matches!(disk.kind(&document), Ok(FileKind::File))
            })
            .map(|version| (version.to_string(), NoFields {}))
            .collect();
        if !versions.is_empty() {
            differing.extend(replace(
                self.files,
                disk,
                held.as_ref(),
                index,
                &text(&WrittenIndex { versions }),
            )?);
        }
        Ok(differing)
    }

    /// Lists the packages of a version that are there and right.
    fn archives(
        &self,
        dir: &Path,
        document: &Path,
        zips: &ZipNames,
        version: &Version,
        packages: &[MirroredPackage],
    ) -> WrittenArchives {
        let stated = self
            .check
            .disk
            .read(document, MAX_DOCUMENT_BYTES)
            .map(|bytes| stated_hashes(&bytes))
            .unwrap_or_default();
        let archives = zips
            .get(version)
            .into_iter()
            .flatten()
            .filter_map(|(platform, name)| {
                let hashes = self.hashes(&dir.join(name), platform, packages, &stated)?;
                let archive = WrittenArchive {
                    hashes: hashes.iter().cloned().collect(),
                    url: name.clone(),
                };
                Some((platform.to_string(), archive))
            })
            .collect();
        WrittenArchives { archives }
    }

    /// Returns the hashes of a zip: those of this run, else those that the document states already, else
    /// computed ones; `None` for what is not the package.
    fn hashes(
        &self,
        path: &Path,
        platform: &Platform,
        packages: &[MirroredPackage],
        stated: &BTreeMap<Platform, Hashes>,
    ) -> Option<Hashes> {
        let package = packages
            .iter()
            .find(|package| package.platform == *platform && package.form == MirroredForm::Zip);
        match package.map(|package| (package.state.is_right(), &package.h1, &package.zh)) {
            Some((true, Some(h1), Some(zh))) => Some([h1, zh].into_iter().cloned().collect()),
            // It is wrong or missing in this run, so the document must not offer it.
            Some(_) => None,
            None => {
                // A package that no lock file of this run needs was placed by another run, which stated its hashes.
                let known = stated.get(platform).filter(|hashes| !hashes.is_empty());
                known.cloned().or_else(|| {
                    let zip = self.check.hash(path).ok()?;
                    Some([zip.h1, zip.zh].into_iter().collect())
                })
            }
        }
    }
}

/// Replaces a document that differs; returns its path if it does. Writes nothing without the right to write in its
/// directory.
///
/// # Errors
/// If it cannot be read or written; `files` is the disk that names links.
pub(super) fn replace(
    files: &dyn Disk,
    disk: &dyn Disk,
    held: Option<&Exclusive>,
    path: PathBuf,
    new: &[u8],
) -> Result<Option<PathBuf>, MirroringError> {
    let old = match disk.read(&path, MAX_DOCUMENT_BYTES) {
        Ok(old) => Some(old),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(cause) => return Err(MirroringError::io(files, &path, "read", cause)),
    };
    // Not written again: caches in front of a mirror depend on the modification time.
    if old.as_deref() == Some(new) {
        return Ok(None);
    }
    if let Some(held) = held {
        let replacement = Replacement {
            path: &path,
            old: old.as_deref(),
            new,
        };
        disk.replace_held(held, replacement)
            .map_err(|cause| MirroringError::io(files, &path, "written", cause))?;
    }
    Ok(Some(path))
}

fn text(document: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec_pretty(document).expect("text and maps with keys of text")
}
