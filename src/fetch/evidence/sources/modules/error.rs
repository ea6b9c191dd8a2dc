//! Answers of a registry of modules that cannot be used.

use crate::addr::{Hostname, Url};
use crate::flavor::Flavor;
use crate::sources::SourceError;

/// A registry of modules that gave no answer that can be used. Texts of the registry are cut, and of its
/// URLs nothing is shown that may be secret.
#[derive(Clone, Debug, thiserror::Error)]
pub enum ModuleRegistryError {
    #[error(transparent)]
    Source(#[from] SourceError),
    #[error("the registry of {host} has no such module")]
    UnknownModule { host: Hostname },
    #[error("the registry of {host} lists the version, but does not have it")]
    UnknownVersion { host: Hostname },
    #[error("{url} lists no module")]
    NoModule { url: Url },
    #[error("{url} does not say where the package is")]
    NoLocation { url: Url },
    #[error("{url} names a location that cannot be used: {cause}")]
    BadLocation { url: Url, cause: String },
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
