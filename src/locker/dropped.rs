//! Recorded `h1:` of platforms that are not wanted any more (rules 3.5).

use std::collections::{BTreeMap, BTreeSet};

use super::RootRequest;
use super::fetch::Hashed;
use crate::hash::{Hash, Hashes, Scheme};
use crate::platform::Platform;
use crate::store::Facts;

/// What became of the `h1:` of platforms that were to be dropped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dropped {
    /// The recorded hashes that were removed, each with the dropped platforms whose package has it.
    pub hashes: BTreeMap<Hash, Vec<Platform>>,
    /// Dropped platforms of which it is unknown which recorded `h1:` is theirs, sorted: one may be.
    pub unknown: Vec<Platform>,
}

/// Finds the recorded `h1:` that belong to dropped platforms alone; `found` is what this run adds.
///
/// A hash that the package of another platform is known to have stays, whether that is wanted or not.
pub(super) fn find(
    request: &RootRequest<'_>,
    one: &Hashed,
    facts: &dyn Facts,
    recorded: &Hashes,
    found: &Hashes,
) -> Dropped {
    let mut dropped = Dropped::default();
    if request.dropped.is_empty() || recorded.of(Scheme::H1).next().is_none() {
        return dropped;
    }
    let selected = &one.proven.offered.selected;
    let (provider, version) = (&selected.provider, &selected.version);
    // The signed list may name packages whose `zh:` is not recorded.
    let listed = recorded.union(found);
    let known = request.trusted.attribute(facts, provider, version, &listed);
    let is_kept = |platform: &Platform| !request.dropped.contains(platform);
    let computed: Hashes = one.packages.iter().map(|p| p.content.h1.clone()).collect();
    let kept = known.packages().filter(|fact| is_kept(&fact.id.platform));
    let kept: Hashes = kept.map(|fact| fact.h1.clone()).collect();
    let is_other = |h1: &Hash| computed.contains(h1) || kept.contains(h1);
    let mut unexplained = known.unexplained().into_iter();
    let has_unexplained = unexplained.any(|h1| recorded.contains(h1) && !is_other(h1));
    let platforms: BTreeSet<&Platform> = request.dropped.iter().collect();
    for platform in platforms.into_iter().filter(|one| !known.lacks(one)) {
        let own = known.packages();
        let own = own.filter(|fact| fact.id.platform == *platform);
        let own: BTreeSet<&Hash> = own.map(|fact| &fact.h1).collect();
        let removable = own.iter();
        let mut removable = removable.filter(|h1| recorded.contains(h1) && !is_other(h1));
        if own.is_empty() && has_unexplained {
            dropped.unknown.push(platform.clone());
        } else if known.may_share_zips() {
            // The zip may be that of a platform, too, of which no fact says so.
            if removable.next().is_some() {
                dropped.unknown.push(platform.clone());
            }
        } else {
            for h1 in removable {
                let owners = dropped.hashes.entry((*h1).clone()).or_default();
                owners.push(platform.clone());
            }
        }
    }
    dropped
}
