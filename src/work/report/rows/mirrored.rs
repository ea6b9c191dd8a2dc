//! Rows about packages in a mirror.

use serde::Serialize;

use crate::addr::ProviderAddr;
use crate::mirror::{MirroredPackage, MirroredState};
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
    pub packages: Vec<MirroredPackage>,
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
