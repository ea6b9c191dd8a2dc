//! Rows about what the project file remembers of providers.

use serde::Serialize;

use crate::addr::ProviderAddr;
use crate::version::Version;

/// An entry of the lock file with what is known of its release.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TrustedProvider {
    /// The provider, with its registry.
    pub provider: ProviderAddr,
    /// The version that is locked.
    pub version: Version,
    /// The comparison with the memory of the project file, over all roots of the run.
    pub state: MemoryState,
    /// The fingerprints of the keys that signed the release; empty if nothing signs it, null if that is not known.
    pub signed_by: Option<Vec<String>>,
    /// The day when the key expires (UTC); null if it does not, or if that is not known.
    pub key_expires: Option<String>,
    /// The main modules of its programs; empty if they are not known.
    pub modules: Vec<String>,
    /// The repositories whose workflows attest that they built its packages; empty if that is not known.
    pub provenance: Vec<String>,
    /// The number of `zh:` hashes of the entry.
    pub zh_count: usize,
    /// The steps down from the memory, in words.
    pub steps_down: Vec<String>,
}

/// The comparison of a provider with the memory of the project file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum MemoryState {
    /// The release differs from the memory, which stays.
    Changed,
    /// The user accepts the difference, which is written.
    Accepted,
    /// Nothing was remembered before.
    FirstUse,
    /// More is known than before, and nothing contradicts the memory.
    Completed,
    /// Nothing is remembered, and nothing is known.
    Unknown,
    /// Everything is as remembered.
    Unchanged,
}

impl MemoryState {
    /// Returns the state in words.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Changed => "changed",
            Self::Accepted => "accepted",
            Self::FirstUse => "first use",
            Self::Completed => "completed",
            Self::Unknown => "unknown",
            Self::Unchanged => "unchanged",
        }
    }

    /// Returns true if the project file is to be written.
    #[must_use]
    pub fn is_written(self) -> bool {
        matches!(self, Self::Accepted | Self::FirstUse | Self::Completed)
    }
}
