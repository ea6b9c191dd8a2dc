//! Packages that are there already: believed only if their hash is right.

use std::collections::BTreeMap;
use std::io::{self, SeekFrom};
use std::path::Path;

use super::ExistingCheck;
use super::layout::{version_document, zip_name};
use super::union::WantedRelease;
use crate::archive::zip::hash_members;
use crate::archive::{ArchiveError, Limits};
use crate::hash::{self, Hash, Hashes, Scheme};
use crate::locker::TrustedFacts;
use crate::platform::Platform;
use crate::sources::network_mirror::stated_hashes;
use crate::store::Facts;
use crate::world::{Disk, FileKind};

/// Maximum size of a document of the mirror, in bytes.
pub(super) const MAX_DOCUMENT_BYTES: u64 = 4 * 1024 * 1024;

/// A zip with its hashes.
#[derive(Clone, Debug)]
pub(super) struct HashedZip {
    pub(super) zh: Hash,
    pub(super) h1: Hash,
    pub(super) bytes: u64,
}

/// A file in the place of a package.
pub(super) enum PresentZip {
    /// No file is there.
    None,
    Hashed(HashedZip),
    /// The file is no zip of a package, for this reason.
    Unreadable(String),
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
    wanted: &WantedRelease<'_>,
) -> BTreeMap<Platform, Hashes> {
    let path = provider_dir.join(version_document(&wanted.release.version));
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
    ) -> PresentZip {
        let release = &wanted.release;
        let name = zip_name(&release.provider, &release.version, platform);
        let path = provider_dir.join(name);
        match self.disk.kind(&path) {
            Ok(FileKind::File) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => return PresentZip::None,
            // A FIFO would never end, and a directory is an unpacked package under a wrong name.
            Ok(_) => return PresentZip::Unreadable("it is no regular file".to_owned()),
            // The programs would follow it, but what it leads to may change after it was hashed.
            Err(_) if matches!(self.disk.link(&path), Ok(Some(_))) => {
                return PresentZip::Unreadable("it is a symbolic link".to_owned());
            }
            Err(error) => return PresentZip::Unreadable(error.to_string()),
        }
        let known = (self.existing == ExistingCheck::Sizes)
            .then(|| self.by_size(&path, wanted, stated))
            .flatten();
        if let Some(known) = known {
            return PresentZip::Hashed(known);
        }
        match self.hash(&path) {
            Ok(hashed) => PresentZip::Hashed(hashed),
            Err(error) => PresentZip::Unreadable(error.to_string()),
        }
    }

    /// Returns the hashes of a zip that is as long as a fact says that the stated and recorded one is.
    fn by_size(
        &self,
        path: &Path,
        wanted: &WantedRelease<'_>,
        stated: Option<&Hashes>,
    ) -> Option<HashedZip> {
        // The document is as easily replaced as the zip, so it only chooses among hashes that a lock file records.
        let zh = stated?.of(Scheme::Zh).find(|zh| wanted.records(zh))?;
        let fact = &self.trusted.find(self.facts, zh)?.fact;
        let bytes = self.disk.open(path).ok()?.seek(SeekFrom::End(0)).ok()?;
        (bytes == fact.size).then(|| HashedZip {
            zh: zh.clone(),
            h1: fact.h1.clone(),
            bytes,
        })
    }

    /// Hashes a zip; a fact about its bytes replaces a look at its content.
    pub(super) fn hash(&self, path: &Path) -> Result<HashedZip, ArchiveError> {
        let mut reader = self.disk.open(path)?;
        let zh = hash::zh(&mut reader)?;
        let bytes = reader.seek(SeekFrom::End(0))?;
        let h1 = match self.trusted.find(self.facts, &zh) {
            Some(stored) => stored.fact.h1.clone(),
            // Read a second time only for bytes that are new to this machine.
            None => hash_members(zh.clone(), reader, &Limits::PACKAGE)?.h1,
        };
        Ok(HashedZip { zh, h1, bytes })
    }
}
