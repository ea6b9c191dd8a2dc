//! Recorded hashes against the packages and the signed list of their release (rules 2.4), and claimed hashes
//! against the same (rules 4.3).
//!
//! Only a signed list contradicts a recorded hash, alone or with the packages that it lists. A package of a
//! mirror is not signed: it may show that something is wrong, but not what.

use super::claims;
use super::lists::UnitedList;
use super::stages::{HashedPackage, ReleaseWork};
use super::{
    Contradicted, ContradictedBy, ContradictedHash, KnownContent, LockError, Remedy, RootRequest,
    TrustedFacts, UnattributedH1,
};
use crate::flavor::Flavor;
use crate::hash::{self, Hash, Hashes, Match, Scheme};
use crate::package::{ClaimedPackage, Claims};
use crate::platform::Platform;
use crate::store::Facts;

/// The result of comparing recorded hashes with evidence.
pub(super) struct Compared {
    /// The contradictions that are not repaired.
    pub(super) errors: Vec<LockError>,
    /// Recorded hashes that do not stay.
    pub(super) replaced: Vec<ContradictedHash>,
    /// Recorded `h1:` that stay, because they may be those of packages that were not hashed.
    pub(super) not_compared: Vec<Hash>,
}

/// Compares the recorded hashes of a version with the evidence of this run; `new` are the hashes that this run
/// would add.
pub(super) fn compare(
    recorded: &Hashes,
    new: &Hashes,
    hashed: &ReleaseWork,
    request: &RootRequest<'_>,
    facts: &dyn Facts,
    contradicted: Contradicted,
) -> Compared {
    let list = hashed.lists.any();
    let is_signed = hashed.lists.signed().is_some();
    let mut unvouched = list.map_or_else(Unvouched::default, |list| {
        Unvouched::find(hashed, list, recorded, new, request.trusted, facts)
    });
    let flavor = request.source.flavor;
    let mut errors = contradicted_packages(recorded, hashed, &unvouched, flavor, contradicted);
    if is_signed {
        // A mirror may have a zip that the list does not have. Its `zh:` would be recorded again, so that no repair
        // helps, and the next run would refuse what this one wrote.
        for package in &hashed.packages {
            let is_of_package = |zh: &&Hash| package.content.hashes.zh() == Some(*zh);
            if let Some(zh) = unvouched.unlisted.iter().find(is_of_package).cloned() {
                unvouched.unlisted.retain(|other| *other != zh);
                errors.push(LockError::Unlisted {
                    id: Box::new(hashed.selected.package(&package.platform)),
                    place: package.location().unwrap_or_default(),
                    zh,
                });
            }
        }
    }
    // A list without a signature shows that something is wrong, but not what.
    let is_repair = is_signed && contradicted == Contradicted::Replaced;
    let mut replaced = Vec::new();
    if is_repair {
        replaced = unvouched.replace(&foreign_hashes(recorded, hashed, request, facts));
    }
    let not_compared = if list.is_none() && hashed.metas.is_empty() {
        // No source was asked. Where nothing is known of the release, each `h1:` would be unexplained.
        let selected = &hashed.selected;
        let (provider, version) = (&selected.provider, &selected.version);
        let attribution = request
            .trusted
            .attribute(facts, provider, version, recorded);
        if attribution.is_empty() {
            Vec::new()
        } else {
            attribution.unexplained().into_iter().cloned().collect()
        }
    } else {
        unvouched.unattributed.recorded.clone()
    };
    errors.extend(unvouched.error(hashed, recorded, list));
    Compared {
        errors,
        replaced,
        not_compared,
    }
}

/// Returns the recorded hashes that facts attribute to other releases.
fn foreign_hashes(
    recorded: &Hashes,
    hashed: &ReleaseWork,
    request: &RootRequest<'_>,
    facts: &dyn Facts,
) -> Hashes {
    let selected = &hashed.selected;
    let (provider, version) = (&selected.provider, &selected.version);
    let attribution = request
        .trusted
        .attribute(facts, provider, version, recorded);
    attribution.foreign().keys().cloned().collect()
}

