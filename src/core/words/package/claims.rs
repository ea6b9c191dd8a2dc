//! Hashes that a source states without signing them.

use std::collections::BTreeMap;

use crate::addr::Hostname;
use crate::hash::Hashes;
use crate::platform::Platform;

/// Hashes that a source states of the packages of one release, for any platform. Nothing signs them:
/// nothing of this has been checked.
///
/// The registry of OpenTofu states them in the document of each package (`sources` rules 3.8), a
/// network mirror in its list of packages (`sources` rules 8.5).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Claims {
    /// Who states them, as messages name it: a hostname, or the URL of a mirror.
    pub by: String,
    /// The stated hashes and sizes, by platform.
    pub packages: BTreeMap<Platform, ClaimedPackage>,
}

/// The hashes and the size that a source states of one package.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClaimedPackage {
    /// Its hashes, of known schemes only, as they are spelled there.
    pub hashes: Hashes,
    /// The length of the zip, in bytes, if it is stated.
    pub size: Option<u64>,
}

/// The proof that an `h1:` needs to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum H1Trust {
    /// Only what was computed, or is known from facts.
    Proven,
    /// Wanted platforms are proven; what the registry of OpenTofu states of others is written too,
    /// because `tofu init` writes it anyway.
    AsTofu,
    /// The statement of a source about a package whose `zh:` is known is enough: the package is not
    /// downloaded.
    Claimed,
}

/// The unproven `h1:` that are written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimPolicy {
    pub h1: H1Trust,
    /// The registries whose statements count with [`H1Trust::Claimed`], in query order.
    pub from: Vec<Hostname>,
}

impl Default for ClaimPolicy {
    fn default() -> Self {
        Self {
            h1: H1Trust::Proven,
            from: Vec::new(),
        }
    }
}
