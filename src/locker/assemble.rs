//! Hashes to the lock file that follows from them (`commands.md` 4.2).

use std::collections::BTreeMap;

use super::fetch::{Form, Hashed, HashedPackage};
use super::{LockError, ProviderOutcome, Request};
use crate::hash::{self, Hash, Hashes, Match, Scheme};
use crate::lockfile::{LockFile, ProviderLock};
use crate::platform::Platform;

/// Unites the old entries with what was found.
pub(super) fn assemble(
    request: &Request<'_>,
    before: &LockFile,
    hashed: &[Hashed],
    errors: &mut Vec<LockError>,
) -> (LockFile, Vec<ProviderOutcome>) {
    let mut lock = before.clone();
    let mut outcomes = Vec::new();
    for one in hashed {
        let selected = &one.found.selected;
        let old = before.providers.get(&selected.provider);
        let recorded = old.map(|entry| entry.hashes.clone()).unwrap_or_default();
        let offered = one.found.offered.len();
        errors.extend(
            one.packages
                .iter()
                .filter_map(|p| contradiction(&recorded, p, offered)),
        );
        let computed: Hashes = one
            .packages
            .iter()
            .map(|package| package.h1.clone())
            .collect();
        let mut constraints = selected.constraints.clone();
        // Terms of modules that cannot be seen stay beside the visible ones.
        if let (Some(entry), false) = (old, request.requirements.unseen_calls.is_empty()) {
            constraints = constraints.union(entry.constraints.clone());
        }
        let hashes = recorded.union(&computed);
        outcomes.push(outcome(one, &recorded, &computed));
        let entry = ProviderLock {
            version: selected.version.clone(),
            constraints,
            hashes,
        };
        lock.providers.insert(selected.provider.clone(), entry);
    }
    (lock, outcomes)
}

/// Reports a zip that the recorded list of the release does not know.
///
/// Recorded `zh:` are that list if there are more of them than `h1:`, or as many as platforms that
/// the source offers: then every platform's zip is among them.
///
/// The next `init` from there would be refused by the lock as it stands. Recording the new hash
/// would let it pass, so nothing is written: a difference from `providers lock`, which checks
/// nothing. Any other mismatch may be just another platform's package.
fn contradiction(recorded: &Hashes, package: &HashedPackage, offered: usize) -> Option<LockError> {
    let Form::Zip { zh, .. } = &package.form else {
        return None;
    };
    let known = recorded.contains(&package.h1)
        || hash::matches(recorded, &package.as_installed_from()) != Match::Mismatch;
    let listed = recorded.of(Scheme::Zh).count();
    let is_list = recorded.lists_release() || (offered >= 2 && listed >= offered);
    if known || !is_list {
        return None;
    }
    Some(LockError::Contradiction {
        id: Box::new(package.meta.id.clone()),
        place: package.meta.location.to_string(),
        zh: zh.clone(),
    })
}

fn outcome(one: &Hashed, recorded: &Hashes, computed: &Hashes) -> ProviderOutcome {
    let selected = &one.found.selected;
    let platform = |package: &HashedPackage| package.meta.id.platform.clone();
    let by_platform: BTreeMap<Platform, Hash> = one
        .packages
        .iter()
        .map(|p| (platform(p), p.h1.clone()))
        .collect();
    let matched = one.packages.iter().map(|package| {
        (
            platform(package),
            hash::matches(recorded, &package.as_installed_from()),
        )
    });
    let matched: BTreeMap<Platform, Match> = matched.collect();
    let not_hashed = one
        .found
        .offered
        .iter()
        .filter(|p| !by_platform.contains_key(p))
        .count();
    let kept_h1 = recorded
        .of(Scheme::H1)
        .filter(|hash| !computed.contains(hash))
        .count();
    ProviderOutcome {
        provider: selected.provider.clone(),
        version: selected.version.clone(),
        selected: !selected.locked,
        newest: selected.newest.clone(),
        added: computed
            .iter()
            .filter(|hash| !recorded.contains(hash))
            .cloned()
            .collect(),
        kept: recorded
            .iter()
            .filter(|hash| !computed.contains(hash))
            .count(),
        unexplained: if matched.values().any(|m| *m == Match::Mismatch) {
            kept_h1.saturating_sub(not_hashed)
        } else {
            0
        },
        skipped: one.found.skipped.clone(),
        oddities: one
            .packages
            .iter()
            .flat_map(|p| {
                p.oddities
                    .iter()
                    .map(|oddity| (platform(p), oddity.clone()))
            })
            .collect(),
        computed: by_platform,
        matched,
    }
}
