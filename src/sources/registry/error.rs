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
            _ => false,
        }
    }
}

fn same_release(id: &PackageId, other: &PackageId) -> bool {
    id.provider == other.provider && id.version == other.version
}

/// A provider registry that gave no answer that can be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RegistryError {
    /// The host has no registry, or it cannot be found.
    #[error("the provider registry of {host} cannot be found")]
    Discovery {
        /// The host of the provider's address.
        host: Hostname,
        /// The origin of its address.
        by: FoundBy,
        /// The reason for which it cannot be found.
        #[source]
        cause: DiscoveryError,
    },
    /// The registry has the provider, but no version of it.
    #[error("the registry of {} has no version of {provider}", provider.hostname())]
    NoVersions {
        /// The provider that was wanted.
        provider: ProviderAddr,
    },
    /// The registry does not have the provider.
    #[error("the registry of {} has no provider {provider}", provider.hostname())]
    UnknownProvider {
        /// The provider that was wanted.
        provider: ProviderAddr,
        /// The URL of the registry, if it does not end in a slash: then its last part is lost.
        cut_off: Option<Url>,
        /// The address under which a former provider of HashiCorp is published now.
        successor: Option<ProviderAddr>,
    },
    /// The registry requires credentials, or rejects those that were sent.
    #[error(transparent)]
    Unauthorized(Unauthorized),
    /// A document could not be fetched.
    #[error(transparent)]
    Fetch(#[from] FetchError),
    /// A document is not what it should be.
    #[error("{url} is not what a registry answers: {reason}")]
    BadDocument {
        /// The URL that was requested.
        url: Url,
        /// The fault of the document.
        reason: String,
    },
    /// A document names a URL that cannot be used.
    #[error("{url} names a URL that cannot be used, as {field}")]
    BadUrl {
        /// The URL that was requested.
        url: Url,
        /// The name of the field.
        field: &'static str,
        /// The fault of the URL.
        #[source]
        cause: UrlError,
    },
    /// The release lacks the platform.
    #[error("the registry of {} has no package of {id}", id.provider.hostname())]
    NoSuchPackage {
        /// The package that was wanted.
        id: PackageId,
        /// The platforms that the release is stated to have.
        offered: Vec<Platform>,
    },
    /// No current program supports the provider.
    #[error("{id} supports plugin protocol {} only; the programs support 5 and 6", spoken.join(", "))]
    Protocol {
        /// The package that was wanted.
        id: PackageId,
        /// The protocols that it supports, as the registry spells them.
        spoken: Vec<String>,
        /// The newest version that supports one of them.
        newest: Option<Version>,
    },
    /// The registry answers for another platform than was asked about.
    #[error("{url} answers for {stated}, not for {}", id.platform)]
    OtherPlatform {
        /// The package that was wanted.
        id: PackageId,
        /// The URL that was requested.
        url: Url,
        /// The platform of the answer.
        stated: String,
    },
}
