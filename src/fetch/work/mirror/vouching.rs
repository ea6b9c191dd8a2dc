//! The evidence for packages of a release: a signed list of its registry, or the lock files alone.

use std::collections::{BTreeMap, BTreeSet};

use super::missing::Target;
use super::present::{Present, PresentPackage};
use super::release::ReleaseRun;
use super::union::WantedRelease;
use super::{MirrorExtent, MirroredRelease, MirroringError};
use crate::authenticate::Rules;
use crate::coverage::Attribution;
use crate::hash::{Hash, Hashes, Scheme};
use crate::locker::{self, LockError, Release, ReleaseList};
use crate::lockfile::ProviderLock;
use crate::platform::Platform;

/// The checksum list that vouches for packages, or the reason why lock files vouch for them.
pub(super) enum Vouching {
    List(Box<ReleaseList>),
    LockFiles(String),
    /// No list is needed, because the mirror has every wanted package.
    NotNeeded,
}

impl Vouching {
    /// Returns the platforms of the release; none if neither the list nor a fact states them.
    pub(super) fn offered(&self, attribution: &Attribution) -> BTreeSet<Platform> {
        match self {
            Self::List(list) => list
                .zips
                .iter()
                .map(|(platform, _)| platform.clone())
                .collect(),
            Self::LockFiles(_) | Self::NotNeeded => attribution.offered().clone(),
        }
    }
}

/// The evidence that earlier runs kept about a release.
pub(super) struct KnownEvidence {
    pub(super) attribution: Attribution,
    /// The hashes of its signed list.
    kept_list: Option<Hashes>,
}

impl KnownEvidence {
    /// Returns the hashes of the signed list of the release: as it was fetched, else as it was kept.
    pub(super) fn signed(&self, vouching: &Vouching) -> Option<Hashes> {
        match vouching {
            Vouching::List(list) if list.signers.is_empty() => None,
            Vouching::List(list) => Some(list.hashes.clone()),
            Vouching::LockFiles(_) | Vouching::NotNeeded => self.kept_list.clone(),
        }
    }
}

impl<'a> ReleaseRun<'a> {
    /// Reads what earlier runs kept about a release.
    pub(super) fn known_evidence(&self, wanted: &WantedRelease<'_>) -> KnownEvidence {
        let trusted = self.roots[wanted.root()].trusted;
        let Release { provider, version } = &wanted.release;
        // Some registries have a list for each platform, which says nothing of the others.
        let kept = trusted
            .release(self.facts, provider, version)
            .filter(|kept| kept.release.lists_release);
        KnownEvidence {
            attribution: wanted.attribution(self.roots, self.facts),
            kept_list: kept.map(|kept| {
                let list = &kept.release;
                list.packages.keys().chain(&list.others).cloned().collect()
            }),
        }
    }

    /// Finds the evidence for packages; makes no request if lock files record the present packages and none is missing.
    pub(super) fn vouching(
        &self,
        wanted: &WantedRelease<'_>,
        evidence: &KnownEvidence,
        present: &BTreeMap<Platform, PresentPackage>,
    ) -> Result<Vouching, Vec<MirroringError>> {
        let (settings, attribution) = (self.mirror.settings, &evidence.attribution);
        let is_settled = |(platform, package): (&Platform, &PresentPackage)| {
            let locked = self.locked_target(wanted, platform, evidence, true);
            let lacks = attribution.lacks(platform) && !wanted.platforms.named.contains(platform);
            let is_right = |present: &Present| match present {
                Present::Hashed(package) => locked.accepts(package),
                Present::Unhashed => true,
                Present::None => lacks,
                Present::Unreadable(_) | Present::Damaged(..) => false,
            };
            (is_right(&package.zip) || !settings.layout.has_zips())
                && (is_right(&package.directory) || !settings.layout.has_directories())
        };
        let is_known = !wanted.platforms.all || !attribution.offered().is_empty();
        if is_known && present.iter().all(is_settled) && !self.needs_signature(wanted) {
            return Ok(Vouching::NotNeeded);
        }
        let root = &self.roots[wanted.root()];
        let registry = match (settings.extent, root.registry) {
            (MirrorExtent::Check, _) => {
                return Ok(Vouching::LockFiles("--check makes no request".to_owned()));
            }
            (_, None) => return Ok(Vouching::LockFiles("no request may be made".to_owned())),
            (_, Some(registry)) => registry,
        };
        let rules = Rules {
            flavor: root.flavor,
            enforced: settings.enforced,
        };
        let now = registry.net.clock.now();
        let asked = [wanted.release.clone()];
        match locker::releases(registry.source, &asked, &rules, now).pop() {
            Some(Ok(vouched)) => Ok(match vouched.list {
                Some(list) => Vouching::List(Box::new(list)),
                None => Vouching::LockFiles("the registry does not offer the version".to_owned()),
            }),
            // If the registry cannot be reached, the lock file is the evidence; any other error stops the release.
            // A wrong list is one: if it were ignored, an attacker could cause a downgrade.
            Some(Err(errors)) => {
                let unanswered = errors.iter().find_map(|error| match error {
                    LockError::Asking { cause } | LockError::Source(cause) => Some(cause),
                    _ => None,
                });
                match unanswered {
                    Some(cause) => Ok(Vouching::LockFiles(cause.to_string())),
                    None => Err(errors
                        .into_iter()
                        .map(|error| Box::new(error).into())
                        .collect()),
                }
            }
            None => Ok(Vouching::NotNeeded),
        }
    }

