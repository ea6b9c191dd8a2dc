//! Recorded `h1:` of platforms that are not wanted any more (rules 3.5).

use std::collections::BTreeSet;

use super::stages::ReleaseWork;
use super::{Dropped, RootRequest};
use crate::hash::{Hash, Hashes, Scheme};
use crate::platform::Platform;
use crate::store::Facts;

/// Finds the recorded `h1:` that belong to dropped platforms alone; `new` are the hashes that this run adds.
///
/// A hash that the package of another platform is known to have stays, whether that is wanted or not.
pub(super) fn find(
    request: &RootRequest<'_>,
    hashed: &ReleaseWork,
    facts: &dyn Facts,
    recorded: &Hashes,
    new: &Hashes,
) -> Dropped {
    let mut dropped = Dropped::default();
    if request.dropped.is_empty() || recorded.of(Scheme::H1).next().is_none() {
        return dropped;
    }
    let (provider, version) = (&hashed.selected.provider, &hashed.selected.version);
    // The signed list may name packages whose `zh:` is not recorded.
    let listed = recorded.union(new);
    let attribution = request.trusted.attribute(facts, provider, version, &listed);
    let of_kept_platforms: BTreeSet<&Hash> = attribution
        .packages()
        .filter(|fact| !request.dropped.contains(&fact.id.platform))
        .map(|fact| &fact.h1)
        .chain(
            hashed
                .packages
                .iter()
                .map(|package| &package.content.hashes.h1),
        )
        .collect();
    let is_removable = |h1: &Hash| recorded.contains(h1) && !of_kept_platforms.contains(h1);
    let has_unexplained = attribution.unexplained().into_iter().any(is_removable);
    let platforms: BTreeSet<&Platform> = request.dropped.iter().collect();
    for platform in platforms {
        if attribution.lacks(platform) {
            continue;
        }
        let of_platform: BTreeSet<&Hash> = attribution
            .packages()
            .filter(|fact| fact.id.platform == *platform)
            .map(|fact| &fact.h1)
            .collect();
        let mut removable = of_platform.iter().filter(|h1| is_removable(h1));
        // An `h1:` that no fact explains may be that of this platform (`coverage` rules 1.3).
        if of_platform.is_empty() && has_unexplained {
            dropped.unknown.push(platform.clone());
        } else if attribution.may_share_zips() {
            // The zip may also be that of a wanted platform without a fact.
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
