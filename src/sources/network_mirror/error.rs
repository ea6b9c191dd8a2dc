//! Answers of a network mirror that cannot be used.

use super::MirrorUrl;
use crate::addr::{ProviderAddr, Url, UrlError};
use crate::package::PackageId;
use crate::platform::Platform;
use crate::sources::{FetchError, Unauthorized};
use crate::version::Version;

/// A network mirror that gave no answer that can be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MirrorError {
    /// The mirror has no version of the provider.
    #[error("the mirror {mirror} has no package of {provider}")]
    UnknownProvider {
        /// The URL of the mirror.
        mirror: MirrorUrl,
        /// The provider that was wanted.
        provider: ProviderAddr,
        /// The mirror has a list of its versions, which is empty.
        is_listed: bool,
    },
    /// The mirror has no list of the packages of a version.
    #[error("the mirror {mirror} has no list of the packages of {provider} {version}")]
    UnknownVersion {
        /// The URL of the mirror.
        mirror: MirrorUrl,
        /// The provider that was wanted.
        provider: ProviderAddr,
        /// The version that was wanted.
        version: Version,
    },
    /// The mirror has the version, but not for the platform.
    #[error("the mirror {mirror} has no package of {id}")]
    NoSuchPackage {
        /// The URL of the mirror.
        mirror: MirrorUrl,
        /// The package that was wanted.
        id: PackageId,
        /// The platforms that the version has.
        offered: Vec<Platform>,
    },
    /// The mirror requires credentials, or rejects those that were sent.
    #[error(transparent)]
    Unauthorized(Unauthorized),
    /// A document could not be fetched.
    #[error(transparent)]
    Fetch(#[from] FetchError),
    /// A document is not what it should be.
    #[error("{url} is not what a network mirror answers: {reason}")]
    BadDocument {
        /// The URL that was requested.
        url: Url,
        /// The fault of the document.
        reason: String,
    },
    /// A document names a URL that cannot be used.
    #[error("{url} names a URL that cannot be used")]
    BadUrl {
        /// The URL that was requested.
        url: Url,
        /// The fault of the URL.
        #[source]
        cause: UrlError,
    },
    /// Nothing protects a package on its way.
    #[error("{url} states no hash of {package}, which does not use https")]
    Unprotected {
        /// The URL of the document.
        url: Url,
        /// The URL of the package.
        package: Url,
    },
}

impl MirrorError {
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
            (Self::Unauthorized(one), Self::Unauthorized(other)) => {
                one.host == other.host && one.status == other.status
            }
            _ => false,
        }
    }

    /// Returns whether the message states what was asked about; others fail all questions alike.
    pub(in crate::sources) fn names_subject(&self) -> bool {
        matches!(
            self,
            Self::UnknownProvider { .. } | Self::UnknownVersion { .. } | Self::NoSuchPackage { .. }
        )
    }
}
