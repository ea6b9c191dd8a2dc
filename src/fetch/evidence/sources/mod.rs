//! Sources of packages: registries, mirrors, and their combination.
//!
//! A [`Source`] states which versions exist, where a package is and what evidence comes with it; it hashes
//! and checks nothing. Many threads may use it at once.

pub mod attestations;
pub mod dates;
pub mod discovery;
pub mod documents;
pub mod download;
mod error;
mod failure;
pub mod filesystem_mirror;
pub mod modules;
pub mod multi;
pub mod net;
pub mod network_mirror;
pub mod oci;
pub mod outages;
pub mod registry;
pub mod release_changes;
pub mod release_contents;
pub mod retry;
mod unauthorized;

#[cfg(test)]
mod tests;

pub mod rules {
    #![doc = include_str!("rules.md")]
}

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::SystemTime;

pub use self::error::{About, SourceError, SourceFault, SourceLocation};
pub use self::failure::{FetchError, FetchFault};
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
    /// [`SourceFault::UnknownProvider`] if it has none; else what went wrong on the way.
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
        let fault = SourceFault::NoPackage {
            offered: Vec::new(),
        };
        Err(SourceError::new(
            SourceLocation::Several,
            About::package(id),
            fault,
        ))
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

impl From<&BTreeSet<Version>> for Offer {
    fn from(versions: &BTreeSet<Version>) -> Self {
        Self {
            versions: versions.iter().cloned().collect(),
            warnings: Vec::new(),
        }
    }
}

/// An answer that many packages may share, or why there is none.
type Shared<T> = Result<T, Arc<SourceFault>>;

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

/// Reads the document of an answer.
fn read<T: serde::de::DeserializeOwned>(answer: &net::Answer) -> Shared<T> {
    read_json(&answer.body).map_err(|reason| SourceFault::bad_document(&answer.url, reason))
}
