//! Facts that stand for packages, and those that are kept of packages.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::HashedZip;
use crate::addr::ProviderAddr;
use crate::coverage::Attribution;
use crate::hash::{Hash, Hashes};
use crate::package::{Fact, PackageId, PackedFile};
use crate::platform::Platform;
use crate::store::{FactOrigin, Facts, StoredFact, StoredRelease};
use crate::version::Version;

/// The facts of the store that replace a download (`store` rules 1).
///
/// Those that were computed for this user always do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TrustedFacts {
    /// Imported ones do as well.
    pub imported: bool,
    /// Those that a key signed that the project file names do as well.
    pub signed: bool,
}

impl TrustedFacts {
    /// Only the facts that were computed for this user.
    pub const OWN: Self = Self {
        imported: false,
        signed: false,
    };

    /// Returns the fact about the zip of a `zh:` hash, if it counts (`store` rules 1.3).
    #[must_use]
    pub fn find(self, facts: &dyn Facts, zh: &Hash) -> Option<Arc<StoredFact>> {
        facts.find(zh).filter(|stored| self.accepts(&stored.origin))
    }

    /// Returns what is known of a release, if it counts.
    #[must_use]
    pub fn release(
        self,
        facts: &dyn Facts,
        provider: &ProviderAddr,
        version: &Version,
    ) -> Option<Arc<StoredRelease>> {
        facts
            .release(provider, version)
            .filter(|stored| self.accepts(&stored.origin))
    }

    /// Returns true if data of this origin is trusted.
    #[must_use]
    pub fn accepts(self, origin: &FactOrigin) -> bool {
        match origin {
            FactOrigin::Computed => true,
            FactOrigin::Imported(_) => self.imported,
            FactOrigin::Signed(_) => self.signed,
        }
    }

    /// Attributes the hashes of a version to platforms by facts (`store` rules 1.2).
    #[must_use]
    pub fn attribute(
        self,
        facts: &dyn Facts,
        provider: &ProviderAddr,
        version: &Version,
        hashes: &Hashes,
    ) -> Attribution {
        if self.signed {
            facts.read_ahead(&[(provider.clone(), version.clone())]);
        }
        Attribution::of(provider, version, hashes, |zh| {
            self.find(facts, zh).map(|stored| stored.fact.clone())
        })
    }
}

impl HashedZip {
    /// Keeps a fact about a zip that a signed list names (`store` rules 1.1); `offered` are the platforms that the list
    /// has packages for.
    pub fn keep(&self, facts: &dyn Facts, bytes: u64, id: &PackageId, offered: BTreeSet<Platform>) {
        let zip = &self.hashes;
        // Programs disagree about such a zip, so one `h1:` could not represent it.
        if zip.h1 != zip.member_h1 || !zip.oddities.is_empty() {
            return;
        }
        let files: Option<Vec<PackedFile>> = zip
            .files
            .iter()
            .map(|file| {
                Some(PackedFile {
                    name: String::from_utf8(file.name.to_vec()).ok()?,
                    digest: file.digest,
                })
            })
            .collect();
        facts.keep(&Fact {
            zh: zip.zh.clone(),
            h1: zip.h1.clone(),
            size: bytes,
            id: id.clone(),
            // Some registries have a checksum list for each platform, which names no other.
            offered: if offered.len() < 2 {
                Vec::new()
            } else {
                offered.into_iter().collect()
            },
            files: files.unwrap_or_default(),
        });
        facts.keep_contents(&zip.zh, &self.contents);
    }
}
