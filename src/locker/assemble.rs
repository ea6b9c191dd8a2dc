//! Hashes to the lock file that follows from them (`commands.md` 4.2).

use std::collections::BTreeMap;

use super::fetch::{Form, Hashed, HashedPackage};
use super::{LockError, ProviderOutcome, Request};
use crate::archive::zip::Oddity;
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
        let computed: Hashes = one
            .packages
            .iter()
            .map(|package| package.h1.clone())
            .collect();
        let mut found = computed.clone();
        errors.extend(
            one.packages
                .iter()
                .filter_map(|package| contradiction(&recorded, package, one)),
        );
        if let Some(proof) = &one.proof {
            found = found.union(&proof.signed);
            errors.extend(unvouched(one, &recorded, &found));
        }
        let mut constraints = selected.constraints.clone();
        // Terms of modules that cannot be seen stay beside the visible ones.
        if let (Some(entry), false) = (old, request.requirements.unseen_calls.is_empty()) {
            constraints = constraints.union(entry.constraints.clone());
        }
        let hashes = recorded.union(&found);
        outcomes.push(outcome(one, &recorded, &found));
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
/// Recorded `zh:` are that list if there are more of them than `h1:`. Without a signed list to judge
/// by, as many as platforms that the source offers count as well: then every platform's zip is
/// among them.
///
/// The next `init` from there would be refused by the lock as it stands. Recording the new hash
/// would let it pass, so nothing is written: a difference from `providers lock`, which checks
/// nothing. A signature does not change that: a list that was signed anew may hold the old hashes
/// and others beside them. Any other mismatch may be just another platform's package.
fn contradiction(recorded: &Hashes, package: &HashedPackage, one: &Hashed) -> Option<LockError> {
    let Form::Zip { zh, .. } = &package.form else {
        return None;
    };
    let known = recorded.contains(&package.h1)
        || hash::matches(recorded, &package.as_installed_from()) != Match::Mismatch;
    let offered = one.found.offered.len();
    let listed = recorded.of(Scheme::Zh).count();
    let covers_source = one.proof.is_none() && offered >= 2 && listed >= offered;
    if known || !(recorded.lists_release() || covers_source) {
        return None;
    }
    Some(LockError::Contradiction {
        id: Box::new(package.meta.id.clone()),
        place: package.meta.location.to_string(),
        zh: zh.clone(),
    })
}

/// Reports recorded hashes that the signed list of the release speaks against.
///
/// A recorded `zh:` must stand in the list. A recorded `h1:` may be that of a package that was not
/// looked at; there are as many of these as the list has lines beside those that were. Each such
/// hash would let a package pass that nobody signed, so nothing is written: both programs keep
/// them for ever.
fn unvouched(one: &Hashed, recorded: &Hashes, found: &Hashes) -> Option<LockError> {
    let selected = &one.found.selected;
    // A zip with directory entries has two `h1:`, and OpenTofu records both.
    let members: Hashes = one
        .packages
        .iter()
        .filter_map(HashedPackage::member_h1)
        .collect();
    let unknown = |scheme| {
        let hashes = recorded.of(scheme);
        let hashes = hashes.filter(|hash| !found.contains(hash) && !members.contains(hash));
        hashes.cloned().collect::<Vec<Hash>>()
    };
    let mut hashes = unknown(Scheme::Zh);
    let h1 = unknown(Scheme::H1);
    let distinct = one.packages.iter().map(|package| match &package.form {
        Form::Zip { zh, .. } => zh.as_str(),
        Form::Directory => package.h1.as_str(),
    });
    let looked_at = distinct.collect::<std::collections::BTreeSet<&str>>().len();
    let listed = found.of(Scheme::Zh).count();
    if h1.len() > listed.saturating_sub(looked_at) {
        hashes.extend(h1);
    }
    let any_listed = recorded.of(Scheme::Zh).any(|hash| found.contains(hash));
    (!hashes.is_empty()).then(|| LockError::Unvouched {
        provider: Box::new(selected.provider.clone()),
        version: selected.version.clone(),
        hashes,
        any_listed,
    })
}

fn outcome(one: &Hashed, recorded: &Hashes, found: &Hashes) -> ProviderOutcome {
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
        .filter(|hash| !found.contains(hash))
        .count();
    ProviderOutcome {
        provider: selected.provider.clone(),
        version: selected.version.clone(),
        selected: !selected.locked,
        newest: selected.newest.clone(),
        warnings: selected.warnings.clone(),
        signed: one.proof.as_ref().map(|proof| proof.signed.clone()),
        signers: match &one.proof {
            Some(proof) => proof.signers.clone(),
            None => Vec::new(),
        },
        added: found
            .iter()
            .filter(|hash| !recorded.contains(hash))
            .cloned()
            .collect(),
        kept: recorded.iter().filter(|hash| !found.contains(hash)).count(),
        // Where there is a signed list, `unvouched` judges.
        unexplained: if one.proof.is_none() && matched.values().any(|m| *m == Match::Mismatch) {
            kept_h1.saturating_sub(not_hashed)
        } else {
            0
        },
        skipped: one.found.skipped.clone(),
        missing: missing(one),
        misnamed: one.packages.iter().filter_map(misnamed).collect(),
        oddities: oddities(&one.packages),
        computed: by_platform,
        matched,
    }
}

/// Returns the skipped platforms that the source announces, in their order.
fn missing(one: &Hashed) -> Vec<Platform> {
    let found = &one.found;
    let skipped = found.skipped.iter();
    skipped
        .filter(|p| found.offered.contains(p))
        .cloned()
        .collect()
}

fn oddities(packages: &[HashedPackage]) -> Vec<(Platform, Oddity)> {
    let of_all = packages.iter().flat_map(|package| {
        let platform = &package.meta.id.platform;
        let oddities = package.oddities.iter();
        oddities.map(|oddity| (platform.clone(), oddity.clone()))
    });
    of_all.collect()
}

/// Returns the name by which a package is signed, if that is not the one of its own version and
/// platform.
///
/// Nothing else ties a signed zip to them: a registry could hand out an old release for a new one.
fn misnamed(package: &HashedPackage) -> Option<(Platform, String)> {
    let id = &package.meta.id;
    let evidence = package.meta.evidence.as_ref()?;
    let type_name = id.provider.type_name();
    let (version, platform) = (&id.version, &id.platform);
    let usual = format!("terraform-provider-{type_name}_{version}_{platform}.zip");
    let is_usual = evidence.filename.to_lowercase() == usual.to_lowercase();
    (!is_usual).then(|| (platform.clone(), evidence.filename.clone()))
}
