//! Reading bundles: an index of byte ranges, made from the manifest and the headers.

use std::collections::BTreeMap;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};

use tar::{Archive, Entries};

use super::manifest::Manifest;
use super::{BundleError, BundledPackage, MANIFEST_NAME, MAX_MANIFEST_BYTES, member};
use crate::hash::{Digest, Hashes, sha256};
use crate::package::PackageId;
use crate::world::Files;

/// Prefix of the reason for skipping a bundle whose package is in an earlier one.
pub(in crate::work::mirror) const LEFT_OUT: &str = "it leaves the package to an earlier bundle";

/// A bundle whose headers agree with its manifest; its packages are hashed when they are used.
#[derive(Debug)]
pub struct Bundle {
    path: PathBuf,
    digest: Digest,
    pub(super) manifest: Manifest,
    /// The offset of each package of the manifest.
    offsets: Vec<u64>,
}

impl Bundle {
    /// Opens a bundle, and reads its manifest and all headers.
    ///
    /// # Errors
    /// The first fault.
    pub fn open(files: &dyn Files, path: &Path) -> Result<Self, BundleError> {
        let mut file = files.open(path)?;
        Self::read(&mut file, path)
    }

    /// Reads the manifest and all headers of a bundle; `path` is the name of the file.
    ///
    /// # Errors
    /// The first fault.
    pub fn read(mut tar: impl Read + Seek, path: &Path) -> Result<Self, BundleError> {
        let length = tar.seek(SeekFrom::End(0))?;
        tar.rewind()?;
        let mut archive = Archive::new(tar);
        // Raw, because the crate would read the names that headers state into memory, of any length.
        let mut entries = archive.entries_with_seek()?.raw(true);
        let first = member::next(&mut entries, length)?;
        let Some((_, mut entry)) = first.filter(|(name, _)| name == MANIFEST_NAME) else {
            return Err(BundleError::NotTar("its first member is no manifest"));
        };
        // Checked before the manifest is read, because the author of the file chooses the size in a header.
        if entry.size() > MAX_MANIFEST_BYTES {
            return Err(BundleError::TooMuch {
                what: "bytes of its manifest",
                limit: MAX_MANIFEST_BYTES,
            });
        }
        let mut text = Vec::new();
        entry.read_to_end(&mut text)?;
        let manifest = Manifest::parse(&text)?;
        let mut end = entry.raw_file_position() + entry.size();
        let offsets = offsets(entries, &manifest, length)?;
        for (offset, package) in offsets.iter().zip(&manifest.packages) {
            end = end.max(offset + package.bytes);
        }
        member::check_end(&mut archive.into_inner(), end)?;
        Ok(Self {
            offsets,
            path: path.to_owned(),
            digest: sha256(&text),
            manifest,
        })
    }

    /// The path that the bundle was opened by.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The SHA-256 of the manifest; later bundles name this one by it.
    #[must_use]
    pub fn digest(&self) -> &Digest {
        &self.digest
    }

    /// Iterates over the packages of the manifest, sorted, each with its byte range in the file.
    pub fn packages(&self) -> impl Iterator<Item = (&BundledPackage, Range<u64>)> {
        self.manifest
            .packages
            .iter()
            .zip(&self.offsets)
            .map(|(package, offset)| (package, *offset..*offset + package.bytes))
    }

    /// Returns the byte ranges of packages that may be the wanted one by the manifest: those for its platform with a
    /// `zh:` in `zips`, and the one with its id if its `h1:` is in `h1s`.
    pub(in crate::work::mirror) fn candidates(
        &self,
        id: &PackageId,
        zips: &Hashes,
        h1s: &Hashes,
    ) -> Vec<Range<u64>> {
        self.packages()
            .filter(|(package, _)| {
                // The package may have the host of another registry: both public registries have the same zips.
                package.id.platform == id.platform && zips.contains(&package.zh)
                    || package.id == *id && h1s.contains(&package.h1)
            })
            .map(|(_, bytes)| bytes)
            .collect()
    }

    /// Returns the reason why a bundle without candidates lacks a package.
    pub(in crate::work::mirror) fn lacks(&self, id: &PackageId) -> String {
        let is_left_out = self
            .manifest
            .left_out
            .iter()
            .any(|package| package.id == *id);
        match &self.manifest.base {
            Some(base) if is_left_out => {
                format!("{LEFT_OUT}; it builds on that whose manifest has the SHA-256 {base}")
            }
            Some(base) => format!(
                "neither it nor the bundle that it builds on (SHA-256 of the manifest: {base}) has the package as it is locked"
            ),
            None => "the bundle does not have the package as it is locked".to_owned(),
        }
    }

    /// Opens a byte range of the file, whose content has not been verified.
    ///
    /// # Errors
    /// If the file cannot be read any more.
    pub(in crate::work::mirror) fn content(
        &self,
        files: &dyn Files,
        bytes: Range<u64>,
    ) -> io::Result<impl Read + use<>> {
        let mut file = files.open(&self.path)?;
        file.seek(SeekFrom::Start(bytes.start))?;
        // If the file was replaced meanwhile, its bytes have another hash.
        Ok(file.take(bytes.end - bytes.start))
    }
}

/// Finds the offset of each package of a manifest among the members behind it.
fn offsets<R: Read + Seek>(
    mut entries: Entries<'_, R>,
    manifest: &Manifest,
    length: u64,
) -> Result<Vec<u64>, BundleError> {
    let packages = &manifest.packages;
    let numbers: BTreeMap<String, usize> = packages
        .iter()
        .enumerate()
        .map(|(number, package)| (package.name(), number))
        .collect();
    let mut offsets = vec![None; packages.len()];
    while let Some((name, entry)) = member::next(&mut entries, length)? {
        let number = numbers.get(&name).copied();
        let fault = match number {
            None => "is not in its manifest",
            // A duplicate is an error, so the manifest limits the number of members.
            Some(number) if offsets[number].is_some() => "is there twice",
            // `packages` computes ranges from the stated size, so a wrong size would lead into the next member.
            Some(number) if packages[number].bytes != entry.size() => {
                "has another size than its manifest states"
            }
            Some(number) => {
                offsets[number] = Some(entry.raw_file_position());
                continue;
            }
        };
        return Err(BundleError::Member { name, fault });
    }
    let missing = |package: &BundledPackage| BundleError::Member {
        name: package.name(),
        fault: "is missing, although its manifest names it",
    };
    offsets
        .into_iter()
        .zip(packages)
        .map(|(offset, package)| offset.ok_or_else(|| missing(package)))
        .collect()
}
