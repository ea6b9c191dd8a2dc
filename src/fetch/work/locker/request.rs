//! The inputs of a run: what to lock, and where packages come from.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;

use crate::acquire::TrustedFacts;
use crate::addr::ProviderAddr;
use crate::authenticate::{Enforcement, Rules};
use crate::flavor::Flavor;
use crate::hash::Hashes;
use crate::lockfile::LockFile;
use crate::package::{AgePolicy, ClaimPolicy, KeyId, WantedPlatforms};
use crate::platform::Platform;
use crate::project::Policy;
use crate::requirement::Requirements;
use crate::resolve::Goals;
use crate::sources::Source;
use crate::sources::net::Net;

/// The sources of packages by the rules of a flavor.
///
/// Roots that are given the same value share its answers.
#[derive(Clone, Copy)]
pub struct FlavorSource<'a> {
    pub flavor: Flavor,
    /// The source of versions and packages.
    pub source: &'a dyn Source,
    /// The registries whose statements may replace a download; `None` where packages come from one
    /// mirror.
    pub registries: Option<&'a dyn Source>,
    /// The network that packages are downloaded from; a filesystem mirror uses none.
    pub net: &'a Net<'a>,
}

/// One root to lock.
#[derive(Clone, Copy)]
pub struct RootRequest<'a> {
    /// The source of its packages, with the flavor.
    pub source: &'a FlavorSource<'a>,
    /// Everything that it requires.
    pub requirements: &'a Requirements,
    /// The lock file as it is.
    pub lock: &'a LockFile,
    /// The hashes of locked versions that were recorded on another registry; they stay where the signed list
    /// of this one has the same packages (rules 5.3).
    pub elsewhere: &'a BTreeMap<ProviderAddr, Hashes>,
    /// The goal for each locked version: keep it, or move it.
    pub goals: &'a Goals,
    /// The versions that may be selected, and their age, if that is stated.
    pub policy: Option<&'a Policy>,
    /// Required providers that are not to be locked: nothing is asked about them, and their entries stay.
    pub overridden: &'a [ProviderAddr],
    /// The platforms whose hashes are wanted.
    pub platforms: &'a WantedPlatforms,
    /// Platforms whose recorded `h1:` are removed; none of these is wanted.
    pub dropped: &'a [Platform],
    /// The signatures that packages must have.
    pub demands: &'a SignatureDemands,
    /// The `h1:` that are written although nothing proves them.
    pub claims: &'a ClaimPolicy,
    /// The facts of the store that replace a download.
    pub trusted: TrustedFacts,
}

/// The demands of a root on signatures beyond those of its program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SignatureDemands {
    /// Every package must be in a signed list.
    pub required: bool,
    /// The only key that may sign the releases of a provider; every package of them must be in a
    /// list that it signed.
    pub keys: BTreeMap<ProviderAddr, KeyId>,
}

impl RootRequest<'_> {
    /// Returns true if something that was seen requires a provider.
    #[must_use]
    pub fn requires(&self, provider: &ProviderAddr) -> bool {
        self.requirements.providers.contains_key(provider)
    }

    /// Returns how old a release of a provider must be to be selected.
    #[must_use]
    pub fn age(&self, provider: &ProviderAddr) -> Option<AgePolicy> {
        self.policy?.age(provider, self.source.flavor)
    }

    /// Returns true if the run locks a provider, rather than leaving its entry alone.
    #[must_use]
    pub fn concerns(&self, provider: &ProviderAddr) -> bool {
        self.goals.of(provider).is_some()
    }
}

/// The settings of a run that are the same for all roots.
#[derive(Clone, Copy, Debug)]
pub struct LockSettings {
    /// Maximum number of packages that are hashed at once.
    pub jobs: NonZeroUsize,
    /// Maximum number of packages that are downloaded at once.
    pub downloads: NonZeroUsize,
    /// Maximum number of bytes that all packages which are downloaded have together.
    pub max_download: Option<u64>,
    /// The checks of signatures that the environment makes OpenTofu enforce.
    pub enforced: Enforcement,
    /// Every hash that is written must be computed in this run, or be in a signed list.
    pub prove: bool,
    /// The treatment of recorded hashes that evidence contradicts.
    pub contradicted: Contradicted,
}

impl LockSettings {
    /// Returns the rules for signatures.
    pub(super) fn rules(&self, flavor: Flavor) -> Rules {
        Rules {
            flavor,
            enforced: self.enforced,
        }
    }
}

/// The treatment of recorded hashes that evidence contradicts (rules 2.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contradicted {
    /// They are an alarm, and there is no lock file.
    Alarm,
    /// They are replaced by those that the evidence shows.
    Replaced,
}
