//! Which hashes are known to belong to which platform.

use std::collections::{BTreeMap, BTreeSet};

use crate::addr::ProviderAddr;
use crate::coverage::{Attributions, Machine};
use crate::hash::Hash;
use crate::platform::Platform;

/// The `h1:` of packages at hand, by provider and platform; only of the locked version.
pub type KnownHashes = BTreeMap<ProviderAddr, BTreeMap<Platform, Hash>>;

/// In which form a mirror holds a package.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PackageForm {
    /// As a zip.
    Zip,
    /// As a directory.
    Directory,
}

/// Packages of mirrors at hand that no recorded hash accepts.
pub type RefusedPackages = BTreeSet<(ProviderAddr, Platform, PackageForm)>;

/// What this machine has of each locked or required provider, for its own platform.
pub type Machines = BTreeMap<(ProviderAddr, Platform), MachineFacts>;

/// What this machine has of a provider.
#[derive(Clone, Debug)]
pub struct MachineFacts {
    /// What decides about `init` and `plan`.
    pub machine: Machine,
    /// The package that `init` would install, if it is on this machine.
    pub package: Option<SourcePackage>,
}

/// A package of a mirror.
#[derive(Clone, Debug)]
pub struct SourcePackage {
    /// The hash of its files.
    pub h1: Hash,
    /// The hash of its zip, if it is one.
    pub zh: Option<Hash>,
    /// Whether `init` refuses it.
    pub is_refused: bool,
}

/// What the packages at hand say about platforms.
#[derive(Clone, Debug, Default)]
pub(super) struct PackageFacts {
    /// The `h1:` of packages of the locked versions; an entry may lack what only facts say.
    pub(super) known: KnownHashes,
    /// The `zh:` of their zips, as far as facts say it.
    pub(super) zips: KnownHashes,
    /// The hash of each installed package, recorded or not.
    pub(super) installed: KnownHashes,
    /// The packages of mirrors that `init` refuses.
    pub(super) refused: RefusedPackages,
    /// What this machine has.
    pub(super) machines: Machines,
}

impl PackageFacts {
    /// Adds what facts say of platforms of which no package is at hand.
    pub(super) fn complete(&mut self, attributions: &Attributions) {
        for (provider, attribution) in attributions {
            let known = self.known.entry(provider.clone()).or_default();
            let zips = self.zips.entry(provider.clone()).or_default();
            for (platform, fact) in attribution.by_platform() {
                let h1 = known.entry(platform.clone());
                h1.or_insert_with(|| fact.h1.clone());
                zips.insert(platform.clone(), fact.zh.clone());
            }
        }
    }
}
