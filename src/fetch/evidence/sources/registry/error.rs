//! Answers of a provider registry that cannot be used.

use crate::addr::{Hostname, ProviderAddr, Url, UrlError};
use crate::package::PackageId;
use crate::platform::Platform;
use crate::sources::discovery::{DiscoveryError, FoundBy};
use crate::sources::{FetchError, Unauthorized};
use crate::version::Version;

impl RegistryError {
    /// Returns whether another error is the same but for the path or the platform that was asked for.
    #[must_use]
    pub fn is_like(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Fetch(error), Self::Fetch(other)) => error.is_like(other),
            (
                Self::BadDocument { url, reason },
                Self::BadDocument {
                    url: other_url,
                    reason: other_reason,
                },
            ) => url.origin() == other_url.origin() && reason == other_reason,
            (
                Self::Protocol { id, spoken, .. },
                Self::Protocol {
                    id: other,
                    spoken: other_spoken,
                    ..
                },
            ) => same_release(id, other) && spoken == other_spoken,
            (Self::OtherPlatform { id, .. }, Self::OtherPlatform { id: other, .. }) => {
                same_release(id, other)
            }
            (
                Self::NoSuchPackage { id, offered },
                Self::NoSuchPackage {
                    id: other,
                    offered: others,
                },
            ) => {
                let is_listed = offered.contains(&id.platform);
                same_release(id, other) && is_listed == others.contains(&other.platform)
            }
            _ => false,
        }
    }
}

fn same_release(id: &PackageId, other: &PackageId) -> bool {
    id.provider == other.provider && id.version == other.version
}

/// A provider registry that gave no answer that can be used.
#[derive(Debug, thiserror::Error)]
pub enum RegistryError {
    #[error("the provider registry of {host} cannot be found")]
    Discovery {
        host: Hostname,
        by: FoundBy,
        #[source]
        cause: DiscoveryError,
    },
    #[error("the registry of {} has no version of {provider}", provider.hostname())]
    NoVersions { provider: ProviderAddr },
    #[error("the registry of {} has no provider {provider}", provider.hostname())]
    UnknownProvider {
        provider: ProviderAddr,
        /// The URL of the registry, if it does not end in a slash: then its last part is lost.
        cut_off: Option<Url>,
        successor: Option<ProviderAddr>,
    },
    #[error(transparent)]
    Unauthorized(Unauthorized),
    #[error(transparent)]
    Fetch(#[from] FetchError),
    #[error("{url} is not what a registry answers: {reason}")]
    BadDocument { url: Url, reason: String },
    #[error("{url} names a URL that cannot be used, as {field}")]
    BadUrl {
        url: Url,
        field: &'static str,
        #[source]
        cause: UrlError,
    },
    #[error("the registry of {} has no package of {id}", id.provider.hostname())]
    NoSuchPackage {
        id: PackageId,
        offered: Vec<Platform>,
    },
    #[error("{id} supports plugin protocol {} only; the programs support 5 and 6", spoken.join(", "))]
    Protocol {
        id: PackageId,
        /// The protocols that it supports, as the registry spells them.
        spoken: Vec<String>,
        newest: Option<Version>,
    },
    #[error("{url} answers for {stated}, not for {}", id.platform)]
    OtherPlatform {
        id: PackageId,
        url: Url,
        stated: String,
    },
}
