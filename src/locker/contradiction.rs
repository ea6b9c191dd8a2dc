//! Recorded hashes against the packages and the signed list of their release (rules 2.4).
//!
//! Only a signed list contradicts a recorded hash, alone or with the packages that it lists. What a
//! mirror holds is not signed: it may show that something is wrong, but not what.

use std::sync::Arc;

use super::fetch::{Form, Hashed, HashedPackage};
use super::prove::ListView;
use super::{Against, Contradicted, LockError, Remedy, Replaced, RootRequest};
use crate::flavor::Flavor;
use crate::hash::{self, Hash, Hashes, Match, Scheme};
use crate::store::{Facts, StoredFact};

/// What a comparison came to.
pub(super) struct Compared {
    /// Contradictions that stay.
    pub(super) errors: Vec<LockError>,
    /// Recorded hashes that do not stay.
    pub(super) replaced: Vec<Replaced>,
}

/// Compares the recorded hashes of a version with what was found of it.
pub(super) fn compare(
    recorded: &Hashes,
    one: &Hashed,
    request: &RootRequest<'_>,
    facts: &dyn Facts,
    contradicted: Contradicted,
) -> Compared {
    let list = one.proven.lists.view();
    let unvouched = list.map_or_else(Unvouched::default, |list| {
        let known = |zh: &Hash| request.trusted.find(facts, zh);
        Unvouched::find(one, list, recorded, known)
    });
    let is_signed = list.is_some_and(|list| list.is_signed);
    let what = is_list(recorded, one, request.source.flavor);
    let packages = one.packages.iter();
    let contradicting = packages.filter_map(|package| {
        let zh = match list {
            Some(list) if !list.is_signed => unrecorded_zip(recorded, package, what)?,
            _ => unlisted_zip(recorded, package, what)?,
        };
        // Where the list has every recorded hash, none of them is wrong, and a package that was added to
        // the list is no reason to trust it.
        let has_proof = is_signed && list.is_some_and(|list| list.hashes.contains(zh));
        let remedy = if has_proof && !unvouched.unlisted.is_empty() {
            Remedy::Repair
        } else {
            Remedy::ByHand
        };
        let stays = contradicted == Contradicted::Alarm || remedy == Remedy::ByHand;
        stays.then(|| LockError::Contradiction {
            id: Box::new(one.id(package)),
            place: package.place().unwrap_or_default(),
            zh: zh.clone(),
            remedy,
        })
    });
    let mut errors: Vec<LockError> = contradicting.collect();
    let (left, replaced) = match contradicted {
        Contradicted::Alarm => (unvouched, Vec::new()),
        // A list without a signature shows that something is wrong, but not what.
        Contradicted::Replaced if !is_signed => (unvouched, Vec::new()),
        Contradicted::Replaced => unvouched.replace(),
    };
    errors.extend(left.error(one, recorded, list));
    Compared { errors, replaced }
}

/// What the recorded `zh:` are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Recorded {
    /// Those of all packages of the release.
    List,
    /// Those of some packages, or none.
    Some,
}

/// Returns whether the recorded `zh:` are the signed list of the release, so that every platform's zip
/// is among them.
///
/// They are if there are more of them than `h1:`. Terraform records nothing but whole lists. OpenTofu
/// records single ones as well, from OCI and network mirrors, and then the count says nothing. For a
/// mirror, which states no list, as many as platforms that it offers count as well.
fn is_list(recorded: &Hashes, one: &Hashed, flavor: Flavor) -> Recorded {
    let listed = recorded.of(Scheme::Zh).count();
    let offered = one.proven.offered.platforms.len();
    let whole = match one.proven.lists.proof {
        Some(_) => listed >= 2 && !flavor.records_hashes_of_mirrors(),
        None => offered >= 2 && listed >= offered,
    };
    if whole || recorded.lists_release() {
        Recorded::List
    } else {
        Recorded::Some
    }
}

/// Returns the hash of a zip that is not in the recorded list of the release.
///
/// The lock file as it is makes the next `init` from there fail. With the new hash it would pass, so
/// nothing is written: a difference from `providers lock`, which checks nothing. A signature does not
/// change that: a list that was signed anew may hold the old hashes and others beside them. Any other
/// mismatch may be just another platform's package.
fn unlisted_zip<'p>(
    recorded: &Hashes,
    package: &'p HashedPackage,
    what: Recorded,
) -> Option<&'p Hash> {
    let Form::Zip { zh, .. } = &package.content.form else {
        return None;
    };
    let known = recorded.contains(&package.content.h1)
        || hash::matches(recorded, &package.content.as_installed_from()) != Match::Mismatch;
    (!known && what == Recorded::List).then_some(zh)
}

