//! The outcome of a run: each release with its packages, and what is too much.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::MirroringError;
use super::compare::MirroredHashes;
use super::layout::{ReleaseDirs, zip_name};
use super::present::{HashedDirectory, MirrorZip};
use crate::hash::Hash;
use crate::locker::Release;
use crate::package::WantedSet;
use crate::platform::Platform;

/// The outcome of a run.
#[derive(Debug, Default)]
pub struct MirrorOutcome {
    /// The releases that lock files name, sorted.
    pub releases: Vec<MirroredRelease>,
    /// Paths that no lock file needs, if such are removed; in a run that writes nothing, they would be.
    pub superfluous: Vec<PathBuf>,
    /// The platforms that are wanted of each release.
    pub wanted: BTreeMap<Release, WantedSet>,
    /// Documents that were, or would be, written.
    pub documents: Vec<PathBuf>,
    /// Files of OCI image layouts that were, or would be, written.
    pub oci_files: BTreeSet<PathBuf>,
    /// Failures that are about no release.
    pub errors: Vec<MirroringError>,
}

/// A release in the mirror.
#[derive(Debug)]
pub struct MirroredRelease {
    pub release: Release,
    /// The numbers of the roots that name it.
    pub roots: Vec<usize>,
    /// The packages that are wanted in each form, sorted by platform.
    pub packages: Vec<MirroredPackage>,
    /// Wanted platforms that the release has no package for, or none that any place has.
    pub skipped: Vec<Platform>,
    /// The reason why no list of a registry counts, though one was needed: the lock file vouches alone.
    pub without_list: Option<String>,
    /// The platforms whose package some lock file covers by its `zh:` only, although it has an `h1:` of others.
    pub without_h1: Vec<Platform>,
    /// Everything that went wrong.
    pub errors: Vec<MirroringError>,
}

/// A package in the mirror.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MirroredPackage {
    pub platform: Platform,
    pub form: MirroredForm,
    pub state: PackageState,
    /// The hash of the zip, if it is known.
    pub zh: Option<Hash>,
    /// The hash of its files, if it is known.
    pub h1: Option<Hash>,
    /// The length of the zip, or of all files of the directory, in bytes; 0 if it is not known.
    pub bytes: u64,
    /// The place that its bytes come from; `None` if they were there, or are not.
    pub from: Option<ByteOrigin>,
}

/// The place that the bytes of a package come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ByteOrigin {
    /// The name of the place, as shown to the user.
    pub place: String,
    /// The number of bytes that were copied or downloaded.
    pub bytes: u64,
}

/// The layout of a package in a mirror.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "MirroredLayout"))]
pub enum MirroredForm {
    /// A zip as its registry publishes it.
    #[serde(rename = "packed")]
    Zip,
    /// A directory with the files of the package.
    #[serde(rename = "unpacked")]
    Directory,
}

/// The state of a package in the mirror.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PackageState {
    /// The package was there, and is right.
    Kept,
    /// This run placed it.
    Placed,
    /// This run placed it where something else was; the reason why that was not the package.
    Replaced(String),
    /// The package is not there; a run that writes would place it.
    Missing,
    /// Another file is in its place; the reason why it is not the package.
    Wrong(String),
}

impl PackageState {
    /// Returns true if the mirror has the package, and it is right.
    #[must_use]
    pub fn is_right(&self) -> bool {
        matches!(self, Self::Kept | Self::Placed | Self::Replaced(_))
    }
}

/// Returns the path of a package in the mirror.
#[must_use]
pub fn package_path(
    dir: &Path,
    release: &Release,
    platform: &Platform,
    form: MirroredForm,
) -> PathBuf {
    let dirs = ReleaseDirs::of(dir, release);
    match form {
        MirroredForm::Zip => {
            let name = zip_name(&release.provider, &release.version, platform);
            dirs.provider.join(name)
        }
        MirroredForm::Directory => dirs.version.join(platform.to_string()),
    }
}

/// Makes the row of a package, without hashes.
pub(super) fn row(platform: &Platform, form: MirroredForm, state: PackageState) -> MirroredPackage {
    MirroredPackage {
        platform: platform.clone(),
        form,
        state,
        zh: None,
        h1: None,
        bytes: 0,
        from: None,
    }
}

impl MirroredPackage {
    pub(super) fn with_zip(self, zip: &MirrorZip) -> Self {
        Self {
            bytes: zip.bytes,
            ..self.with_hashes(&MirroredHashes::of(zip))
        }
    }

    pub(super) fn with_directory(self, directory: &HashedDirectory) -> Self {
        Self {
            h1: directory.h1.clone(),
            bytes: directory.bytes,
            ..self
        }
    }

    pub(super) fn with_hashes(self, hashes: &MirroredHashes) -> Self {
        Self {
            zh: hashes.zh.clone(),
            h1: Some(hashes.h1.clone()),
            ..self
        }
    }

    /// Sets the place of its bytes, if this run placed the package.
    pub(super) fn from(self, origin: Option<ByteOrigin>) -> Self {
        let is_placed = matches!(self.state, PackageState::Placed | PackageState::Replaced(_));
        let from = origin.filter(|_| is_placed);
        Self { from, ..self }
    }
}

impl MirroredRelease {
    /// Adds an error, unless another package has the same one.
    pub(super) fn add_error(&mut self, error: MirroringError) {
        let words = |error: &MirroringError| (error.to_string(), error.causes());
        let new = words(&error);
        if self.errors.iter().all(|error| words(error) != new) {
            self.errors.push(error);
        }
    }

    /// Returns true if every wanted package is there, and right.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.errors.is_empty() && self.packages.iter().all(|package| package.state.is_right())
    }
}
