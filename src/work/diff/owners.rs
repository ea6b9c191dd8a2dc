//! The judgement of facts on the hashes of a change: the platforms that they belong to, and which belong to no package.

use std::collections::BTreeMap;

use crate::coverage::Attribution;
use crate::hash::{Hash, Hashes, Scheme};
use crate::locker::TrustedFacts;
use crate::platform::Platform;
use crate::report::FileResult;
use crate::review::{ChangeKind, JudgedHashes, ProviderChange, ProviderSide};
use crate::run::facts::UserFacts;

/// Adds to each change which platforms its hashes belong to, and what facts say of those that were added.
pub(super) fn add(files: &mut [FileResult], facts: &UserFacts<'_>) {
    for file in files {
        for provider in &mut file.comparison.review.providers {
            provider.owners = owners(&provider.change, facts);
            let judged = judged(&provider.change, facts);
            provider.add_judged(judged);
        }
    }
}

/// Asks the facts about hashes of a release. Imported facts do not count: the two states of a file may be those of
/// different project files.
fn attribution(side: &ProviderSide, hashes: &Hashes, facts: &UserFacts<'_>) -> Attribution {
    facts.attribute(TrustedFacts::OWN, &side.addr, &side.lock.version, hashes)
}

/// Returns the hashes of both entries that are of the release of one: either may hold the `zh:` that explains an `h1:`.
fn of_release(side: &ProviderSide, change: &ProviderChange) -> Hashes {
    change
        .before()
        .into_iter()
        .chain(change.now())
        .filter(|other| {
            other.addr.type_name() == side.addr.type_name()
                && other.lock.version == side.lock.version
        })
        .flat_map(|other| &other.lock.hashes)
        .cloned()
        .collect()
}

/// Returns the platforms of the hashes that only one entry has.
fn owners(change: &ProviderChange, facts: &UserFacts<'_>) -> BTreeMap<Hash, Vec<Platform>> {
    let known = [change.before(), change.now()]
        .map(|side| side.map(|side| attribution(side, &of_release(side, change), facts)));
    let known = || known.iter().flatten();
    change
        .moved()
        .filter_map(|hash| {
            let owners = known().map(|known| known.platforms_of(hash));
            let owners = owners.into_iter().find(|owners| !owners.is_empty())?;
            Some((hash.clone(), owners))
        })
        .collect()
}

/// Judges the hashes that only the new entry has.
fn judged(change: &ProviderChange, facts: &UserFacts<'_>) -> JudgedHashes {
    let Some(side) = change.now() else {
        return JudgedHashes::default();
    };
    let now = attribution(side, &side.lock.hashes, facts);
    let gained = |scheme| change.gained(scheme).into_iter();
    let surplus = now.surplus();
    let (unlisted, foreign) = (now.unlisted(), now.foreign());
    // Of more `h1:` than unknown packages only the number is wrong, and it is not known which.
    let of_no_package =
        gained(Scheme::H1).filter(|h1| surplus.contains(h1) || foreign.contains_key(*h1));
    let zips = gained(Scheme::Zh).filter(|zh| unlisted.contains(zh) || foreign.contains_key(*zh));
    let of_no_package: Hashes = of_no_package.chain(zips).cloned().collect();
    let both = attribution(side, &of_release(side, change), facts);
    // If the version moved to a release whose packages other machines have hashed, unknown hashes are normal.
    let is_same_version = [ChangeKind::HashesAdded, ChangeKind::HashesReplaced]
        .iter()
        .any(|kind| change.kinds.contains(kind));
    let unexplained = both.unexplained();
    let is_unknown = |h1: &&Hash| unexplained.contains(h1) && !of_no_package.contains(h1);
    let unknown = gained(Scheme::H1)
        .filter(is_unknown)
        .filter(|_| is_same_version && both.package_count() > 0);
    JudgedHashes {
        unknown: unknown.count(),
        of_no_package: of_no_package.len(),
        h1_of_no_package: of_no_package.of(Scheme::H1).count(),
    }
}
