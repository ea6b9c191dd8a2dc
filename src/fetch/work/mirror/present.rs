//! Packages that are there already, as zips and as directories; they are used only if their hash is right.

use std::collections::BTreeMap;
use std::io::{self, SeekFrom};
use std::num::NonZeroUsize;
use std::path::Path;

use super::ExistingCheck;
use super::layout::{version_document, zip_name};
use super::union::WantedRelease;
use crate::acquire::TrustedFacts;
use crate::archive::dir::DirHashes;
use crate::archive::zip::hash_members;
use crate::archive::{ArchiveError, Limits, dir, has_executable};
use crate::hash::{self, Hash, Hashes, Scheme};
use crate::platform::Platform;
use crate::sources::network_mirror::stated_hashes;
use crate::store::Facts;
use crate::version::Version;
use crate::world::{Disk, FileKind};

/// Maximum size of a document of the mirror, in bytes.
pub(super) const MAX_DOCUMENT_BYTES: u64 = 4 * 1024 * 1024;

/// The hashes of a package in either form.
#[derive(Clone, Debug)]
pub(super) struct MirroredHashes {
    /// The hash of the zip; `None` for an unpacked package.
    pub(super) zh: Option<Hash>,
    pub(super) h1: Hash,
    /// The length of the zip, or of all files of the directory.
    pub(super) bytes: u64,
}

impl MirroredHashes {
    pub(super) fn of_directory(hashed: DirHashes) -> Self {
        Self {
            zh: None,
            h1: hashed.h1,
            bytes: hashed.files.iter().map(|file| file.size).sum(),
        }
    }
}

/// The content of the place of a package.
pub(super) enum Present {
    None,
    Hashed(MirroredHashes),
    /// A directory with the program of the provider, whose files were not read.
    Unhashed,
    /// No package, for this reason.
    Unreadable(String),
    /// A zip that cannot be read as one, for this reason; its bytes have the `zh:`.
    Damaged(Hash, String),
}

/// The content of both places of a package; a form that is not wanted is not read.
pub(super) struct PresentPackage {
    pub(super) zip: Present,
    pub(super) directory: Present,
}

/// The view of what is there, and how it is checked.
pub(super) struct PresentCheck<'a> {
    pub(super) disk: &'a dyn Disk,
    pub(super) facts: &'a dyn Facts,
    pub(super) trusted: TrustedFacts,
    pub(super) existing: ExistingCheck,
}

/// Reads what `VERSION.json` states of each platform.
pub(super) fn stated(
    disk: &dyn Disk,
    provider_dir: &Path,
    version: &Version,
) -> BTreeMap<Platform, Hashes> {
    let path = provider_dir.join(version_document(version));
    disk.read(&path, MAX_DOCUMENT_BYTES)
        .map(|document| stated_hashes(&document))
        .unwrap_or_default()
}

impl PresentCheck<'_> {
    /// Hashes the zip of a platform; `stated` is what `VERSION.json` says of it.
    pub(super) fn zip(
        &self,
        provider_dir: &Path,
        wanted: &WantedRelease<'_>,
        platform: &Platform,
        stated: Option<&Hashes>,
    ) -> Present {
        let release = &wanted.release;
        let name = zip_name(&release.provider, &release.version, platform);
        let path = provider_dir.join(name);
        // Reading a FIFO would never end, and a directory is not a zip.
        if let Some(other) = self.unless(FileKind::File, &path, "it is not a regular file") {
            return other;
        }
        // An attacker who can replace the zip can replace the document, so it only selects a recorded hash.
        if self.existing == ExistingCheck::Sizes
            && let Some(stated) = stated
            && let Some(zh) = stated.of(Scheme::Zh).find(|zh| wanted.records(zh))
            && let Some(stored) = self.trusted.find(self.facts, zh)
            && let Ok(bytes) = self
                .disk
                .open(&path)
                .and_then(|mut zip| zip.seek(SeekFrom::End(0)))
            && bytes == stored.fact.size
        {
            let (zh, h1) = (Some(zh.clone()), stored.fact.h1.clone());
            return Present::Hashed(MirroredHashes { zh, h1, bytes });
        }
        match self.hash(&path) {
            Ok(hashed) => Present::Hashed(hashed),
            Err((Some(zh), error)) => Present::Damaged(zh, error.to_string()),
            Err((None, error)) => Present::Unreadable(error.to_string()),
        }
    }

    /// Hashes the unpacked package of a platform.
    pub(super) fn directory(
        &self,
        version_dir: &Path,
        wanted: &WantedRelease<'_>,
        platform: &Platform,
    ) -> Present {
        let path = version_dir.join(platform.to_string());
        if let Some(other) = self.unless(FileKind::Directory, &path, "it is not a directory") {
            return other;
        }
        if self.existing == ExistingCheck::Sizes {
            let entries = self.disk.list(&path).unwrap_or_default();
            let names = entries.iter().map(|entry| entry.name.as_encoded_bytes());
            // The directory got its name in one step, so it is complete unless another program changed it.
            return if has_executable(names, wanted.release.provider.type_name()) {
                Present::Unhashed
            } else {
                Present::Unreadable("it has no program of the provider".to_owned())
            };
        }
        // Packages are hashed in parallel, so the files of a package are read by one thread.
        match dir::hash_directory(self.disk, &path, &Limits::PACKAGE, NonZeroUsize::MIN) {
            Ok(hashed) => Present::Hashed(MirroredHashes::of_directory(hashed)),
            Err(error) => Present::Unreadable(error.to_string()),
        }
    }

    /// Returns the state of a path that is not of a kind; `None` if it is.
    fn unless(&self, kind: FileKind, path: &Path, other: &str) -> Option<Present> {
        match self.disk.kind(path) {
            Ok(found) if found == kind => None,
            Ok(_) => Some(Present::Unreadable(other.to_owned())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Some(Present::None),
            // The programs would follow the link, but its target may change after it was hashed.
            Err(_) if matches!(self.disk.link(path), Ok(Some(_))) => {
                Some(Present::Unreadable("it is a symbolic link".to_owned()))
            }
            Err(error) => Some(Present::Unreadable(error.to_string())),
        }
    }

    /// Hashes a zip; a fact about its bytes replaces a look at its content.
    ///
    /// # Errors
    /// The reason why it cannot be read, with the `zh:` of its bytes if they could be hashed.
    pub(super) fn hash(&self, path: &Path) -> Result<MirroredHashes, (Option<Hash>, ArchiveError)> {
        let hashed = self.disk.open(path).and_then(|mut reader| {
            let zh = hash::zh(&mut reader)?;
            let bytes = reader.seek(SeekFrom::End(0))?;
            Ok((reader, zh, bytes))
        });
        let (reader, zh, bytes) = hashed.map_err(|error| (None, error.into()))?;
        let h1 = match self.trusted.find(self.facts, &zh) {
            Some(stored) => stored.fact.h1.clone(),
            // Read a second time only for bytes that are new to this machine.
            None => match hash_members(zh.clone(), reader, &Limits::PACKAGE) {
                Ok(hashes) => hashes.h1,
                Err(error) => return Err((Some(zh), error)),
            },
        };
        let zh = Some(zh);
        Ok(MirroredHashes { zh, h1, bytes })
    }
}
