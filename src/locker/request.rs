//! What a run locks, and where packages come from.

use std::collections::BTreeMap;
use std::fmt;
use std::num::NonZeroUsize;
use std::sync::Arc;

use crate::addr::ProviderAddr;
use crate::authenticate::{Enforcement, Rules};
use crate::coverage::Attribution;
use crate::flavor::Flavor;
use crate::hash::{Hash, Hashes};
use crate::lockfile::LockFile;
use crate::package::{AgePolicy, ClaimPolicy, KeyId, WantedPlatforms};
use crate::platform::Platform;
use crate::requirement::Requirements;
use crate::resolve::Goals;
use crate::sources::Source;
use crate::sources::net::Net;
use crate::store::{Facts, Origin, StoredFact};
use crate::version::Version;

/// Where packages come from by the rules of a flavor.
///
/// Roots that are given the same value share its answers.
#[derive(Clone, Copy)]
pub struct FlavorSource<'a> {
    /// Whose rules apply.
    pub flavor: Flavor,
    /// Which versions and packages exist.
    pub source: &'a dyn Source,
    /// The registries whose statements may replace a download; `None` where packages come from one
    /// mirror.
    pub registries: Option<&'a dyn Source>,
    /// The network that packages are downloaded from; a filesystem mirror uses none.
    pub net: &'a Net<'a>,
}

/// One root to lock.
#[derive(Clone, Copy, Debug)]
pub struct RootRequest<'a> {
    /// Where its packages come from, and whose rules apply.
    pub source: &'a FlavorSource<'a>,
    /// What must be locked.
    pub requirements: &'a Requirements,
    /// What is locked so far.
    pub lock: &'a LockFile,
    /// What was recorded of locked versions on another registry; it stays where the signed list here has
    /// the same packages (rules 5.3).
    pub elsewhere: &'a BTreeMap<ProviderAddr, Hashes>,
    /// What is to become of locked versions.
    pub goals: &'a Goals,
    /// How old a release must be to be selected, if that matters.
    pub age: Option<AgePolicy>,
    /// Required providers that are not to be locked: nothing is asked about them, and their entries stay.
    pub overridden: &'a [ProviderAddr],
    /// For which platforms.
    pub platforms: &'a WantedPlatforms,
    /// Platforms whose recorded `h1:` are removed; none of these is wanted.
    pub dropped: &'a [Platform],
    /// Which signatures packages must have.
    pub demands: &'a SignatureDemands,
    /// Which `h1:` are written that nothing proves.
    pub claims: &'a ClaimPolicy,
    /// Which facts of the store replace a download.
    pub trusted: TrustedFacts,
}

/// Which facts of the store replace a download (`store` rules 1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TrustedFacts {
    /// Those that were computed for this user.
    Own,
    /// Imported ones as well.
    Imported,
}

/// What a root demands of signatures beyond what its program does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SignatureDemands {
    /// Whether every package must be in a signed list.
    pub required: bool,
    /// The only key that may sign the releases of a provider; every package of them must be in a
    /// list that it signed.
    pub keys: BTreeMap<ProviderAddr, KeyId>,
}

impl TrustedFacts {
    /// Returns what is known about the zip of a `zh:` hash, if it counts (`store` rules 1.3).
    #[must_use]
    pub fn find(self, facts: &dyn Facts, zh: &Hash) -> Option<Arc<StoredFact>> {
        let found = facts.find(zh)?;
        let counts = match found.origin {
            Origin::Computed => true,
            Origin::Imported(_) => self == Self::Imported,
        };
        counts.then_some(found)
    }

    /// Finds out what facts say about the hashes of a version (`store` rules 1.2).
    #[must_use]
    pub fn attribute(
        self,
        facts: &dyn Facts,
        provider: &ProviderAddr,
        version: &Version,
        hashes: &Hashes,
    ) -> Attribution {
        Attribution::of(provider, version, hashes, |zh| {
            let found = self.find(facts, zh)?;
            Some(found.fact.clone())
        })
    }
}

impl RootRequest<'_> {
    /// Returns whether something that was seen requires a provider.
    #[must_use]
    pub fn requires(&self, provider: &ProviderAddr) -> bool {
        self.requirements.providers.contains_key(provider)
    }
}

/// How a run does its work, whatever the root.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// How many packages are hashed at once.
    pub jobs: NonZeroUsize,
    /// How many packages are downloaded at once.
    pub downloads: NonZeroUsize,
    /// What the environment makes OpenTofu refuse.
    pub enforced: Enforcement,
    /// Whether every hash that is written must be computed in this run, or be in a signed list.
    pub prove: bool,
    /// What becomes of recorded hashes that evidence contradicts.
    pub contradicted: Contradicted,
}

impl Settings {
    /// Returns whose rules decide what a signature is worth.
    pub(super) fn rules(&self, flavor: Flavor) -> Rules {
        Rules {
            flavor,
            enforced: self.enforced,
        }
    }
}

/// What becomes of recorded hashes that evidence contradicts (rules 2.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contradicted {
    /// They are an alarm, and there is no lock file.
    Alarm,
    /// They are replaced by those that the evidence shows.
    Replaced,
}

impl fmt::Debug for FlavorSource<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut f = f.debug_struct("FlavorSource");
        f.field("flavor", &self.flavor).finish_non_exhaustive()
    }
}
