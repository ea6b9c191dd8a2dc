//! Hashes to the lock file that follows from them (rules 2).

use std::collections::BTreeMap;
use std::sync::Arc;

use super::claims::ClaimTrust;
use super::outcome::SeenPackage;
use super::stages::{HashedPackage, ReleaseWork};
use super::work::RootWork;
use super::{
    ContradictedHash, Dropped, EvidenceByHash, LockError, LockSettings, Locked, ProviderOutcome,
    RootRequest, contradiction, convert, dropped,
};
use crate::addr::ProviderAddr;
use crate::archive::zip::Oddity;
use crate::hash::{self, Hash, Hashes, Match, Scheme};
use crate::lockfile::{LockFile, ProviderLock};
use crate::platform::Platform;
use crate::store::Facts;
use crate::version::Constraints;

/// Makes the lock file of a root.
///
/// # Errors
/// Everything that went wrong in all stages, if anything did.
pub(super) fn assemble(
    root: RootWork<'_, ReleaseWork>,
    facts: &dyn Facts,
    settings: &LockSettings,
) -> Result<Locked, Vec<LockError>> {
    let request = root.request;
    let mut errors = root.errors;
    let (mut providers, mut entries) = (Vec::new(), Vec::new());
    for hashed in &root.providers {
        let (lock, outcome) = entry(request, &root.before, hashed, facts, settings, &mut errors);
        providers.push(outcome);
        entries.push((hashed.selected.provider.clone(), lock));
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    let mut lock = root.before;
    lock.providers.extend(entries);
    let mut unrequired: Vec<ProviderAddr> = lock
        .providers
        .keys()
        .filter(|addr| !request.requires(addr) && request.concerns(addr))
        .cloned()
        .collect();
    let mut removed = Vec::new();
    // Where a module or the state was not seen, it may require them (rules 2.6).
    if request.requirements.is_complete() {
        lock.providers
            .retain(|addr, _| request.requires(addr) || !request.concerns(addr));
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

/// Unites the old entry with the hashes of this run, and reports contradictions.
fn entry(
    request: &RootRequest<'_>,
    before: &LockFile,
    hashed: &ReleaseWork,
    facts: &dyn Facts,
    settings: &LockSettings,
    errors: &mut Vec<LockError>,
) -> (ProviderLock, ProviderOutcome) {
    let selected = &hashed.selected;
    let old = before.providers.get(&selected.provider);
    // Hashes of another version say nothing of this one.
    let mut recorded = old
        .filter(|entry| entry.version == selected.version)
        .map(|entry| entry.hashes.clone())
        .unwrap_or_default();
    // Those of the other registry count only if its packages are the same (rules 5.3).
    if let Some(list) = hashed.lists.signed()
        && let Some(elsewhere) = request.elsewhere.get(&selected.provider)
        && convert::is_same_release(elsewhere, &list.hashes)
    {
        recorded = recorded.union(elsewhere);
    }
    let new = new_hashes(request, settings, hashed);
    let repairs = settings.contradicted;
    let compared = contradiction::compare(&recorded, &new, hashed, request, facts, repairs);
    errors.extend(compared.errors);
    errors.extend(contradiction::false_claims(hashed, request, facts));
    let conflicts = facts.conflicts(&selected.provider, &selected.version);
    if !conflicts.is_empty() {
        errors.push(LockError::FactsContradict {
            provider: Box::new(selected.provider.clone()),
            version: selected.version.clone(),
            conflicts,
        });
    }
    let removed = RemovedHashes {
        replaced: compared.replaced,
        not_compared: compared.not_compared,
        dropped: dropped::find(request, hashed, facts, &recorded, &new),
    };
    // Hashes that nothing shows stay beside the proven ones, unknown schemes included: a user may have
    // recorded them for a platform or a tool that this run does not look at (rules 2.3).
    let remaining: Hashes = recorded
        .iter()
        .filter(|hash| !removed.contains(hash))
        .cloned()
        .collect();
    let lock = ProviderLock {
        version: selected.version.clone(),
        constraints: constraints(request, old, hashed),
        hashes: remaining.union(&new),
    };
    (lock, outcome(hashed, &recorded, &new, removed))
}

/// Returns the hashes that this run adds: computed, signed and claimed ones.
fn new_hashes(request: &RootRequest<'_>, settings: &LockSettings, hashed: &ReleaseWork) -> Hashes {
    let mut new: Hashes = hashed
        .packages
        .iter()
        .map(|package| &package.content.hashes.h1)
        .chain(hashed.claimed.values().map(|claimed| &claimed.h1))
        .cloned()
        .collect();
    // OpenTofu records what it has checked itself, Terraform nothing of it (`sources` rules 8.5).
    if request.source.flavor.records_hashes_of_mirrors() {
        for package in &hashed.packages {
            new = new.union(&package.confirmed);
        }
    }
    // The programs add every line of a signed list (`sources` rules 9.2), OpenTofu those of an unsigned one as well
    // (9.4).
    if let Some(list) = hashed.lists.any() {
        new = new.union(&list.hashes);
    }
    let trust = ClaimTrust::new(request, settings, &hashed.selected.provider);
    new.union(&trust.recordable(&hashed.claims))
}

fn constraints(
    request: &RootRequest<'_>,
    old: Option<&ProviderLock>,
    hashed: &ReleaseWork,
) -> Constraints {
    let selected = &hashed.selected;
    match old {
        // The module that states them was not seen, so the line stays (rules 2.2).
        Some(entry) if !request.requires(&selected.provider) => entry.constraints.clone(),
        Some(entry) => request
            .requirements
            .to_record(&selected.provider, &entry.constraints),
        None => selected.constraints.clone(),
    }
}

/// Recorded hashes that do not stay.
struct RemovedHashes {
    replaced: Vec<ContradictedHash>,
    dropped: Dropped,
    /// The recorded `h1:` that stay without having been compared.
    not_compared: Vec<Hash>,
}

impl RemovedHashes {
    fn contains(&self, hash: &Hash) -> bool {
        self.dropped.hashes.contains_key(hash)
            || self.replaced.iter().any(|replaced| replaced.hash == *hash)
    }
}

fn outcome(
    hashed: &ReleaseWork,
    recorded: &Hashes,
    new: &Hashes,
    removed: RemovedHashes,
) -> ProviderOutcome {
    let selected = &hashed.selected;
    let signed = hashed.lists.signed();
    let matched = comparison(hashed, recorded);
    let platforms = &hashed.platforms;
    ProviderOutcome {
        provider: selected.provider.clone(),
        version: selected.version.clone(),
        selected: selected.locked.as_ref() != Some(&selected.version),
        moved_from: selected
            .locked
            .clone()
            .filter(|locked| *locked != selected.version),
        newest: selected.newest.clone(),
        warnings: selected.warnings.clone(),
        age: selected.age.clone(),
        // The lists are shared: many roots lock the same release.
        signed: signed.map(|list| Arc::clone(&list.hashes)),
        is_unsigned_release: hashed.lists.is_unsigned(),
        stated: hashed
            .claimed
            .iter()
            .map(|(platform, claimed)| (platform.clone(), claimed.h1.clone()))
            .collect(),
        signers: signed.map(|list| list.signers.clone()).unwrap_or_default(),
        added: new
            .iter()
            .filter(|hash| !recorded.contains(hash))
            .cloned()
            .collect(),
        replaced: removed.replaced,
        dropped: removed.dropped,
        not_compared: removed.not_compared,
        unexplained: unexplained(hashed, recorded, new, &matched),
        skipped: platforms.skipped.clone(),
        lacked_by_mirror: platforms.lacked_by_mirror,
        unknown: platforms.unknown.clone(),
        missing: platforms.missing(),
        misnamed: hashed.packages.iter().filter_map(misnamed).collect(),
        oddities: oddities(&hashed.packages),
        confirmed: confirmed(hashed),
        unsigned: unsigned_platforms(hashed),
        evidence: evidence(hashed, new),
        computed: hashed
            .packages
            .iter()
            .map(|package| (package.platform.clone(), package.content.hashes.h1.clone()))
            .collect(),
        matched,
    }
}

fn comparison(hashed: &ReleaseWork, recorded: &Hashes) -> BTreeMap<Platform, Match> {
    hashed
        .packages
        .iter()
        .map(|package| {
            let matched = hash::matches(recorded, &package.content.hashes.to_install());
            (package.platform.clone(), matched)
        })
        .collect()
}

/// Counts the recorded `h1:` that no package can have, where a package matches nothing that is recorded.
///
/// With a signed list, `contradiction` knows which ones these are; without one only their number says that
/// something is wrong.
fn unexplained(
    hashed: &ReleaseWork,
    recorded: &Hashes,
    new: &Hashes,
    matched: &BTreeMap<Platform, Match>,
) -> usize {
    let has_mismatch = matched.values().any(|matched| *matched == Match::Mismatch);
    if hashed.lists.signed().is_some() || !has_mismatch {
        return 0;
    }
    // A package that was not hashed may have one of them.
    let kept_h1 = recorded
        .of(Scheme::H1)
        .filter(|hash| !new.contains(hash))
        .count();
    let not_hashed = hashed
        .platforms
        .offered
        .iter()
        .filter(|platform| !matched.contains_key(platform))
        .count();
    kept_h1.saturating_sub(not_hashed)
}

fn evidence(hashed: &ReleaseWork, new: &Hashes) -> EvidenceByHash {
    let packages = hashed.packages.iter().map(|package| SeenPackage {
        h1: package.content.hashes.h1.clone(),
        zh: package.content.hashes.zh().cloned(),
        location: package
            .location()
            .filter(|_| package.content.fact.is_none()),
        fact: package.content.fact.clone(),
    });
    let registry = hashed.selected.provider.hostname();
    let mut claimed = BTreeMap::new();
    for hash in new {
        // A list that no key signs is no more than a claim of its registry.
        let is_in_unsigned_list = hashed
            .lists
            .any()
            .is_some_and(|list| !list.is_signed() && list.hashes.contains(hash));
        let claimant = match hashed.claims.claimant(hash) {
            Some(claimant) => Some(claimant.to_owned()),
            None => is_in_unsigned_list.then(|| registry.to_string()),
        };
        claimed.extend(claimant.map(|claimant| (hash.clone(), claimant)));
    }
    EvidenceByHash {
        packages: packages.collect(),
        claimed: Arc::new(claimed),
        listed: hashed
            .lists
            .signed()
            .map(|list| Arc::clone(&list.listed))
            .unwrap_or_default(),
    }
}

/// Returns the hashes that somebody states without a signature and that were computed in this run: those of
/// mirrors, and the zips of an unsigned release.
fn confirmed(hashed: &ReleaseWork) -> Hashes {
    let mut confirmed = Vec::new();
    for package in &hashed.packages {
        confirmed.extend(package.confirmed.iter().cloned());
        if hashed.lists.is_unsigned() {
            confirmed.extend(package.content.hashes.zh().cloned());
        }
    }
    confirmed.into_iter().collect()
}

/// Returns the platforms whose package is in no signed list, although their release has one.
fn unsigned_platforms(hashed: &ReleaseWork) -> Vec<Platform> {
    let Some(list) = hashed.lists.signed() else {
        return Vec::new();
    };
    hashed
        .packages
        .iter()
        .filter(|package| {
            !package
                .content
                .hashes
                .zh()
                .is_some_and(|zh| list.hashes.contains(zh))
        })
        .map(|package| package.platform.clone())
        .collect()
}

fn oddities(packages: &[HashedPackage]) -> Vec<(Platform, Oddity)> {
    let mut oddities = Vec::new();
    for package in packages {
        for oddity in package
            .content
            .hashes
            .zip
            .iter()
            .flat_map(|zip| &zip.oddities)
        {
            oddities.push((package.platform.clone(), oddity.clone()));
        }
    }
    oddities
}

/// Returns the signed file name of a package, if it is not that of its own version and platform.
fn misnamed(package: &HashedPackage) -> Option<(Platform, String)> {
    let meta = package.meta.as_ref()?;
    let (id, evidence) = (&meta.id, meta.evidence.as_ref()?);
    let type_name = id.provider.type_name();
    let (version, platform) = (&id.version, &id.platform);
    // Nothing else ties a signed zip to its version and platform: a registry could hand out an old release for
    // a new one.
    let usual = format!("terraform-provider-{type_name}_{version}_{platform}.zip");
    let is_usual = evidence.filename.to_lowercase() == usual.to_lowercase();
    (!is_usual).then(|| (platform.clone(), evidence.filename.clone()))
}
