//! Which wanted platforms a lock entry covers, and what the programs will do where it does not.
//!
//! Without facts it is unknown which hash belongs to which platform, so `h1:` hashes are counted
//! (rules 1.1); a package that was hashed shows it for its own platform, now or as the fact that an
//! [attribution](Attribution) has. From what an entry [holds](Held) for a platform [`predict`] derives what
//! each [route](Route) does.

mod attribution;
mod held;
mod routes;
#[cfg(test)]
mod tests;

pub mod rules {
    #![doc = include_str!("rules.md")]
}

use std::collections::BTreeMap;

use crate::addr::ProviderAddr;
use crate::hash::{Hash, Hashes, Scheme};
use crate::platform::Platform;

pub use attribution::Attribution;
pub use held::{
    Facts, Guess, Held, HeldEntry, Machine, MachineSource, Need, NeededBy, Recorded, Zh,
};
pub use routes::{
    Outcome, Prediction, Route, predict, predict_guess, predict_guess_here, predict_here,
    predict_unreadable,
};

/// What facts say about the hashes of each entry of a lock file.
pub type Attributions = BTreeMap<ProviderAddr, Attribution>;

/// How far one lock entry covers the wanted platforms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coverage {
    /// How many `h1:` hashes are recorded that can match a package.
    pub recorded: usize,
    /// The wanted platforms, sorted.
    pub wanted: Vec<Platform>,
    /// Which recorded hash belongs to which platform, as far as packages show it; wanted or not.
    pub known: BTreeMap<Platform, Hash>,
    /// Wanted platforms whose packages have an `h1:` that is not recorded, sorted.
    pub absent: Vec<Platform>,
    /// Wanted platforms that the release is known to have no package for, sorted.
    pub not_offered: Vec<Platform>,
    /// Wanted platforms that no package shows, sorted.
    pub unknown: Vec<Platform>,
    /// How many recorded `h1:` hashes no package explains.
    pub unexplained: usize,
}

/// Counts which wanted platforms an entry covers.
///
/// `known` are `h1:` hashes that packages have for sure; an entry may lack them.
#[must_use]
pub fn coverage(
    hashes: &Hashes,
    wanted: &[Platform],
    known: &BTreeMap<Platform, Hash>,
) -> Coverage {
    let hashes = hashes.matchable();
    let recorded = hashes.of(Scheme::H1).count();
    let is_told = |platform: &Platform| known.contains_key(platform);
    let is_absent = |platform: &Platform| {
        let hash = known.get(platform);
        hash.is_some_and(|hash| !hashes.contains(hash))
    };
    let mut wanted = wanted.to_vec();
    wanted.sort();
    wanted.dedup();
    let absent = wanted.iter().filter(|p| is_absent(p)).cloned().collect();
    let unknown = wanted.iter().filter(|p| !is_told(p)).cloned().collect();
    let known: BTreeMap<Platform, Hash> = known
        .iter()
        .filter(|(_, hash)| hashes.contains(hash))
        .map(|(platform, hash)| (platform.clone(), hash.clone()))
        .collect();
    let explained = hashes
        .of(Scheme::H1)
        .filter(|hash| known.values().any(|k| k == *hash))
        .count();
    Coverage {
        recorded,
        absent,
        not_offered: Vec::new(),
        unknown,
        wanted,
        known,
        unexplained: recorded - explained,
    }
}

impl Coverage {
    /// Takes into account which platforms a release has no package for.
    #[must_use]
    pub fn without(mut self, is_not_offered: impl Fn(&Platform) -> bool) -> Self {
        let unknown = self.unknown.into_iter();
        (self.not_offered, self.unknown) = unknown.partition(is_not_offered);
        self
    }

    /// Returns how many wanted platforms must lack an `h1:`, however the hashes are attributed.
    #[must_use]
    pub fn lacking(&self) -> usize {
        let certain = self.absent.len() + self.not_offered.len();
        certain + self.unknown.len().saturating_sub(self.unexplained)
    }

    /// Returns for how many wanted platforms an `h1:` is missed: for at least as many as are counted where
    /// nothing is known of the packages, although platforms that share one need no more (rules 1.2).
    #[must_use]
    pub fn missed(&self) -> usize {
        let counted = self.wanted.len().saturating_sub(self.recorded);
        self.lacking().max(counted)
    }

    /// Returns the wanted platforms that may lack an `h1:`, sorted.
    #[must_use]
    pub fn perhaps_lacking(&self) -> Vec<Platform> {
        let mut platforms = [&*self.absent, &*self.not_offered, &*self.unknown].concat();
        platforms.sort();
        platforms
    }

    /// Returns the wanted platforms that certainly lack an `h1:`, sorted: another hash is known to be
    /// theirs, the release has no package for them, or every recorded one belongs to a known platform.
    #[must_use]
    pub fn certainly_lacking(&self) -> Vec<Platform> {
        if self.unexplained == 0 {
            self.perhaps_lacking()
        } else {
            let mut platforms = [&*self.absent, &*self.not_offered].concat();
            platforms.sort();
            platforms
        }
    }
}
