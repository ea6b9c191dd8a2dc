//! Answers of a registry of modules that cannot be used.

use crate::addr::module::ModuleSourceError;
use crate::addr::{Hostname, UrlError};
use crate::flavor::Flavor;
use crate::sources::discovery::{DiscoveryError, FoundBy};
use crate::sources::{FetchError, Unauthorized};

/// A registry of modules that gave no answer that can be used. Texts of the registry are cut, and of its
/// URLs nothing is shown that may be secret.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModuleRegistryError {
    /// The host has no registry of modules, or it cannot be found.
    #[error("the module registry of {host} cannot be found")]
    Discovery {
        /// The host of the source.
        host: Hostname,
        /// The origin of its address.
        by: FoundBy,
        /// The reason for which it cannot be found.
        #[source]
        cause: DiscoveryError,
    },
    /// The registry requires credentials, or rejects those that were sent.
    #[error(transparent)]
    Unauthorized(Unauthorized),
    /// An answer could not be fetched.
    #[error(transparent)]
    Fetch(#[from] FetchError),
    /// The registry does not have the module.
    #[error("the registry of {host} has no such module")]
    UnknownModule {
        /// The host of the source.
        host: Hostname,
    },
    /// The registry does not have the version that it lists.
    #[error("the registry of {host} lists the version, but does not have it")]
    UnknownVersion {
        /// The host of the source.
        host: Hostname,
    },
    /// The list of versions has no module.
    #[error("{url} lists no module")]
    NoModule {
        /// The URL that answered, as it may be shown.
        url: String,
    },
    /// An answer is not what it should be.
    #[error("{url} is not what a registry answers: {reason}")]
    BadDocument {
        /// The URL that answered, as it may be shown.
        url: String,
        /// The fault of the document.
        reason: String,
    },
    /// The registry does not say where the package is.
    #[error("{url} does not say where the package is")]
    NoLocation {
        /// The URL that answered, as it may be shown.
        url: String,
    },
    /// The location is no address of a package.
    #[error("{url} names a location that cannot be used: {cause}")]
    BadLocation {
        /// The URL that answered, as it may be shown.
        url: String,
        /// The fault of the location.
        cause: LocationFault,
    },
}

/// A location that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LocationFault {
    /// The location is no address with which a package could be fetched.
    #[error(transparent)]
    Source(#[from] ModuleSourceError),
    /// The location is no URL of a web server, which it should be.
    #[error(transparent)]
    Url(#[from] UrlError),
}

impl ModuleRegistryError {
    /// Returns the title of a program (rules 12.3, 12.7).
    #[must_use]
    pub fn title(&self, flavor: Flavor) -> &'static str {
        match self {
            Self::UnknownModule { .. } => "Module not found",
            Self::NoModule { .. } => "Invalid response from remote module registry",
            Self::BadLocation { .. } if !flavor.is_opentofu() => {
                "Invalid package location from module registry"
            }
            _ => "Error accessing remote module registry",
        }
    }
}
