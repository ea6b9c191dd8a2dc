//! The hashes that are proven to belong to a platform.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

use crate::addr::ProviderAddr;
use crate::contents::ReleaseBuilds;
use crate::coverage::{Attributions, MachinePackages};
use crate::hash::{Hash, Hashes, Scheme};
use crate::lockfile::LockFile;
use crate::package::{AttestedBuilds, PackageId, ReleaseFact, SignerKey};
use crate::platform::Platform;
use crate::version::Version;

/// The `h1:` of packages at hand, by provider and platform; only of the locked version.
pub type KnownHashes = BTreeMap<ProviderAddr, BTreeMap<Platform, Hash>>;

/// The platforms whose `h1:` somebody states, beside a signed `zh:`, and the entry of a provider lacks; each with
/// who states it.
pub type ClaimGaps = BTreeMap<ProviderAddr, BTreeMap<Platform, String>>;

/// The locked releases that facts know.
#[derive(Clone, Debug)]
pub struct LockedReleases {
    /// The releases that facts are about, by provider.
    pub releases: BTreeMap<ProviderAddr, Arc<ReleaseFact>>,
    /// The attestations that this run asked for; those of facts are in the releases.
    pub asked: AskedAttestations,
    /// The time of the run, for the age of releases.
    pub now: SystemTime,
}

/// The times when keys of locked releases expire, by provider and fingerprint.
pub type KeyEnds = BTreeMap<ProviderAddr, BTreeMap<String, SystemTime>>;

/// The keys that signed locked releases, by provider; none of a key means that nothing signs the release.
pub type LockedSigners = BTreeMap<ProviderAddr, BTreeSet<SignerKey>>;

/// The attested builds of the packages of locked releases, by provider.
pub type LockedAttestations = BTreeMap<ProviderAddr, AttestedBuilds>;

/// The answers about attestations of locked packages.
#[derive(Clone, Debug, Default)]
pub struct AskedAttestations {
    /// The builds, by provider.
    pub builds: LockedAttestations,
    /// The providers with an attestation that does not hold, each with the reason.
    pub invalid: Vec<(ProviderAddr, String)>,
}

/// The known builds of the locked releases, by provider.
pub type LockedBuilds = BTreeMap<ProviderAddr, ReleaseBuilds>;

/// The use that a program makes of a directory with packages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PackageOrigin {
    /// The packages that it runs.
    Installed,
    /// The plugin cache: it links packages from there (`cliconfig` rules 6).
    Cache,
    /// A filesystem mirror: it installs packages from there (`cliconfig` rules 5).
    Mirror,
    /// Nothing; somebody wants the packages to be checked.
    Named,
}

/// The packages that were checked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PackagesVerdict {
    /// The number of packages of each origin that match a recorded hash.
    pub verified: BTreeMap<PackageOrigin, usize>,
    /// The number of packages that do not, or that cannot be hashed.
    pub not_verified: usize,
    /// Those that the user named and that belong to no entry of this lock file.
    pub unplaced: Vec<PathBuf>,
}

/// Unpacked packages of mirrors at hand that no recorded hash accepts.
pub type RefusedPackages = BTreeSet<(ProviderAddr, Platform)>;

/// The packages of each locked or required provider on this machine, for its own platform.
pub type Machines = BTreeMap<(ProviderAddr, Platform), MachineFacts>;

/// The packages of a provider on this machine.
#[derive(Clone, Debug)]
pub struct MachineFacts {
    /// The input for predictions of `init` and `plan`.
    pub machine: MachinePackages,
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
    /// The recorded hashes refuse it, and so does `init`.
    pub is_refused: bool,
}

/// The hashes that an entry has kept from the version which was locked before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CarriedHashes {
    /// The provider of the entry.
    pub provider: ProviderAddr,
    /// The version that the entry had before.
    pub version: Version,
    /// The hashes that both versions of the entry have; one `zh:` may be that of a manifest.
    pub hashes: Hashes,
}

/// A package with a recorded hash, although facts give another one for its platform.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlteredPackage {
    /// The package that it is in the place of.
    pub id: PackageId,
    /// The directory or zip that was hashed.
    pub place: PathBuf,
    /// The recorded `h1:` that it has; none if only the hash of its zip is recorded.
    pub h1: Vec<Hash>,
    /// The `h1:` of the package of the release.
    pub expected: Hash,
}

