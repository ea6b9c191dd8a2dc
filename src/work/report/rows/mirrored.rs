//! Rows about packages in a mirror.

use serde::Serialize;

use crate::addr::ProviderAddr;
use crate::hash::Hash;
use crate::mirror::MirroredForm;
use crate::platform::Platform;
use crate::version::Version;

/// An entry of the lock file with its packages in the mirror.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct MirroredProvider {
    /// The provider, with its registry.
    pub provider: ProviderAddr,
    /// The version that is locked.
    pub version: Version,
    /// The packages that are wanted, by platform and layout; the same in every root with this entry.
    pub packages: Vec<MirroredPackageRow>,
    /// Wanted platforms without a package.
    pub skipped_platforms: Vec<Platform>,
    /// The reason why the lock file alone vouches for the packages; absent if the signed list of the registry does,
    /// or if none was needed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub without_list: Option<String>,
}

impl MirroredProvider {
    /// Returns true if some package was not there before.
    #[must_use]
    pub fn is_new(&self) -> bool {
        self.packages
            .iter()
            .any(|package| package.state != MirroredState::Kept)
    }
}

/// A package in the mirror.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "MirroredPackage"))]
pub struct MirroredPackageRow {
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

/// The state of a package in the mirror.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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

/// A bundle that was written, or had the same bytes already.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct MirrorBundle {
    /// The path of the file, as typed.
    pub path: String,
    /// Number of packages in it.
    pub packages: usize,
    /// The size of the file, in bytes.
    pub bytes: u64,
    /// Number of packages that lock files need and earlier bundles have.
    pub left_out: usize,
    /// The SHA-256 of the manifest; later bundles name this one by it.
    pub manifest_sha256: String,
    /// The bundle that it builds on; absent for a whole one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base: Option<BundleBase>,
    /// The file was written in this run.
    pub changed: bool,
}

/// A bundle that another one builds on.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct BundleBase {
    /// The path of the file, as typed.
    pub path: String,
    /// The SHA-256 of its manifest.
    pub manifest_sha256: String,
}
