//! The outcome of a run: each release with its packages, and what is too much.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::MirroringError;
use super::layout::{ReleaseDirs, zip_name};
use super::present::MirroredHashes;
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

impl MirrorOutcome {
    /// Returns a result, or adds the failure to the outcome.
    pub(super) fn sound<T>(&mut self, result: Result<T, MirroringError>) -> Option<T> {
        result.map_err(|error| self.errors.push(error)).ok()
    }
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
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MirroredPackage {
    /// The platform of the package.
    pub platform: Platform,
    /// The path of the package, below the directory as typed.
    pub path: String,
    /// The layout of the package.
    pub layout: MirroredForm,
    /// The state of the package after the run.
    pub state: MirroredState,
    /// The reason why a file in its place is wrong, or was; absent if none is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The `zh:` of the zip; absent if it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zh: Option<Hash>,
    /// The `h1:` of its files; absent if it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub h1: Option<Hash>,
    /// The length of the zip, or of all files of the directory, in bytes; absent if it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// The number of bytes that were copied or downloaded for it; absent unless this run placed it, or if it was
    /// unpacked from a zip of the mirror.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fetched_bytes: Option<u64>,
    /// The place that its bytes come from; absent with `fetched_bytes`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum MirroredState {
    /// The package was there, and its hash is right.
    Kept,
    /// This run placed it.
    Placed,
    /// This run placed it where something else was.
    Replaced,
    /// The package is not there.
    Missing,
    /// Another file is in its place.
    Wrong,
}

impl MirroredState {
    /// Returns true if the mirror has the package, and it is right.
    #[must_use]
    pub fn is_right(self) -> bool {
        matches!(self, Self::Kept | Self::Placed | Self::Replaced)
    }
}

impl MirroredPackage {
    /// Makes the row of a package; `hashes` are those that are known.
    pub(super) fn new(
        platform: &Platform,
        layout: MirroredForm,
        state: MirroredState,
        hashes: Option<&MirroredHashes>,
    ) -> Self {
        Self {
            platform: platform.clone(),
            // Its release completes it.
            path: String::new(),
            layout,
            state,
            reason: None,
            zh: hashes.and_then(|hashes| hashes.zh.clone()),
            h1: hashes.map(|hashes| hashes.h1.clone()),
            bytes: hashes.map(|hashes| hashes.bytes),
            fetched_bytes: None,
            from: None,
        }
    }
}

impl MirroredRelease {
    /// Sorts the packages, and names their paths below a directory.
    pub(super) fn arrange(&mut self, dir: &Path) {
        let dirs = ReleaseDirs::of(dir, &self.release);
        let Release { provider, version } = &self.release;
        // Packages that were there and new ones were collected apart.
        self.packages
            .sort_by(|a, b| (&a.platform, a.layout).cmp(&(&b.platform, b.layout)));
        for package in &mut self.packages {
            let path = match package.layout {
                MirroredForm::Zip => {
                    let name = zip_name(provider, version, &package.platform);
                    dirs.provider.join(name)
                }
                MirroredForm::Directory => dirs.version.join(package.platform.to_string()),
            };
            package.path = path.display().to_string();
        }
    }

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
