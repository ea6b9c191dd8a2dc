//! Where packages come from.
//!
//! A [`Source`] says which versions exist and where a package lies; it hashes and judges nothing.
//! It may be asked by many threads at once.

pub mod filesystem_mirror;

use std::io;
use std::path::PathBuf;

use crate::addr::ProviderAddr;
use crate::package::{PackageId, PackageMeta};
use crate::platform::Platform;
use crate::version::Version;

/// A place that has packages.
pub trait Source: Sync {
    /// Returns every version of a provider that the source has, sorted.
    ///
    /// # Errors
    /// [`SourceError::UnknownProvider`] if it has none; else what went wrong on the way.
    fn versions(&self, provider: &ProviderAddr) -> Result<Vec<Version>, SourceError>;

    /// Returns the platforms that a version has packages for, sorted, where the source knows.
    fn platforms(&self, provider: &ProviderAddr, version: &Version) -> Vec<Platform>;

    /// Finds one package.
    ///
    /// # Errors
    /// [`SourceError::NoSuchPackage`] if the version lacks the platform; else what went wrong on
    /// the way.
    fn package(&self, id: &PackageId) -> Result<PackageMeta, SourceError>;

    /// Returns how messages name the source, as in `the mirror in DIR`.
    fn name(&self) -> String;
}

/// Why a source gave no answer.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// The source has no version of the provider.
    #[error("{source_name} has no package of {provider}")]
    UnknownProvider {
        /// Who was asked, as in [`Source::name`].
        source_name: String,
        /// What for.
        provider: ProviderAddr,
    },
    /// The source has the version, but not for the platform.
    #[error("{source_name} has no package of {id}")]
    NoSuchPackage {
        /// Who was asked, as in [`Source::name`].
        source_name: String,
        /// What for.
        id: Box<PackageId>,
        /// The platforms that the version has.
        offered: Vec<Platform>,
    },
    /// A mirror directory cannot be read.
    #[error("the mirror in {} cannot be read", path.display())]
    Unreadable {
        /// The directory.
        path: PathBuf,
        /// What the system says.
        #[source]
        cause: io::Error,
    },
    /// A mirror directory holds more than anybody means to scan.
    #[error("the mirror in {} has more than {limit} entries", path.display())]
    TooLarge {
        /// The directory.
        path: PathBuf,
        /// The limit, in directory entries.
        limit: usize,
    },
}