    /// Determines the wanted packages, with the hashes that each may have.
    pub(super) fn targets(
        &self,
        wanted: &WantedRelease<'_>,
        evidence: &KnownEvidence,
        vouching: &Vouching,
        outcome: &mut MirroredRelease,
    ) -> BTreeMap<Platform, Target> {
        let (platforms, attribution) = (&wanted.platforms, &evidence.attribution);
        let mut targets: BTreeMap<Platform, Target> = BTreeMap::new();
        let Vouching::List(list) = vouching else {
            let mut all = BTreeSet::from_iter(platforms.known());
            if platforms.all {
                all.extend(attribution.offered().iter().cloned());
            }
            for platform in all {
                let may_lack = !platforms.named.contains(&platform);
                if may_lack && attribution.lacks(&platform) {
                    outcome.skipped.push(platform);
                    continue;
                }
                let target = self.locked_target(wanted, &platform, evidence, may_lack);
                targets.insert(platform, target);
            }
            return targets;
        };
        for (platform, zh) in &list.zips {
            if platforms.all || platforms.has(platform) {
                let target = targets.entry(platform.clone()).or_insert_with(|| Target {
                    zips: Hashes::default(),
                    h1s: Hashes::default(),
                    directories: Hashes::default(),
                    may_lack: false,
                    known_zip: Some(zh.clone()),
                });
                target.zips.insert(zh.clone());
            }
        }
        for (platform, target) in &mut targets {
            target.directories = self.directories(wanted, platform, attribution, &target.zips);
        }
        let offered: BTreeSet<&Platform> = list.zips.iter().map(|(platform, _)| platform).collect();
        for platform in platforms.known() {
            if targets.contains_key(&platform) {
                continue;
            }
            // A platform on the command line must exist. A platform of the usual list is left out if the release has no
            // package for it, as in `lock`.
            if platforms.named.contains(&platform) {
                outcome.errors.push(MirroringError::NotOffered {
                    id: Box::new(wanted.id(&platform)),
                    offered: offered.iter().map(|platform| (*platform).clone()).collect(),
                });
            } else {
                outcome.skipped.push(platform);
            }
        }
        targets
    }

    /// Returns the target by lock files alone: the recorded zips, except those known to be for another platform, and
    /// those that a signed list of an earlier run does not have.
    fn locked_target(
        &self,
        wanted: &WantedRelease<'_>,
        platform: &Platform,
        evidence: &KnownEvidence,
        may_lack: bool,
    ) -> Target {
        let attribution = &evidence.attribution;
        let may_be_its = |zh: &&Hash| {
            let platforms = attribution.platforms_of(zh);
            platforms.is_empty() || platforms.contains(platform) || attribution.may_share_zips()
        };
        // An entry from a mirror does not record the list of the release, so only its `h1:` can vouch.
        let lists_none = |entry: &&&ProviderLock| !entry.hashes.lists_release();
        let h1s = wanted
            .entries
            .iter()
            .map(|(_, entry)| entry)
            .filter(lists_none)
            .flat_map(|entry| entry.hashes.of(Scheme::H1))
            .cloned()
            .collect();
        let kept_list = evidence.kept_list.as_ref();
        let may_be_signed = |zh: &&Hash| kept_list.is_none_or(|kept| kept.contains(zh));
        let zips: Hashes = wanted
            .zips()
            .iter()
            .filter(may_be_its)
            .filter(may_be_signed)
            .cloned()
            .collect();
        Target {
            directories: self.directories(wanted, platform, attribution, &zips),
            zips,
            h1s,
            may_lack,
            known_zip: attribution.package(platform).map(|fact| fact.zh.clone()),
        }
    }

    /// Returns the `h1:` that an unpacked package may have: recorded ones, except those known to be for another
    /// platform, and those of facts about its possible zips.
    fn directories(
        &self,
        wanted: &WantedRelease<'_>,
        platform: &Platform,
        attribution: &Attribution,
        zips: &Hashes,
    ) -> Hashes {
        if !self.mirror.settings.layout.has_directories() {
            return Hashes::default();
        }
        let trusted = self.roots[wanted.root()].trusted;
        let of_facts = zips
            .iter()
            .filter_map(|zh| Some(trusted.find(self.facts, zh)?.fact.h1.clone()));
        let recorded = wanted
            .entries
            .iter()
            .flat_map(|(_, entry)| entry.hashes.of(Scheme::H1))
            .filter(|h1| {
                // An `h1:` without a known platform may be that of any.
                let platforms = attribution.platforms_of(h1);
                platforms.is_empty() || platforms.contains(platform)
            })
            .cloned();
        of_facts.chain(recorded).collect()
    }
}
