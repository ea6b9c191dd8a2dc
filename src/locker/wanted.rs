//! For which platforms hashes are wanted.

use std::collections::BTreeMap;

use crate::addr::ProviderAddr;
use crate::platform::Platform;

/// For which platforms hashes are wanted: all of these together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Each must exist.
    pub named: Vec<Platform>,
    /// Each that a release offers.
    pub preset: Vec<Platform>,
    /// Whatever a release offers.
    pub all: bool,
}

/// For which platforms the hashes of each provider are wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WantedPlatforms {
    /// Of every provider that has none of its own.
    pub every: Wanted,
    /// Of single providers.
    pub own: BTreeMap<ProviderAddr, Wanted>,
}

impl WantedPlatforms {
    /// Returns the platforms that are wanted for a provider.
    #[must_use]
    pub fn of(&self, provider: &ProviderAddr) -> &Wanted {
        self.own.get(provider).unwrap_or(&self.every)
    }
}

impl Wanted {
    /// Tells whether a platform is wanted by name or as part of a preset.
    #[must_use]
    pub fn has(&self, platform: &Platform) -> bool {
        self.named.contains(platform) || self.preset.contains(platform)
    }

    /// Returns all platforms but those that only a release tells, sorted.
    #[must_use]
    pub fn known(&self) -> Vec<Platform> {
        let mut platforms = [&*self.named, &*self.preset].concat();
        platforms.sort();
        platforms.dedup();
        platforms
    }
}
