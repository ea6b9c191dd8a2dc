//! For which platforms hashes are wanted, and which hashes are known to be whose.

use std::collections::BTreeMap;

use crate::addr::ProviderAddr;
use crate::hash::Hash;
use crate::platform::Platform;

/// The `h1:` of packages at hand, by provider and platform; only of the locked version.
pub type KnownHashes = BTreeMap<ProviderAddr, BTreeMap<Platform, Hash>>;

/// For which platforms each entry must have an `h1:`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Of every provider that has none of its own; sorted.
    pub every: Vec<Platform>,
    /// Of single providers; sorted.
    pub own: BTreeMap<ProviderAddr, Vec<Platform>>,
    /// Whether `lock` wants the same unless somebody tells it otherwise.
    pub are_usual: bool,
}

impl Wanted {
    /// Returns the same platforms for every provider, as somebody named them.
    #[must_use]
    pub fn every(mut platforms: Vec<Platform>) -> Self {
        platforms.sort();
        Self {
            every: platforms,
            own: BTreeMap::new(),
            are_usual: false,
        }
    }

    /// Returns the platforms that are wanted for a provider.
    #[must_use]
    pub fn of(&self, provider: &ProviderAddr) -> &[Platform] {
        self.own.get(provider).unwrap_or(&self.every)
    }
}
