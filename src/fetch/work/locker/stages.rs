//! The values that pass from one stage of a run to the next, one for each provider of a root.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::claims::{ClaimedZip, CountedClaims};
use super::lists::{ReleaseLists, UnitedList};
use super::{AgeSearch, Release};
use crate::acquire::{PackageHashes, ZipIdentity};
use crate::addr::ProviderAddr;
use crate::hash::Hashes;
use crate::package::{PackageId, PackageMeta};
use crate::platform::Platform;
use crate::resolve::ProviderQuery;
use crate::store::StoredFact;
use crate::version::{Constraints, Version};

/// A provider with the versions that may be selected.
pub(super) struct Choice {
    pub(super) query: ProviderQuery,
    /// At least one, the preferred one first.
    pub(super) candidates: Vec<Version>,
    /// The newest release that is offered, even if the constraints exclude it.
    pub(super) newest: Option<Version>,
    pub(super) warnings: Vec<String>,
}

impl Choice {
    pub(super) fn select(self, version: Version, age: Option<AgeSearch>) -> Selected {
        Selected {
            version,
            locked: self.query.locked,
            newest: self.newest,
            warnings: self.warnings,
            provider: self.query.provider,
            constraints: self.query.constraints,
            age,
        }
    }
}

/// A provider with its version.
pub(super) struct Selected {
    pub(super) provider: ProviderAddr,
    pub(super) version: Version,
    /// All visible conditions on it.
    pub(super) constraints: Constraints,
    /// The version that was in the lock file.
    pub(super) locked: Option<Version>,
    /// The newest release that is offered, even if the constraints exclude it.
    pub(super) newest: Option<Version>,
    pub(super) warnings: Vec<String>,
    /// The search for the version, where a least age is stated.
    pub(super) age: Option<AgeSearch>,
}

impl Selected {
    pub(super) fn release(&self) -> Release {
        Release {
            provider: self.provider.clone(),
            version: self.version.clone(),
        }
    }

    pub(super) fn package(&self, platform: &Platform) -> PackageId {
        PackageId {
            provider: self.provider.clone(),
            version: self.version.clone(),
            platform: platform.clone(),
        }
    }
}

/// Facts about packages of a release, by platform.
pub(super) type KnownPackages = BTreeMap<Platform, Arc<StoredFact>>;

/// A selected provider with its packages, as far as the stages have got.
pub(super) struct ReleaseWork {
    pub(super) selected: Selected,
    pub(super) platforms: ReleasePlatforms,
    /// The packages for wanted platforms that were asked for and are not hashed yet, sorted by platform.
    pub(super) metas: Vec<Arc<PackageMeta>>,
    /// The packages for other wanted platforms, by facts; the list that came with `metas` names them.
    pub(super) known: KnownPackages,
    /// The statements about packages that count.
    pub(super) claims: CountedClaims,
    /// The packages for wanted platforms whose `h1:` is claimed and not computed; the list that came with
    /// `metas` names them.
    pub(super) claimed: BTreeMap<Platform, ClaimedZip>,
    /// The lists that prove the packages; none before they are checked.
    pub(super) lists: ReleaseLists,
    /// The hashed packages: in the end one for each wanted platform, sorted.
    pub(super) packages: Vec<HashedPackage>,
}

impl ReleaseWork {
    /// Returns true if a list has all packages of the release. Some registries have a list of one package for each
    /// platform, which is that of the release only if it has no other platform.
    pub(super) fn has_whole_list(&self, list: &UnitedList) -> bool {
        let is_only_package = list.zips.len() == 1 && self.platforms.offered.len() == 1;
        list.lists_release || is_only_package
    }
}

/// The platforms of a release, beside those of its packages.
pub(super) struct ReleasePlatforms {
    /// Every platform that the release is known to offer, sorted.
    pub(super) offered: Arc<[Platform]>,
    /// Wanted platforms that the release does not offer.
    pub(super) skipped: Vec<Platform>,
    /// A mirror lacks the skipped platforms; the release may have packages for them.
    pub(super) lacked_by_mirror: bool,
    /// Wanted platforms without any fact, because no source was asked.
    pub(super) unknown: Vec<Platform>,
}

impl ReleasePlatforms {
    /// Returns the wanted platforms that the source lists and has no package for.
    pub(super) fn missing(&self) -> Vec<Platform> {
        self.skipped
            .iter()
            .filter(|platform| self.offered.contains(platform))
            .cloned()
            .collect()
    }
}

/// One package with its hashes.
pub(super) struct HashedPackage {
    pub(super) platform: Platform,
    /// The answer of its source; `None` if no source was asked.
    pub(super) meta: Option<Arc<PackageMeta>>,
    pub(super) content: Arc<PackageContent>,
    /// Those of its hashes that a mirror states as well.
    pub(super) confirmed: Hashes,
}

impl HashedPackage {
    pub(super) fn by_fact(platform: Platform, fact: Arc<StoredFact>) -> Self {
        Self {
            platform,
            meta: None,
            content: Arc::new(PackageContent::by_fact(fact)),
            confirmed: Hashes::default(),
        }
    }

    /// Returns the URL or path of the package; `None` if no source was asked.
    pub(super) fn location(&self) -> Option<String> {
        self.meta.as_ref().map(|meta| meta.location.to_string())
    }
}

/// The content of a package, for all roots that need it.
pub(super) struct PackageContent {
    /// Its hashes, without its files.
    pub(super) hashes: PackageHashes,
    /// The fact that says so, if the package was not hashed in this run.
    pub(super) fact: Option<Arc<StoredFact>>,
}

impl PackageContent {
    pub(super) fn hashed(hashes: PackageHashes) -> Self {
        Self {
            hashes: PackageHashes {
                files: Vec::new(),
                ..hashes
            },
            fact: None,
        }
    }

    pub(super) fn by_fact(stored: Arc<StoredFact>) -> Self {
        let fact = &stored.fact;
        Self {
            hashes: PackageHashes {
                h1: fact.h1.clone(),
                zip: Some(ZipIdentity {
                    zh: fact.zh.clone(),
                    // Facts are kept of packages only where both are equal: nothing about these is odd (`store`
                    // rules 1.1).
                    member_h1: fact.h1.clone(),
                    oddities: Vec::new(),
                }),
                files: Vec::new(),
            },
            fact: Some(stored),
        }
    }
}
