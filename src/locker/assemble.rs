//! Hashes to the lock file that follows from them (rules 2).

use std::collections::BTreeMap;
use std::sync::Arc;

use super::claims::{self, Weight};
use super::contradiction;
use super::convert;
use super::dropped;
use super::fetch::{Hashed, HashedPackage};
use super::outcome::SeenPackage;
use super::work::RootWork;
use super::{
    Dropped, Evidence, LockError, Locked, ProviderOutcome, Replaced, RootRequest, Settings,
};
use crate::addr::ProviderAddr;
use crate::archive::zip::Oddity;
use crate::hash::{self, Hash, Hashes, Match, Scheme};
use crate::lockfile::{LockFile, ProviderLock};
use crate::platform::Platform;
use crate::store::Facts;

/// Makes the lock file of a root, or says why there is none.
pub(super) fn assemble(
    root: RootWork<'_, Hashed>,
    facts: &dyn Facts,
    settings: &Settings,
) -> Result<Locked, Vec<LockError>> {
    let mut errors = root.errors;
    let (mut providers, mut entries) = (Vec::new(), Vec::new());
    for one in &root.providers {
        let entry = entry(
            root.request,
            &root.before,
            one,
            facts,
            settings,
            &mut errors,
        );
        providers.push(entry.outcome);
        let provider = one.proven.offered.selected.provider.clone();
        entries.push((provider, entry.lock));
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    let mut lock = root.before;
    lock.providers.extend(entries);
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
    facts: &dyn Facts,
    settings: &Settings,
    errors: &mut Vec<LockError>,
) -> Entry {
    let selected = &one.proven.offered.selected;
    let old = before.providers.get(&selected.provider);
    // Hashes of another version say nothing of this one.
    let recorded = old.filter(|entry| entry.version == selected.version);
    let recorded = recorded.map(|entry| entry.hashes.clone());
    let recorded = recorded.unwrap_or_default();
    let signed = one.proven.lists.proof.as_ref().map(|proof| &proof.signed);
    let elsewhere = request.elsewhere.get(&selected.provider);
    let recorded = match (signed, elsewhere) {
        (Some(signed), Some(other)) if convert::is_same_release(other, signed) => {
            recorded.union(other)
        }
        _ => recorded,
    };
    let compared = contradiction::compare(&recorded, one, request, facts, settings.contradicted);
    errors.extend(compared.errors);
    errors.extend(claims::contradictions(one, request, facts));
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
    if let Some(proof) = &one.proven.lists.proof {
        found = found.union(&proof.signed);
    }
    if let Some(list) = &one.proven.lists.unsigned {
        found = found.union(&list.hashes);
    }
    let stated = one.proven.offered.stated.values();
    let stated: Hashes = stated.map(|package| package.h1.clone()).collect();
    let weight = Weight::new(request, settings, &selected.provider);
    found = found
        .union(&stated)
        .union(&weight.recordable(&one.proven.offered.claims));
    let constraints = match old {
        // What states them was not seen.
        Some(entry) if !request.requires(&selected.provider) => entry.constraints.clone(),
        Some(entry) => request
            .requirements
            .to_record(&selected.provider, &entry.constraints),
        None => selected.constraints.clone(),
    };
    let removed = Removed {
        replaced: compared.replaced,
        dropped: dropped::find(request, one, facts, &recorded, &found),
    };
    let remaining = recorded.iter().filter(|hash| !removed.has(hash));
    let remaining: Hashes = remaining.cloned().collect();
    Entry {
        lock: ProviderLock {
            version: selected.version.clone(),
            constraints,
            hashes: remaining.union(&found),
        },
        outcome: outcome(one, &recorded, &found, removed),
    }
}

/// Recorded hashes that do not stay.
struct Removed {
    replaced: Vec<Replaced>,
    dropped: Dropped,
}

impl Removed {
    fn has(&self, hash: &Hash) -> bool {
        let mut replaced = self.replaced.iter();
        replaced.any(|one| one.hash == *hash) || self.dropped.hashes.contains_key(hash)
    }
}

fn outcome(one: &Hashed, recorded: &Hashes, found: &Hashes, removed: Removed) -> ProviderOutcome {
    let selected = &one.proven.offered.selected;
    let platform = |package: &HashedPackage| package.platform.clone();
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
        signed: one
            .proven
            .lists
            .proof
            .as_ref()
            .map(|proof| Arc::clone(&proof.signed)),
        is_unsigned_release: one.proven.lists.unsigned.is_some(),
        stated: one
            .proven
            .offered
            .stated
            .iter()
            .map(|(platform, package)| (platform.clone(), package.h1.clone()))
            .collect(),
        unanswered: one.proven.offered.claims.unanswered.clone(),
        signers: match &one.proven.lists.proof {
            Some(proof) => proof.signers.clone(),
            None => Vec::new(),
        },
        added: found
            .iter()
            .filter(|hash| !recorded.contains(hash))
            .cloned()
            .collect(),
        kept: recorded
            .iter()
            .filter(|hash| !removed.has(hash) && !found.contains(hash))
            .count(),
        replaced: removed.replaced,
        dropped: removed.dropped,
        // Where there is a signed list, `unvouched` checks that.
        unexplained: if one.proven.lists.proof.is_none()
            && matched.values().any(|m| *m == Match::Mismatch)
        {
            kept_h1.saturating_sub(not_hashed)
        } else {
            0
        },
        skipped: one.proven.offered.skipped.clone(),
        unknown: one.proven.offered.unknown.clone(),
        missing: missing(one),
        misnamed: one.packages.iter().filter_map(misnamed).collect(),
        oddities: oddities(&one.packages),
        confirmed: one
            .packages
            .iter()
            .flat_map(|package| package.confirmed.iter().cloned())
            .chain(unsigned_zips(one))
            .collect(),
        unsigned: one
            .packages
            .iter()
            .filter(|package| is_unsigned(one, package))
            .map(platform)
            .collect(),
        evidence: evidence(one, found),
        computed: by_platform,
        matched,
    }
}

