//! Answers of a registry of modules that cannot be used.

use crate::addr::module::ModuleSourceError;
use crate::addr::{Hostname, UrlError};
use crate::flavor::Flavor;
use crate::sources::discovery::{DiscoveryError, FoundBy};
use crate::sources::{FetchError, Unauthorized};

/// A registry of modules that gave no answer that can be used. Texts of the registry are cut, and of its
/// URLs nothing is shown that may be secret.
#[derive(Clone, Debug, thiserror::Error)]
pub enum ModuleRegistryError {
    #[error("the module registry of {host} cannot be found")]
    Discovery {
        host: Hostname,
        by: FoundBy,
        #[source]
        cause: DiscoveryError,
    },
    #[error(transparent)]
    Unauthorized(Unauthorized),
    #[error(transparent)]
    Fetch(#[from] FetchError),
    #[error("the registry of {host} has no such module")]
    UnknownModule { host: Hostname },
    #[error("the registry of {host} lists the version, but does not have it")]
    UnknownVersion { host: Hostname },
    #[error("{url} lists no module")]
    NoModule {
        /// The URL that answered, as it may be shown.
        url: String,
    },
    #[error("{url} is not what a registry answers: {reason}")]
    BadDocument {
        /// The URL that answered, as it may be shown.
        url: String,
        reason: String,
    },
    #[error("{url} does not say where the package is")]
    NoLocation {
        /// The URL that answered, as it may be shown.
        url: String,
    },
    #[error("{url} names a location that cannot be used: {cause}")]
    BadLocation {
        /// The URL that answered, as it may be shown.
        url: String,
        cause: LocationFault,
    },
}

/// A location that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LocationFault {
    #[error(transparent)]
    Source(#[from] ModuleSourceError),
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