/// Reports packages whose zip the recorded hashes contradict, unless a repair replaces these hashes.
///
/// The recorded `zh:` are the whole list of the release if there are more of them than `h1:`. Terraform records nothing
/// but whole lists. OpenTofu records single ones as well, from OCI and network mirrors, and then the count says
/// nothing. For a mirror, which states no list, as many as platforms that it offers count as well.
fn contradicted_packages(
    recorded: &Hashes,
    hashed: &ReleaseWork,
    unvouched: &Unvouched,
    flavor: Flavor,
    contradicted: Contradicted,
) -> Vec<LockError> {
    let list = hashed.lists.any();
    let is_signed = hashed.lists.signed().is_some();
    let count = recorded.of(Scheme::Zh).count();
    let offered = hashed.platforms.offered.len();
    let counts_as_list = if is_signed {
        count >= 2 && !flavor.records_hashes_of_mirrors()
    } else {
        offered >= 2 && count >= offered
    };
    let is_whole = counts_as_list || recorded.lists_release();
    let mut errors = Vec::new();
    for package in &hashed.packages {
        let Some(zh) = package.content.hashes.zh() else {
            continue;
        };
        let has_h1 = recorded.contains(&package.content.hashes.h1);
        let is_contradicted = if list.is_some_and(|list| !list.is_signed()) {
            // Without a signature that covers the zip, an `h1:` alone is no reason to accept it: an attacker who
            // alters the statements of the registry may have added the `h1:` before, and withholds the key now
            // (`sources` rules 9.5).
            count > 0 && !recorded.contains(zh) && (is_whole || has_h1)
        } else {
            // The lock file as it is makes the next `init` from there fail. With the new hash it would pass, so
            // nothing is written: a difference from `providers lock`, which checks nothing (rules 2.4). A signature
            // does not change that: a list that was signed anew may hold the old hashes and others beside them.
            // Any other mismatch may be just another platform's package.
            let matched = hash::matches(recorded, &package.content.hashes.to_install());
            is_whole && !has_h1 && matched == Match::Mismatch
        };
        if !is_contradicted {
            continue;
        }
        // Where the list has every recorded hash, none of them is wrong, and a package that was added to
        // the list is no reason to trust it.
        let is_in_list = is_signed && list.is_some_and(|list| list.hashes.contains(zh));
        let remedy = if is_in_list && !unvouched.unlisted.is_empty() {
            Remedy::Repair
        } else {
            Remedy::ByHand
        };
        if contradicted == Contradicted::Alarm || remedy == Remedy::ByHand {
            errors.push(LockError::Contradiction {
                id: Box::new(hashed.selected.package(&package.platform)),
                place: package.location().unwrap_or_default(),
                zh: zh.clone(),
                remedy,
            });
        }
    }
    errors
}

/// Recorded hashes that contradict the checksum list of the release.
///
/// Each of them would accept a package without a signature: both programs keep them for ever.
#[derive(Default)]
struct Unvouched {
    /// The `zh:` that the list does not have.
    unlisted: Vec<Hash>,
    /// The `h1:` of no package that was hashed.
    unattributed: UnattributedH1,
}

impl Unvouched {
    /// Compares recorded hashes, and those that this run would add, with the list.
    ///
    /// A `zh:` that is recorded, or that a mirror adds, must be in the list. A recorded `h1:` may be that of a
    /// package that was not hashed; there are as many of these as the list has zips beside those that were, and
    /// beside those whose `h1:` is known.
    fn find(
        provider: &ReleaseWork,
        list: &UnitedList,
        recorded: &Hashes,
        new: &Hashes,
        trusted: TrustedFacts,
        facts: &dyn Facts,
    ) -> Self {
        if !provider.has_whole_list(list) {
            return Self::default();
        }
        let hashed: Hashes = provider
            .packages
            .iter()
            .filter_map(|package| package.content.hashes.zh())
            .cloned()
            .collect();
        // A zip with directory entries has two `h1:`, and OpenTofu records both.
        let is_of_hashed = |h1: &Hash| {
            provider
                .packages
                .iter()
                .map(|package| &package.content.hashes)
                .any(|hashes| hashes.h1 == *h1 || hashes.member_h1() == Some(h1))
        };
        // Statements of a registry are included: written beside the recorded hashes, they would be an alarm in
        // the next run.
        let mut unknown: Vec<Hash> = recorded
            .union(new)
            .of(Scheme::H1)
            .filter(|h1| !is_of_hashed(h1))
            .cloned()
            .collect();
        let mut packages_left = 0;
        for zh in list.zips.iter().filter(|zh| !hashed.contains(zh)) {
            // The store is read only as long as some `h1:` is left to explain.
            match unknown.first().and_then(|_| trusted.find(facts, zh)) {
                Some(stored) => unknown.retain(|h1| *h1 != stored.fact.h1),
                None => packages_left += 1,
            }
        }
        // OpenTofu records the `zh:` of a mirror's zip, in the list or not (`sources` rules 8.5).
        let would_be_added =
            |zh: &&Hash| list.is_signed() && hashed.contains(zh) && !recorded.contains(zh);
        let (recorded_h1, stated): (Vec<Hash>, Vec<Hash>) =
            unknown.into_iter().partition(|h1| recorded.contains(h1));
        Self {
            unlisted: recorded
                .of(Scheme::Zh)
                .chain(new.of(Scheme::Zh).filter(would_be_added))
                .filter(|zh| !list.hashes.contains(zh))
                .cloned()
                .collect(),
            unattributed: UnattributedH1 {
                recorded: recorded_h1,
                stated: stated.len(),
                packages_left,
            },
        }
    }