/// Returns where each hash was seen.
fn evidence(one: &Hashed, found: &Hashes) -> Evidence {
    let packages = one.packages.iter().map(|package| SeenPackage {
        h1: package.content.h1.clone(),
        zh: package.content.zh(),
        place: package.place().filter(|_| package.content.fact.is_none()),
        fact: package.content.fact.clone(),
    });
    let (proof, unsigned) = (&one.proven.lists.proof, &one.proven.lists.unsigned);
    let claims = &one.proven.offered.claims;
    let registry = one.proven.offered.selected.provider.hostname();
    let claimed = found.iter().filter_map(|hash| {
        let is_listed = unsigned
            .as_ref()
            .is_some_and(|list| list.hashes.contains(hash));
        let by = claims.by(hash).map(str::to_owned);
        let by = by.or_else(|| is_listed.then(|| registry.to_string()))?;
        Some((hash.clone(), by))
    });
    Evidence {
        claimed: Arc::new(claimed.collect()),
        listed: proof
            .as_ref()
            .map(|proof| Arc::clone(&proof.listed))
            .unwrap_or_default(),
        packages: packages.collect(),
    }
}

/// Returns the hashes of the zips of a release without a signature, as computed.
fn unsigned_zips(one: &Hashed) -> impl Iterator<Item = Hash> {
    let is_unsigned = one.proven.lists.unsigned.is_some();
    let packages = one.packages.iter().filter(move |_| is_unsigned);
    packages.filter_map(|package| package.content.zh())
}

/// Returns whether a package is in no signed list, although its release has one.
fn is_unsigned(one: &Hashed, package: &HashedPackage) -> bool {
    let proof = one.proven.lists.proof.as_ref();
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
        let platform = &package.platform;
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
    let meta = package.meta.as_ref()?;
    let (id, evidence) = (&meta.id, meta.evidence.as_ref()?);
    let type_name = id.provider.type_name();
    let (version, platform) = (&id.version, &id.platform);
    let usual = format!("terraform-provider-{type_name}_{version}_{platform}.zip");
    let is_usual = evidence.filename.to_lowercase() == usual.to_lowercase();
    (!is_usual).then(|| (platform.clone(), evidence.filename.clone()))
}
