//! Hashes to the lock file that follows from them (rules 2).

use std::collections::BTreeMap;

use super::fetch::{Form, Hashed, HashedPackage};
use super::prove::Proof;
use super::work::RootWork;
use super::{HashEvidence, LockError, Locked, ProviderOutcome, RootRequest};
use crate::addr::ProviderAddr;
use crate::archive::zip::Oddity;
use crate::flavor::Flavor;
use crate::hash::{self, Hash, Hashes, Match, Scheme};
use crate::lockfile::{LockFile, ProviderLock};
use crate::platform::Platform;

/// Makes the lock file of a root, or says why there is none.
pub(super) fn assemble(root: RootWork<'_, Hashed>) -> Result<Locked, Vec<LockError>> {
    let mut errors = root.errors;
    let mut lock = root.before.clone();
    let mut providers = Vec::new();
    for one in &root.providers {
        let entry = entry(root.request, &root.before, one, &mut errors);
        providers.push(entry.outcome);
        let provider = one.proven.offered.selected.provider.clone();
        lock.providers.insert(provider, entry.lock);
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    let requirements = root.request.requirements;
    let is_required = |addr: &ProviderAddr| root.request.requires(addr);
    let unrequired = lock.providers.keys().filter(|addr| !is_required(addr));
    let mut unrequired: Vec<ProviderAddr> = unrequired.cloned().collect();
    let mut removed = Vec::new();
    // What could not be seen may require them.
    if requirements.is_complete() {
        lock.providers.retain(|addr, _| is_required(addr));
        removed = std::mem::take(&mut unrequired);
    }
    Ok(Locked {
        lock,
        providers,
        unrequired,
        removed,
        unavailable: root.unavailable,
        carried_over: root.carried_over,
    })
}

/// The entry of a provider, with what was done for it.
struct Entry {
    lock: ProviderLock,
    outcome: ProviderOutcome,
}

/// Unites the old entry with what was found, and reports what contradicts it.
fn entry(
    request: &RootRequest<'_>,
    before: &LockFile,
    one: &Hashed,
    errors: &mut Vec<LockError>,
) -> Entry {
    let selected = &one.proven.offered.selected;
    let old = before.providers.get(&selected.provider);
    // Hashes of another version say nothing of this one.
    let recorded = old.filter(|entry| entry.version == selected.version);
    let recorded = recorded.map(|entry| entry.hashes.clone());
    let recorded = recorded.unwrap_or_default();
    let known = is_list(&recorded, one, request.source.flavor);
    let packages = one.packages.iter();
    let contradicting = packages.filter_map(|package| contradiction(&recorded, package, known));
    errors.extend(contradicting);
    let computed = one
        .packages
        .iter()
        .map(|package| package.content.h1.clone());
    let mut found: Hashes = computed.collect();
    // OpenTofu records what it has checked itself, Terraform nothing of it (`sources` rules 8.5).
    if request.source.flavor.records_hashes_of_mirrors() {
        let packages = one.packages.iter();
        found = packages.fold(found, |found, package| found.union(&package.confirmed));
    }
    if let Some(proof) = &one.proven.proof {
        found = found.union(&proof.signed);
        errors.extend(unvouched(one, proof, &recorded));
    }
    let constraints = match old {
        // What states them was not seen.
        Some(entry) if !request.requires(&selected.provider) => entry.constraints.clone(),
        Some(entry) => request
            .requirements
            .to_record(&selected.provider, &entry.constraints),
        None => selected.constraints.clone(),
    };
    Entry {
        outcome: outcome(one, &recorded, &found),
        lock: ProviderLock {
            version: selected.version.clone(),
            constraints,
            hashes: recorded.union(&found),
        },
    }
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
enum Recorded {
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
fn contradiction(recorded: &Hashes, package: &HashedPackage, what: Recorded) -> Option<LockError> {
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
fn unvouched(one: &Hashed, proof: &Proof, recorded: &Hashes) -> Option<LockError> {
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

fn outcome(one: &Hashed, recorded: &Hashes, found: &Hashes) -> ProviderOutcome {
    let selected = &one.proven.offered.selected;
    let platform = |package: &HashedPackage| package.meta.id.platform.clone();
    let by_platform: BTreeMap<Platform, Hash> = one
        .packages
        .iter()
        .map(|p| (platform(p), p.content.h1.clone()))
        .collect();
    let matched = one.packages.iter().map(|package| {
        (
            platform(package),
            hash::matches(recorded, &package.content.as_installed_from()),
        )
    });
    let matched: BTreeMap<Platform, Match> = matched.collect();
    let not_hashed = one
        .proven
        .offered
        .platforms
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
        selected: selected.locked.as_ref() != Some(&selected.version),
        moved_from: selected
            .locked
            .clone()
            .filter(|old| *old != selected.version),
        newest: selected.newest.clone(),
        warnings: selected.warnings.clone(),
        age: selected.age.clone(),
        signed: one.proven.proof.as_ref().map(|proof| proof.signed.clone()),
        signers: match &one.proven.proof {
            Some(proof) => proof.signers.clone(),
            None => Vec::new(),
        },
        added: found
            .iter()
            .filter(|hash| !recorded.contains(hash))
            .cloned()
            .collect(),
        kept: recorded.iter().filter(|hash| !found.contains(hash)).count(),
        // Where there is a signed list, `unvouched` checks that.
        unexplained: if one.proven.proof.is_none()
            && matched.values().any(|m| *m == Match::Mismatch)
        {
            kept_h1.saturating_sub(not_hashed)
        } else {
            0
        },
        skipped: one.proven.offered.skipped.clone(),
        missing: missing(one),
        misnamed: one.packages.iter().filter_map(misnamed).collect(),
        oddities: oddities(&one.packages),
        confirmed: one
            .packages
            .iter()
            .flat_map(|package| package.confirmed.iter().cloned())
            .collect(),
        unsigned: one
            .packages
            .iter()
            .filter(|package| is_unsigned(one, package))
            .map(platform)
            .collect(),
        evidence: evidence(one),
        computed: by_platform,
        matched,
    }
}

/// Returns where each hash was seen: in a signed list, in a package, or both.
fn evidence(one: &Hashed) -> BTreeMap<Hash, HashEvidence> {
    let listed = one.proven.proof.iter().flat_map(|proof| &proof.listed);
    let listed = listed.map(|(hash, line)| {
        let seen = HashEvidence {
            listed: Some(line.clone()),
            package: None,
        };
        (hash.clone(), seen)
    });
    let mut evidence: BTreeMap<Hash, HashEvidence> = listed.collect();
    for package in &one.packages {
        let zh = package.content.zh();
        let line = zh.as_ref().and_then(|zh| evidence.get(zh));
        let seen = HashEvidence {
            listed: line.and_then(|line| line.listed.clone()),
            package: Some(package.meta.location.to_string()),
        };
        let own = [Some(package.content.h1.clone()), zh];
        evidence.extend(own.into_iter().flatten().map(|hash| (hash, seen.clone())));
    }
    evidence
}

/// Returns whether a package is in no signed list, although its release has one.
fn is_unsigned(one: &Hashed, package: &HashedPackage) -> bool {
    let proof = one.proven.proof.as_ref();
    let zh = package.content.zh();
    proof.is_some_and(|proof| !zh.is_some_and(|zh| proof.signed.contains(&zh)))
}

/// Returns the skipped platforms that the source announces, in their order.
fn missing(one: &Hashed) -> Vec<Platform> {
    let offered = &one.proven.offered;
    let skipped = offered.skipped.iter();
    skipped
        .filter(|p| offered.platforms.contains(p))
        .cloned()
        .collect()
}

fn oddities(packages: &[HashedPackage]) -> Vec<(Platform, Oddity)> {
    let of_all = packages.iter().flat_map(|package| {
        let platform = &package.meta.id.platform;
        let oddities = package.content.oddities.iter();
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
