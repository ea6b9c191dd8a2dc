//! Coverage of the wanted platforms by a lock entry, and the behaviour of the programs where one is missing.
//!
//! Without facts it is unknown which hash belongs to which platform, so `h1:` hashes are counted (rules 1.1). A
//! hashed package shows the hash of its own platform, now or as the fact of an [attribution](Attribution).
//! [`predict`] derives the outcome of each [route](Route) from the entry as one [platform sees it](LockState).

mod attribution;
mod here;
mod routes;
mod state;
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
pub use here::{predict_guess_here, predict_here};
pub use routes::{Outcome, Prediction, Route, predict, predict_guess, predict_unreadable};
pub use state::{
    EntryHashes, EntryNeed, EntryState, Guess, KnownPackage, LockState, MachinePackages,
    MachineSource, NeededBy, Zh,
};

/// The attribution of the hashes of each entry of a lock file.
pub type Attributions = BTreeMap<ProviderAddr, Attribution>;

/// The evidence that entries have the `h1:` of every wanted platform.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", schemars(rename = "Proof"))]
pub enum CoverageProof {
    /// Packages or facts show which recorded hash is that of each wanted platform.
    Proven,
    /// As many hashes are recorded as platforms are wanted, and nothing shows whose they are.
    Counted,
    /// Hashes are missing, or nothing was compared.
    #[default]
    None,
}

/// The coverage of the wanted platforms by one lock entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coverage {
    /// The number of recorded `h1:` hashes that can match a package.
    pub recorded: usize,
    /// The wanted platforms, sorted.
    pub wanted: Vec<Platform>,
    /// The recorded hash of each platform, as far as packages show it; wanted or not.
    pub known: BTreeMap<Platform, Hash>,
    /// Wanted platforms whose packages have an `h1:` that is not recorded, sorted.
    pub absent: Vec<Platform>,
    /// Wanted platforms that the release is known to have no package for, sorted.
    pub not_offered: Vec<Platform>,
    /// Wanted platforms that no package shows, sorted.
    pub unknown: Vec<Platform>,
    /// The number of recorded `h1:` hashes that no package explains.
    pub unexplained: usize,
}

/// Determines the wanted platforms that an entry covers.
///
/// `known` are `h1:` hashes that packages have for sure; an entry may lack them.
#[must_use]
pub fn coverage(
    hashes: &Hashes,
    wanted: &[Platform],
    known: &BTreeMap<Platform, Hash>,
) -> Coverage {
    // A hash of the wrong form matches no package, so it must not count for a platform.
    let hashes = hashes.matchable();
    let recorded = hashes.of(Scheme::H1).count();
    let mut wanted = wanted.to_vec();
    wanted.sort();
    wanted.dedup();
    let (mut absent, mut unknown) = (Vec::new(), Vec::new());
    for platform in &wanted {
        match known.get(platform) {
            None => unknown.push(platform.clone()),
            Some(hash) if !hashes.contains(hash) => absent.push(platform.clone()),
            Some(_) => {}
        }
    }
    let known: BTreeMap<Platform, Hash> = known
        .iter()
        .filter(|(_, hash)| hashes.contains(hash))
        .map(|(platform, hash)| (platform.clone(), hash.clone()))
        .collect();
    // Packages of two platforms may have the same `h1:`, so the hashes are counted and not the platforms.
    let explained = hashes
        .of(Scheme::H1)
        .filter(|hash| known.values().any(|explained| explained == *hash))
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
    /// Takes out the platforms that a release has no package for.
    #[must_use]
    pub fn without(mut self, is_not_offered: impl Fn(&Platform) -> bool) -> Self {
        (self.not_offered, self.unknown) = self.unknown.into_iter().partition(is_not_offered);
        self
    }

    /// Counts platforms among those that lack an `h1:`, although no package shows it: somebody states another
    /// hash for each (rules 1.4).
    #[must_use]
    pub fn without_h1(mut self, is_lacking: impl Fn(&Platform) -> bool) -> Self {
        let (lacking, unknown) = self.unknown.into_iter().partition(is_lacking);
        self.unknown = unknown;
        self.absent.extend::<Vec<_>>(lacking);
        self.absent.sort();
        self
    }

    /// Counts the wanted platforms that must lack an `h1:`, however the hashes are attributed.
    #[must_use]
    pub fn lacking(&self) -> usize {
        let certain = self.absent.len() + self.not_offered.len();
        certain + self.unknown.len().saturating_sub(self.unexplained)
    }

    /// Counts the wanted platforms whose `h1:` is reported as missing: at least as many as if nothing were
    /// known of the packages, although platforms that share one need no more (rules 1.2).
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
        // Any unexplained `h1:` may be that of any unknown platform, so no single one can be named.
        if self.unexplained == 0 {
            self.perhaps_lacking()
        } else {
            let mut platforms = [&*self.absent, &*self.not_offered].concat();
            platforms.sort();
            platforms
        }
    }
}
