//! Sources of packages: registries, mirrors, and their combination.
//!
//! A [`Source`] states which versions exist, where a package is and what evidence comes with it; it hashes
//! and checks nothing. Many threads may use it at once.

pub mod dates;
pub mod discovery;
pub mod documents;
pub mod download;
mod failure;
pub mod filesystem_mirror;
pub mod modules;
pub mod multi;
pub mod net;
pub mod network_mirror;
pub mod oci;
pub mod outages;
pub mod registry;
pub mod retry;
mod unauthorized;

#[cfg(test)]
mod tests;

pub mod rules {
    #![doc = include_str!("rules.md")]
}

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

pub use self::failure::{FetchError, Outage};
use self::network_mirror::{MirrorError, MirrorUrlError};
use self::oci::OciError;
use self::registry::RegistryError;
pub use self::unauthorized::{Sent, Unauthorized};
use crate::addr::ProviderAddr;
use crate::package::{PackageId, PackageMeta};
use crate::platform::Platform;
use crate::version::Version;

/// A place that has packages.
pub trait Source: Sync {
    /// Returns every version of a provider that the source has.
    ///
    /// # Errors
    /// [`SourceError::UnknownProvider`] if it has none; else what went wrong on the way.
    fn versions(&self, provider: &ProviderAddr) -> Result<Offer, SourceError>;

    /// Returns the platforms that a version is known to have packages for, sorted; it may have
    /// others as well where the source does not list all.
    fn platforms(&self, provider: &ProviderAddr, version: &Version) -> Vec<Platform>;

    /// Finds the package with an id.
    ///
    /// # Errors
    /// One that [lacks the platform](SourceError::lacks_platform) if the version does; else what went wrong
    /// on the way.
    fn package(&self, id: &PackageId) -> Result<PackageMeta, SourceError>;

    /// Returns when the source says that a version was published; `None` if it says nothing of that,
    /// or gives no answer. This is no part of any protocol, so nothing may depend on it, and it may take
    /// a request of its own.
    fn published(&self, _provider: &ProviderAddr, _version: &Version) -> Option<SystemTime> {
        None
    }
}

/// A source without packages: for runs that lock nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Empty;

impl Source for Empty {
    fn versions(&self, _: &ProviderAddr) -> Result<Offer, SourceError> {
        Ok(Offer::default())
    }

    fn platforms(&self, _: &ProviderAddr, _: &Version) -> Vec<Platform> {
        Vec::new()
    }

    fn package(&self, id: &PackageId) -> Result<PackageMeta, SourceError> {
        Err(SourceError::NoSuchPackage {
            dir: PathBuf::new(),
            id: Box::new(id.clone()),
            offered: Vec::new(),
        })
    }
}

/// The versions that a source has of a provider.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Offer {
    /// All versions, in ascending order.
    pub versions: Vec<Version>,
    /// The warnings of the source about the provider.
    pub warnings: Vec<String>,
}

