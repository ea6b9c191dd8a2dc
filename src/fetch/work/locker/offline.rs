//! Lock files completed while no source may be asked: from their own records and from facts.
//!
//! A recorded `zh:` takes the place of the signed list: who trusts it trusts the files of that zip, and a fact
//! holds their hash (`store` rules 1.2). A platform without either is an error, unless enough recorded `h1:`
//! are left that may be the missing ones.

use std::collections::{BTreeMap, BTreeSet};

use super::assemble;
use super::claims::CountedClaims;
use super::lists::ReleaseLists;
use super::stages::{HashedPackage, ReleasePlatforms, ReleaseWork, Selected};
use super::work::{self, RootWork};
use super::{LockError, LockSettings, Locked, RootRequest};
use crate::coverage::Attribution;
use crate::hash::Hashes;
use crate::platform::Platform;
use crate::resolve::{Goal, ProviderQuery};
use crate::store::Facts;
use crate::version::Version;

/// Completes lock files as [`run`](super::run) does, but makes no request: every version that is needed must
/// be locked, and the hashes of every wanted platform recorded or known.
///
/// # Errors
/// For each root everything that is not known, sorted by provider.
pub fn complete(
    facts: &dyn Facts,
    settings: &LockSettings,
    requests: &[RootRequest<'_>],
) -> Vec<Result<Locked, Vec<LockError>>> {
    let sources = work::distinct_sources(requests.iter().map(|request| request.source));
    let mut roots: Vec<RootWork<'_, ReleaseWork>> = Vec::new();
    for root in work::start(requests, &sources) {
        let request = root.request;
        let entries = root.before.providers.clone();
        roots.push(root.advance(|query, errors| {
            let recorded = entries
                .get(&query.provider)
                .map(|entry| entry.hashes.clone())
                .unwrap_or_default();
            complete_provider(facts, request, query, &recorded)
                .map_err(|error| errors.push(error))
                .ok()
        }));
    }
    work::pass_over_unavailable(roots)
        .into_iter()
        .map(|root| assemble::assemble(root, facts, settings))
        .collect()
}

/// Hashes the packages of a provider by facts alone.
fn complete_provider(
    facts: &dyn Facts,
    request: &RootRequest<'_>,
    query: ProviderQuery,
    recorded: &Hashes,
) -> Result<ReleaseWork, LockError> {
    query.check()?;
    let is_goal = |locked: &&Version| match &query.goal {
        Goal::Keep => true,
        Goal::Exactly(wanted) => wanted == *locked,
        // Only a source knows if there is a newer version.
        Goal::Newest(_) => false,
    };
    let Some(version) = query.locked.as_ref().filter(is_goal) else {
        return Err(LockError::VersionsNotAsked {
            provider: Box::new(query.provider.clone()),
            is_locked: query.locked.is_some(),
        });
    };
    let attribution = request
        .trusted
        .attribute(facts, &query.provider, version, recorded);
    let (platforms, packages) = packages_by_facts(facts, request, &query, version, &attribution)?;
    Ok(ReleaseWork {
        selected: Selected {
            version: version.clone(),
            provider: query.provider,
            constraints: query.constraints,
            locked: query.locked,
            newest: None,
            warnings: Vec::new(),
            age: None,
        },
        platforms,
        claims: CountedClaims::default(),
        metas: Vec::new(),
        known: BTreeMap::new(),
        claimed: BTreeMap::new(),
        lists: ReleaseLists::default(),
        packages,
    })
}

/// Finds the packages that are known by facts; each wanted one must be, or may be that of a recorded `h1:`.
fn packages_by_facts(
    facts: &dyn Facts,
    request: &RootRequest<'_>,
    query: &ProviderQuery,
    version: &Version,
    attribution: &Attribution,
) -> Result<(ReleasePlatforms, Vec<HashedPackage>), LockError> {
    let chosen = request.platforms.of(&query.provider);
    let mut wanted = BTreeSet::from_iter(chosen.known());
    if chosen.all {
        wanted.extend(attribution.offered().iter().cloned());
        // Without facts nothing says which packages the release has: nothing in a lock file does (`coverage`
        // rules 1.1).
        if attribution.offered().is_empty() {
            wanted.extend(Platform::common());
        }
    }
    let (skipped, unknown): (Vec<Platform>, Vec<Platform>) = wanted
        .iter()
        .filter(|platform| attribution.package(platform).is_none())
        .cloned()
        .partition(|platform| {
            // A platform that was typed may lack a package only if the provider is not required at all.
            let must_exist = chosen.named.contains(platform) && request.requires(&query.provider);
            !must_exist && attribution.lacks(platform)
        });
    // Each recorded `h1:` that no fact explains may be that of an unknown platform, one for each.
    let unexplained = attribution.possible_packages();
    if unknown.len() > unexplained {
        return Err(LockError::PackagesNotAsked {
            provider: Box::new(query.provider.clone()),
            version: version.clone(),
            platforms: unknown,
            unexplained,
        });
    }
    let packages = attribution
        .packages()
        .filter(|fact| wanted.contains(&fact.id.platform))
        .filter_map(|fact| Some((&fact.id.platform, facts.find(&fact.zh)?)))
        .map(|(platform, stored)| HashedPackage::by_fact(platform.clone(), stored))
        .collect();
    let platforms = ReleasePlatforms {
        offered: attribution.offered().iter().cloned().collect(),
        skipped,
        lacked_by_mirror: false,
        unknown,
    };
    Ok((platforms, packages))
}
