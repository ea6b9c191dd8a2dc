//! What a source offers: packages, where they lie, and how far their hashes can be trusted.

use std::fmt;
use std::path::PathBuf;

use crate::addr::ProviderAddr;
use crate::platform::Platform;
use crate::version::Version;

/// Which package: one zip or directory for a provider, version and platform.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PackageId {
    /// The provider.
    pub provider: ProviderAddr,
    /// Its version.
    pub version: Version,
    /// What it runs on.
    pub platform: Platform,
}

/// Where a package lies, and in which form.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Location {
    /// A zip file on this machine.
    Archive(PathBuf),
    /// An unpacked directory on this machine.
    Directory(PathBuf),
}

/// A package that a source has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackageMeta {
    /// Which package.
    pub id: PackageId,
    /// Where it lies.
    pub location: Location,
}

/// How a hash in a result is known, strongest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Provenance {
    /// Computed by us, over bytes that nobody signed.
    Computed,
    /// Stood in the file and was not seen in this run.
    Kept,
}

impl Location {
    /// Returns the path, whatever the form.
    #[must_use]
    pub fn path(&self) -> &std::path::Path {
        match self {
            Self::Archive(path) | Self::Directory(path) => path,
        }
    }
}

impl fmt::Display for PackageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} {} for {}",
            self.provider, self.version, self.platform
        )
    }
}
