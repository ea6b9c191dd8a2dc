//! Recorded hashes against the packages and the signed list of their release (rules 2.4).

use super::LockError;
use super::fetch::{Form, Hashed, HashedPackage};
use super::prove::Proof;
use crate::flavor::Flavor;
use crate::hash::{self, Hash, Hashes, Match, Scheme};

/// Returns whether the recorded `zh:` are the signed list of the release, so that every platform's zip
/// is among them.
///
/// They are if there are more of them than `h1:`. Terraform records nothing but whole lists. OpenTofu
/// records single ones as well, from OCI and network mirrors, and then the count says nothing. For a
/// mirror, which states no list, as many as platforms that it offers count as well.
pub(super) fn is_list(recorded: &Hashes, one: &Hashed, flavor: Flavor) -> Recorded {
    let listed = recorded.of(Scheme::Zh).count();
    let offered = one.proven.offered.platforms.len();
    let whole = match one.proven.proof {
        Some(_) => listed >= 2 && !flavor.records_hashes_of_mirrors(),
        None => offered >= 2 && listed >= offered,
    };
    if whole || recorded.lists_release() {
        Recorded::List
    } else {
        Recorded::Some
    }
}

/// What the recorded `zh:` are.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Recorded {
    /// Those of all packages of the release.
    List,
    /// Those of some packages, or none.
    Some,
}

/// Reports a zip that is not in the recorded list of the release.
///
/// The lock file as it is makes the next `init` from there fail. With the new hash it would pass, so
/// nothing is written: a difference from `providers lock`, which checks nothing. A signature does not
/// change that: a list that was signed anew may hold the old hashes and others beside them. Any other
/// mismatch may be just another platform's package.
pub(super) fn contradiction(
    recorded: &Hashes,
    package: &HashedPackage,
    what: Recorded,
) -> Option<LockError> {
    let Form::Zip { zh, .. } = &package.content.form else {
        return None;
    };
    let known = recorded.contains(&package.content.h1)
        || hash::matches(recorded, &package.content.as_installed_from()) != Match::Mismatch;
    if known || what == Recorded::Some {
        return None;
    }
    Some(LockError::Contradiction {
        id: Box::new(package.meta.id.clone()),
        place: package.meta.location.to_string(),
        zh: zh.clone(),
    })
}

/// Reports recorded hashes that contradict the signed list of the release.
///
/// A list of one package is none of a release: some registries have one for each platform. Else a
/// recorded `zh:` must be in the list. A recorded `h1:` may be that of a package that was not
/// looked at; there are as many of these as the list has zips beside those that were. Each such
/// hash would accept a package without a signature, so nothing is written: both programs keep them
/// for ever.
pub(super) fn unvouched(one: &Hashed, proof: &Proof, recorded: &Hashes) -> Option<LockError> {
    let selected = &one.proven.offered.selected;
    if !proof.lists_release {
        return None;
    }
    let packages = one.packages.iter();
    let looked_at: Hashes = packages
        .filter_map(|package| package.content.zh())
        .collect();
    let others = proof.zips.len().saturating_sub(looked_at.len());
    let unknown = recorded
        .of(Scheme::Zh)
        .filter(|zh| !proof.signed.contains(zh));
    let mut hashes: Vec<Hash> = unknown.cloned().collect();
    // A zip with directory entries has two `h1:`, and OpenTofu records both.
    let is_own = |hash: &Hash| {
        let mut packages = one.packages.iter();
        packages
            .any(|package| package.content.h1 == *hash || package.content.member_h1() == Some(hash))
    };
    let unknown: Vec<&Hash> = recorded.of(Scheme::H1).filter(|h1| !is_own(h1)).collect();
    if unknown.len() > others {
        hashes.extend(unknown.into_iter().cloned());
    }
    let any_listed = recorded.of(Scheme::Zh).any(|zh| proof.signed.contains(zh));
    (!hashes.is_empty()).then(|| LockError::Unvouched {
        provider: Box::new(selected.provider.clone()),
        version: selected.version.clone(),
        hashes,
        any_listed,
    })
}
