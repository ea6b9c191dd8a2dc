//! Answers of a network mirror that cannot be used.

use super::MirrorUrl;
use crate::addr::{ProviderAddr, Url, UrlError};
use crate::package::PackageId;
use crate::platform::Platform;
use crate::sources::{FetchError, Unauthorized};
use crate::version::Version;

/// A network mirror that gave no answer that can be used.
#[derive(Debug, thiserror::Error)]
pub enum MirrorError {
    #[error("the mirror {mirror} has no package of {provider}")]
    UnknownProvider {
        mirror: MirrorUrl,
        provider: ProviderAddr,
        /// The mirror has a list of its versions, which is empty.
        is_listed: bool,
    },
    #[error("the mirror {mirror} has no list of the packages of {provider} {version}")]
    UnknownVersion {
        mirror: MirrorUrl,
        provider: ProviderAddr,
        version: Version,
    },
    #[error("the mirror {mirror} has no package of {id}")]
    NoSuchPackage {
        mirror: MirrorUrl,
        id: PackageId,
        offered: Vec<Platform>,
    },
    #[error(transparent)]
    Unauthorized(Unauthorized),
    #[error(transparent)]
    Fetch(#[from] FetchError),
    #[error("{url} is not what a network mirror answers: {reason}")]
    BadDocument { url: Url, reason: String },
    #[error("{url} names a URL that cannot be used")]
    BadUrl {
        url: Url,
        #[source]
        cause: UrlError,
    },
    #[error("{url} states no hash of {package}, which does not use https")]
    Unprotected { url: Url, package: Url },
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
            (Self::Unauthorized(error), Self::Unauthorized(other)) => {
                error.host == other.host && error.status == other.status
            }
            _ => false,
        }
    }

    /// Returns whether the message states what was asked about; others fail all questions alike.
    pub(in crate::evidence::sources) fn names_subject(&self) -> bool {
        matches!(
            self,
            Self::UnknownProvider { .. } | Self::UnknownVersion { .. } | Self::NoSuchPackage { .. }
        )
    }
}