    /// Removes the hashes that are shown to be wrong; `foreign` are those of other releases. Hashes stay if some
    /// of them are wrong and it is unknown which.
    fn replace(&mut self, foreign: &Hashes) -> Vec<ContradictedHash> {
        let mut replaced = Vec::new();
        for zh in self.unlisted.drain(..) {
            replaced.push(ContradictedHash {
                hash: zh,
                against: ContradictedBy::SignedList,
            });
        }
        let unattributed = &mut self.unattributed;
        for h1 in unattributed
            .recorded
            .extract_if(.., |h1| foreign.contains(h1))
        {
            replaced.push(ContradictedHash {
                hash: h1,
                against: ContradictedBy::OtherRelease,
            });
        }
        // While the `h1:` of a package is unknown, a recorded one may be its hash.
        if unattributed.packages_left == 0 {
            for h1 in unattributed.recorded.drain(..) {
                replaced.push(ContradictedHash {
                    hash: h1,
                    against: ContradictedBy::EveryPackage,
                });
            }
        }
        replaced
    }

    fn error(
        self,
        provider: &ReleaseWork,
        recorded: &Hashes,
        list: Option<&UnitedList>,
    ) -> Option<LockError> {
        let surplus = Some(self.unattributed).filter(|h1| h1.least_wrong() > 0);
        if self.unlisted.is_empty() && surplus.is_none() {
            return None;
        }
        let is_signed = list.is_some_and(UnitedList::is_signed);
        // Without a signature the list may be as wrong as the lock file, and nothing is repaired by it.
        let remedy = if !is_signed {
            Remedy::ByHand
        } else if surplus.as_ref().is_none_or(|h1| h1.packages_left == 0) {
            Remedy::Repair
        } else {
            Remedy::RepairAllPlatforms
        };
        let is_listed = |zh: &Hash| list.is_some_and(|list| list.hashes.contains(zh));
        Some(LockError::Unvouched {
            provider: Box::new(provider.selected.provider.clone()),
            version: provider.selected.version.clone(),
            unlisted: self.unlisted,
            surplus: surplus.map(Box::new),
            is_signed,
            any_listed: recorded.of(Scheme::Zh).any(is_listed),
            remedy,
        })
    }
}

/// Compares the claims about a release with its list, with its packages and with facts.
pub(super) fn false_claims(
    provider: &ReleaseWork,
    request: &RootRequest<'_>,
    facts: &dyn Facts,
) -> Option<LockError> {
    let list = provider.lists.any();
    let known = |platform: &Platform, claimed: &ClaimedPackage| {
        known_content(platform, claimed, provider, request.trusted, facts)
    };
    let mut false_claims = Vec::new();
    for by_source in &provider.claims.of_source {
        let hashes = list.map(|list| &*list.hashes);
        false_claims.extend(claims::false_claims(by_source, hashes, known));
    }
    for by_other in &provider.claims.of_others {
        // Another registry may have built a package of the same name itself; its claim counts only if it means
        // the same zip.
        let mut same_zips = Claims::clone(by_other);
        same_zips.packages.retain(|_, package| {
            let mut zips = package.hashes.of(Scheme::Zh).peekable();
            let is_listed = |zh: &Hash| list.is_some_and(|list| list.zips.contains(zh));
            zips.peek().is_some() && zips.all(is_listed)
        });
        false_claims.extend(claims::false_claims(&same_zips, None, known));
    }
    (!false_claims.is_empty()).then(|| LockError::FalseClaims {
        provider: Box::new(provider.selected.provider.clone()),
        version: provider.selected.version.clone(),
        claims: false_claims,
    })
}

/// Returns the hashes of a package with claims: of the package of the platform, else of another one with the
/// same zip, else of a fact about the zip.
fn known_content(
    platform: &Platform,
    claimed: &ClaimedPackage,
    provider: &ReleaseWork,
    trusted: TrustedFacts,
    facts: &dyn Facts,
) -> Option<KnownContent> {
    // Some releases name one zip for several platforms.
    let has_same_zip = |package: &&HashedPackage| {
        package
            .content
            .hashes
            .zh()
            .is_some_and(|zh| claimed.hashes.contains(zh))
    };
    let package = provider
        .packages
        .iter()
        .find(|package| package.platform == *platform)
        .or_else(|| provider.packages.iter().find(has_same_zip));
    if let Some(package) = package {
        let content = &package.content;
        return Some(KnownContent {
            h1: std::iter::once(&content.hashes.h1)
                .chain(content.hashes.member_h1())
                .cloned()
                .collect(),
            by_fact: content.fact.is_some(),
        });
    }
    let stored = claimed
        .hashes
        .of(Scheme::Zh)
        .find_map(|zh| trusted.find(facts, zh))?;
    Some(KnownContent {
        h1: vec![stored.fact.h1.clone()],
        by_fact: true,
    })
}