/// The hashes that the packages at hand and facts prove.
#[derive(Clone, Debug, Default)]
pub struct PackageFacts {
    /// The `h1:` of packages of the locked versions; an entry may lack those that only facts prove.
    pub known: KnownHashes,
    /// The `zh:` of their zips, as far as facts prove them.
    pub zips: KnownHashes,
    /// The recorded hashes that facts show to be of no package of the locked release.
    pub strangers: BTreeMap<ProviderAddr, Hashes>,
    /// The packages of mirrors that `init` refuses.
    pub refused: RefusedPackages,
    /// The packages whose recorded hash facts contradict.
    pub altered: Vec<AlteredPackage>,
    /// The packages on this machine.
    pub machines: Machines,
}

impl PackageOrigin {
    /// Returns true if packages are there for any root that needs them.
    #[must_use]
    pub fn is_shared(self) -> bool {
        matches!(self, Self::Cache | Self::Mirror)
    }
}

impl LockedReleases {
    /// Returns the times when keys expire that signed the releases, by fingerprint.
    pub fn key_ends(&self) -> impl Iterator<Item = (&ProviderAddr, &BTreeMap<String, SystemTime>)> {
        self.releases
            .iter()
            .map(|(provider, release)| (provider, &release.key_ends))
    }

    /// Returns the keys that signed the release of a provider.
    #[must_use]
    pub fn signers(&self, provider: &ProviderAddr) -> Option<&BTreeSet<SignerKey>> {
        self.releases.get(provider).map(|release| &release.signers)
    }

    /// Returns the attested builds of packages, by the answers of this run where there are some, else by facts.
    #[must_use]
    pub fn attested(&self, provider: &ProviderAddr) -> Option<&AttestedBuilds> {
        // The answer of this run may be that there is none any more.
        let by_facts = || self.releases.get(provider).map(|known| &known.attested);
        self.asked.builds.get(provider).or_else(by_facts)
    }

    /// Returns no release at all.
    #[must_use]
    pub fn unknown() -> Self {
        Self {
            releases: BTreeMap::new(),
            asked: AskedAttestations::default(),
            now: SystemTime::UNIX_EPOCH,
        }
    }
}

impl PackageFacts {
    /// Adds the facts about platforms without a package at hand.
    pub fn complete(&mut self, attributions: &Attributions) {
        for (provider, attribution) in attributions {
            let known = self.known.entry(provider.clone()).or_default();
            let zips = self.zips.entry(provider.clone()).or_default();
            for (platform, fact) in attribution.by_platform() {
                known
                    .entry(platform.clone())
                    .or_insert_with(|| fact.h1.clone());
                zips.insert(platform.clone(), fact.zh.clone());
            }
            let mut strangers = attribution.unlisted();
            strangers.extend(attribution.foreign().keys());
            // Where some package is not known, it is not known either which `h1:` is left over.
            if attribution.unseen() == Some(0) {
                strangers.extend(attribution.surplus());
            }
            strangers.retain(|hash| !attribution.is_of_release(hash));
            self.strangers
                .insert(provider.clone(), strangers.into_iter().cloned().collect());
        }
    }

    /// Adds the `zh:` that known releases list for each platform, and the `h1:` of their packages to entries without any
    /// `zh:`: without a `zh:` no fact about a zip attributes their `h1:`.
    pub fn complete_by_releases(&mut self, lock: &LockFile, releases: &LockedReleases) {
        for (provider, release) in &releases.releases {
            let Some(entry) = lock.providers.get(provider) else {
                continue;
            };
            // A release that was published again has two packages for a platform, and either may be locked.
            if release.lists_release {
                let mut listed: Vec<(&Platform, &Hash)> = release
                    .packages
                    .iter()
                    .map(|(zh, package)| (&package.platform, zh))
                    .collect();
                listed.sort_by_key(|(_, zh)| !entry.hashes.contains(zh));
                let zips = self.zips.entry(provider.clone()).or_default();
                for (platform, zh) in listed {
                    zips.entry(platform.clone()).or_insert_with(|| zh.clone());
                }
            }
            if entry.hashes.of(Scheme::Zh).next().is_some() {
                continue;
            }
            let known = self.known.entry(provider.clone()).or_default();
            let mut h1s: Vec<(&Platform, &Hash)> = release
                .packages
                .values()
                .filter_map(|package| Some((&package.platform, package.h1.as_ref()?)))
                .collect();
            h1s.sort_by_key(|(_, h1)| !entry.hashes.contains(h1));
            for (platform, h1) in h1s {
                known.entry(platform.clone()).or_insert_with(|| h1.clone());
            }
        }
    }
}