/// Returns the hash of a zip that is not recorded although others are, where no signature covers it.
///
/// An `h1:` alone is no reason to accept it: whoever alters what the registry states may have slipped
/// that in before, and withholds the key now (`sources` rules 9.5).
fn unrecorded_zip<'p>(
    recorded: &Hashes,
    package: &'p HashedPackage,
    what: Recorded,
) -> Option<&'p Hash> {
    let Form::Zip { zh, .. } = &package.content.form else {
        return None;
    };
    let has_list = recorded.of(Scheme::Zh).next().is_some();
    let is_known = recorded.contains(zh);
    let is_replaced = what == Recorded::List || recorded.contains(&package.content.h1);
    (has_list && !is_known && is_replaced).then_some(zh)
}

/// Recorded hashes that contradict the checksum list of the release.
///
/// Each of them would accept a package without a signature: both programs keep them for ever.
#[derive(Default)]
struct Unvouched {
    /// The `zh:` that the list does not have.
    unlisted: Vec<Hash>,
    /// `h1:` of no package that was looked at, if they are more than the packages that were not.
    surplus: Vec<Hash>,
    /// How many packages of the list were not looked at, and are not known either.
    unseen: usize,
    /// The zips that were looked at. A mirror may have one that the list does not have: its `zh:` would
    /// be recorded again.
    looked_at: Hashes,
}

impl Unvouched {
    /// Compares recorded hashes with the list.
    ///
    /// A list of one package is none of a release: some registries have one for each platform. Else a
    /// recorded `zh:` must be in the list. A recorded `h1:` may be that of a package that was not
    /// looked at; there are as many of these as the list has zips beside those that were, and beside
    /// those whose `h1:` is known.
    fn find(
        one: &Hashed,
        list: ListView<'_>,
        recorded: &Hashes,
        known: impl Fn(&Hash) -> Option<Arc<StoredFact>>,
    ) -> Self {
        if !list.lists_release {
            return Self::default();
        }
        let packages = one.packages.iter();
        let looked_at: Hashes = packages
            .filter_map(|package| package.content.zh())
            .collect();
        let unlisted = recorded
            .of(Scheme::Zh)
            .filter(|zh| !list.hashes.contains(zh));
        // A zip with directory entries has two `h1:`, and OpenTofu records both.
        let is_own = |hash: &Hash| {
            one.packages.iter().any(|package| {
                package.content.h1 == *hash || package.content.member_h1() == Some(hash)
            })
        };
        let unknown = recorded.of(Scheme::H1).filter(|h1| !is_own(h1));
        let mut unknown: Vec<Hash> = unknown.cloned().collect();
        let mut unseen = 0;
        for zh in list.zips.iter().filter(|zh| !looked_at.contains(zh)) {
            // Facts are of interest only where something is left to explain.
            match unknown.first().and_then(|_| known(zh)) {
                Some(fact) => unknown.retain(|h1| *h1 != fact.fact.h1),
                None => unseen += 1,
            }
        }
        Self {
            unlisted: unlisted.cloned().collect(),
            surplus: if unknown.len() > unseen {
                unknown
            } else {
                Vec::new()
            },
            unseen,
            looked_at,
        }
    }

    /// Separates the hashes that are shown to be wrong from those of which some are, and it is unknown
    /// which.
    fn replace(self) -> (Self, Vec<Replaced>) {
        let replaced = |against| move |hash| Replaced { hash, against };
        let mut left = self;
        let (held, unlisted): (Vec<Hash>, Vec<Hash>) = std::mem::take(&mut left.unlisted)
            .into_iter()
            .partition(|zh| left.looked_at.contains(zh));
        left.unlisted = held;
        let surplus = match left.unseen {
            0 => std::mem::take(&mut left.surplus),
            _ => Vec::new(),
        };
        let unlisted = unlisted.into_iter().map(replaced(Against::SignedList));
        let surplus = surplus.into_iter().map(replaced(Against::EveryPackage));
        (left, unlisted.chain(surplus).collect())
    }

    fn error(
        self,
        one: &Hashed,
        recorded: &Hashes,
        list: Option<ListView<'_>>,
    ) -> Option<LockError> {
        let is_signed = list.is_some_and(|list| list.is_signed);
        let would_stay = self.unlisted.iter().any(|zh| self.looked_at.contains(zh));
        let remedy = if !is_signed || would_stay {
            Remedy::ByHand
        } else if self.surplus.is_empty() || self.unseen == 0 {
            Remedy::Repair
        } else {
            Remedy::RepairAllPlatforms
        };
        let hashes = [self.unlisted, self.surplus].concat();
        let selected = &one.proven.offered.selected;
        let is_listed = |zh: &Hash| list.is_some_and(|list| list.hashes.contains(zh));
        (!hashes.is_empty()).then(|| LockError::Unvouched {
            provider: Box::new(selected.provider.clone()),
            version: selected.version.clone(),
            hashes,
            is_signed,
            any_listed: recorded.of(Scheme::Zh).any(is_listed),
            remedy,
        })
    }
}
