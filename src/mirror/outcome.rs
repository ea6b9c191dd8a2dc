//! The outcome of a run: each release with its packages, and what is too much.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::MirroringError;
use crate::hash::Hash;
use crate::locker::Release;
use crate::package::WantedSet;
use crate::platform::Platform;

/// The outcome of a run.
#[derive(Debug)]
pub struct MirrorOutcome {
    /// The releases that lock files name, sorted.
    pub releases: Vec<MirroredRelease>,
    /// Paths that no lock file needs, if such are removed; in a run that writes nothing, they would be.
    pub superfluous: Vec<PathBuf>,
    /// The platforms that are wanted of each release.
    pub wanted: BTreeMap<Release, WantedSet>,
    /// Documents that were, or would be, written.
    pub documents: Vec<PathBuf>,
    /// Failures that are about no release.
    pub errors: Vec<MirroringError>,
}

/// A release in the mirror.
#[derive(Debug)]
pub struct MirroredRelease {
    pub release: Release,
    /// The numbers of the roots that name it.
    pub roots: Vec<usize>,
    /// The packages that are wanted, sorted by platform.
    pub packages: Vec<MirroredPackage>,
    /// Wanted platforms that the release has no package for, or none that any place has.
    pub skipped: Vec<Platform>,
    /// The reason why no list of a registry counts, though one was needed: the lock file vouches alone.
    pub without_list: Option<String>,
    /// Everything that went wrong.
    pub errors: Vec<MirroringError>,
}

/// A package in the mirror.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MirroredPackage {
    pub platform: Platform,
    pub state: PackageState,
    /// The hash of the zip, if it is known.
    pub zh: Option<Hash>,
    /// The hash of its files, if it is known.
    pub h1: Option<Hash>,
    /// The length of the zip in bytes; 0 if it is not known.
    pub bytes: u64,
    /// The place that its bytes come from; `None` if they were there, or are not.
    pub from: Option<String>,
}

/// The state of a package in the mirror.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PackageState {
    /// The package was there, and is right.
    Kept,
    /// This run placed it.
    Placed,
    /// The package is not there; a run that writes would place it.
    Missing,
    /// Another file is in its place; the reason why it is not the package.
    Wrong(String),
}

impl MirroredRelease {
    /// Returns true if every wanted package is there, and right.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.errors.is_empty()
            && self
                .packages
                .iter()
                .all(|package| matches!(package.state, PackageState::Kept | PackageState::Placed))
    }
}