/// A source that gave no answer. Every caller that asks the same gets a copy, so causes are shared.
#[derive(Clone, Debug, thiserror::Error)]
pub enum SourceError {
    /// A registry gave none. Shared, because many packages may fail for one reason.
    #[error(transparent)]
    Registry(#[from] Arc<RegistryError>),
    /// A network mirror gave none.
    #[error(transparent)]
    Mirror(#[from] Arc<MirrorError>),
    /// The mirror has no version of the provider.
    #[error("the mirror in {} has no package of {provider}", dir.display())]
    UnknownProvider {
        /// The directory of the mirror.
        dir: PathBuf,
        provider: ProviderAddr,
    },
    /// The mirror has the version, but not for the platform.
    #[error("the mirror in {} has no package of {id}", dir.display())]
    NoSuchPackage {
        /// The directory of the mirror.
        dir: PathBuf,
        id: Box<PackageId>,
        /// The platforms that the version has.
        offered: Vec<Platform>,
    },
    /// No source has the provider.
    #[error("{}", nowhere(provider, answers))]
    Nowhere {
        provider: ProviderAddr,
        /// The answers of the sources that are for it.
        answers: Arc<[Self]>,
    },
    /// No source has the version for the platform.
    #[error("no source has a package of {id}")]
    NoPackage {
        id: Box<PackageId>,
        /// The platforms that the version has.
        offered: Vec<Platform>,
    },
    /// The source needs the network, which must not be used.
    #[error("{place} is not asked, since network requests are forbidden")]
    Offline {
        /// The host or mirror that would be asked.
        place: String,
    },
    /// A mirror of OCI artifacts gave none.
    #[error(transparent)]
    Oci(#[from] Arc<OciError>),
    /// The URL of a network mirror cannot be used.
    #[error(transparent)]
    MirrorUrl(MirrorUrlError),
    /// A mirror directory cannot be read.
    #[error("the mirror in {} cannot be read", path.display())]
    Unreadable {
        /// The path of the directory.
        path: PathBuf,
        /// The error that the system reports.
        #[source]
        cause: Arc<io::Error>,
    },
    /// A mirror directory has more entries than a scan looks at.
    #[error("the mirror in {} has more than {limit} entries", path.display())]
    TooLarge {
        /// The path of the directory.
        path: PathBuf,
        /// The limit, in directory entries.
        limit: usize,
    },
}

impl SourceError {
    /// Returns whether the message says what was asked about; others fail all questions alike.
    #[must_use]
    pub fn names_subject(&self) -> bool {
        match self {
            Self::UnknownProvider { .. }
            | Self::NoSuchPackage { .. }
            | Self::Nowhere { .. }
            | Self::NoPackage { .. } => true,
            Self::Unreadable { .. }
            | Self::TooLarge { .. }
            | Self::Offline { .. }
            | Self::MirrorUrl(_) => false,
            Self::Mirror(error) => error.names_subject(),
            Self::Oci(error) => error.names_subject(),
            Self::Registry(error) => matches!(
                **error,
                RegistryError::UnknownProvider { .. }
                    | RegistryError::NoVersions { .. }
                    | RegistryError::NoSuchPackage { .. }
                    | RegistryError::Protocol { .. }
            ),
        }
    }

    /// Returns true if the source has no version of the provider, so that another one may have some.
    #[must_use]
    pub fn is_unknown_provider(&self) -> bool {
        self.unknown_provider().is_some()
    }

    /// Returns the provider without any version in the source, if that is the error.
    #[must_use]
    pub fn unknown_provider(&self) -> Option<&ProviderAddr> {
        match self {
            Self::UnknownProvider { provider, .. } | Self::Nowhere { provider, .. } => {
                Some(provider)
            }
            Self::Registry(error) => match &**error {
                RegistryError::UnknownProvider { provider, .. }
                | RegistryError::NoVersions { provider } => Some(provider),
                _ => None,
            },
            Self::Mirror(error) => match &**error {
                MirrorError::UnknownProvider { provider, .. } => Some(provider),
                _ => None,
            },
            Self::Oci(error) => match &**error {
                OciError::UnknownProvider { provider, .. } => Some(provider),
                _ => None,
            },
            _ => None,
        }
    }

    /// Returns true if both errors are of one kind of source and have one cause; their requests may differ.
    #[must_use]
    pub fn is_like(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Registry(error), Self::Registry(other)) => error.is_like(other),
            (Self::Mirror(error), Self::Mirror(other)) => error.is_like(other),
            (Self::Oci(error), Self::Oci(other)) => error.is_like(other),
            _ => false,
        }
    }

    /// Returns the package of a release that a registry does not have, or that lockctl cannot use for its plugin
    /// protocol.
    #[must_use]
    pub fn unusable_package(&self) -> Option<&PackageId> {
        match self {
            Self::Registry(error) => match &**error {
                RegistryError::Protocol { id, .. } | RegistryError::NoSuchPackage { id, .. } => {
                    Some(id)
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// Returns true if the host of the registry names no registry, so that its address may be mistyped.
    #[must_use]
    pub fn is_discovery(&self) -> bool {
        matches!(self, Self::Registry(error) if matches!(**error, RegistryError::Discovery { .. }))
    }

    /// Makes the error for a provider that none of several sources has; a single source keeps its own error.
    fn nowhere(provider: &ProviderAddr, answers: Vec<Self>) -> Self {
        match <[Self; 1]>::try_from(answers) {
            Ok([only]) => only,
            Err(answers) => Self::Nowhere {
                provider: provider.clone(),
                answers: answers.into(),
            },
        }
    }

    /// Returns whether the release lacks the platform, by its registry. A mirror may have a part of it only.
    #[must_use]
    pub fn release_lacks_platform(&self) -> bool {
        match self {
            Self::Registry(error) => matches!(**error, RegistryError::NoSuchPackage { .. }),
            _ => false,
        }
    }

    /// Returns whether the version exists and only lacks the platform.
    #[must_use]
    pub fn lacks_platform(&self) -> bool {
        match self {
            Self::NoSuchPackage { .. } | Self::NoPackage { .. } => true,
            Self::Registry(error) => matches!(**error, RegistryError::NoSuchPackage { .. }),
            Self::Mirror(error) => matches!(**error, MirrorError::NoSuchPackage { .. }),
            Self::Oci(error) => matches!(**error, OciError::NoSuchPackage { .. }),
            _ => false,
        }
    }
}

fn nowhere(provider: &ProviderAddr, answers: &[SourceError]) -> String {
    if answers.is_empty() {
        return format!("no source of packages is for {provider}");
    }
    let messages = answers
        .iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join("; ");
    format!("no source of packages has {provider}: {messages}")
}

/// Maximum number of characters of a server's text in a message.
const MAX_SHOWN_CHARS: usize = 500;

/// Cuts a text of a server to what fits into a message.
fn cut(text: &str) -> String {
    match text.char_indices().nth(MAX_SHOWN_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Reads the first JSON value of a body.
///
/// # Errors
/// In words, if it is none or of another shape.
fn read_json<T: serde::de::DeserializeOwned>(body: &[u8]) -> Result<T, String> {
    if body.trim_ascii_start().starts_with(b"<") {
        return Err("it is a web page, not a JSON document".to_owned());
    }
    let mut values = serde_json::Deserializer::from_slice(body).into_iter::<T>();
    // Both programs ignore what follows the first value.
    match values.next() {
        Some(value) => {
            value.map_err(|error| format!("its JSON cannot be read: {}", cut(&error.to_string())))
        }
        None => Err("it is empty".to_owned()),
    }
}
