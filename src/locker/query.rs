//! Asking the source: a version for every provider, then its packages.

use super::{LockError, Request, Wanted};
use crate::addr::ProviderAddr;
use crate::lockfile::LockFile;
use crate::package::{PackageId, PackageMeta};
use crate::parallel;
use crate::platform::Platform;
use crate::resolve::{self, Query, SelectError};
use crate::sources::Source;
use crate::version::{Constraints, Version};

/// A provider with its version.
pub(super) struct Selected {
    pub(super) provider: ProviderAddr,
    pub(super) version: Version,
    /// All visible conditions on it.
    pub(super) constraints: Constraints,
    /// The version stood in the lock file.
    pub(super) locked: bool,
    /// The newest release that is offered.
    pub(super) newest: Option<Version>,
}

/// A selected provider with its packages.
pub(super) struct Found {
    pub(super) selected: Selected,
    pub(super) metas: Vec<PackageMeta>,
    /// Every platform that the release offers, sorted.
    pub(super) offered: Vec<Platform>,
    /// Wanted platforms that the release does not offer.
    pub(super) skipped: Vec<Platform>,
}

/// Settles a version for every required provider, sorted by provider.
pub(super) fn select(
    source: &dyn Source,
    request: &Request<'_>,
    before: &LockFile,
    errors: &mut Vec<LockError>,
) -> Vec<Selected> {
    let (queries, refused) = resolve::to_query(request.requirements, before, request.flavor);
    errors.extend(refused.into_iter().map(|(provider, refusal)| {
        LockError::from(Box::new(SelectError::Refused { provider, refusal }))
    }));
    let answers = parallel::map(request.jobs, &queries, |query| select_one(source, query));
    keep_good(answers, errors)
}

fn select_one(source: &dyn Source, query: &Query) -> Result<Selected, LockError> {
    query.check_locked()?;
    let offered = source.versions(&query.provider)?;
    Ok(Selected {
        provider: query.provider.clone(),
        version: resolve::select(query, &offered)?,
        constraints: query.constraints.clone(),
        locked: query.locked.is_some(),
        newest: Constraints::default().newest(offered.iter()).cloned(),
    })
}

/// Finds the packages of every selection for the wanted platforms.
pub(super) fn packages(
    source: &dyn Source,
    request: &Request<'_>,
    selected: Vec<Selected>,
    errors: &mut Vec<LockError>,
) -> Vec<Found> {
    let answers = parallel::map(request.jobs, &selected, |one| {
        packages_of(source, request.platforms, one)
    });
    let mut found = Vec::new();
    for (selected, answer) in selected.into_iter().zip(answers) {
        match answer {
            Ok((
                Platforms {
                    offered, skipped, ..
                },
                packages,
            )) => {
                let metas = keep_good(packages, errors);
                found.push(Found {
                    selected,
                    metas,
                    offered,
                    skipped,
                });
            }
            Err(error) => errors.push(error),
        }
    }
    found
}

/// The platforms of one release.
struct Platforms {
    wanted: Vec<Platform>,
    offered: Vec<Platform>,
    skipped: Vec<Platform>,
}

/// What was asked about each platform, in their order.
type Answers = Vec<Result<PackageMeta, LockError>>;

/// Finds the packages of one release; an error if it has none that is wanted.
fn packages_of(
    source: &dyn Source,
    wanted: &Wanted,
    one: &Selected,
) -> Result<(Platforms, Answers), LockError> {
    let offered = source.platforms(&one.provider, &one.version);
    let platforms = choose(wanted, offered);
    if platforms.wanted.is_empty() {
        return Err(LockError::NoPlatform {
            provider: Box::new(one.provider.clone()),
            version: one.version.clone(),
            offered: platforms.offered,
        });
    }
    let packages = platforms.wanted.iter().map(|platform| {
        let (provider, version) = (one.provider.clone(), one.version.clone());
        Ok(source.package(&PackageId {
            provider,
            version,
            platform: platform.clone(),
        })?)
    });
    let packages = packages.collect();
    Ok((platforms, packages))
}

/// Decides which platforms of a release are wanted, sorted.
fn choose(wanted: &Wanted, offered: Vec<Platform>) -> Platforms {
    let (preset, skipped): (Vec<Platform>, Vec<Platform>) = wanted
        .preset
        .iter()
        .cloned()
        .partition(|platform| offered.contains(platform));
    let skipped = skipped
        .into_iter()
        .filter(|platform| !wanted.named.contains(platform));
    let all: &[Platform] = if wanted.all { &offered } else { &[] };
    let mut platforms: Vec<Platform> = wanted
        .named
        .iter()
        .chain(&preset)
        .chain(all)
        .cloned()
        .collect();
    platforms.sort();
    platforms.dedup();
    Platforms {
        wanted: platforms,
        skipped: skipped.collect(),
        offered,
    }
}

/// Returns what is good, and adds what is not to the errors.
pub(super) fn keep_good<T>(
    results: Vec<Result<T, LockError>>,
    errors: &mut Vec<LockError>,
) -> Vec<T> {
    let mut good = Vec::new();
    for result in results {
        match result {
            Ok(value) => good.push(value),
            Err(error) => errors.push(error),
        }
    }
    good
}
