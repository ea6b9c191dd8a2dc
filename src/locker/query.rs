//! Asking the source: a version for every provider, then its packages.

use std::num::NonZeroUsize;

use super::{LockError, Request, Wanted};
use crate::addr::ProviderAddr;
use crate::lockfile::LockFile;
use crate::package::{PackageId, PackageMeta};
use crate::parallel;
use crate::platform::Platform;
use crate::resolve::{self, Query, SelectError};
use crate::sources::Source;
use crate::version::{Constraints, Version};

/// How many questions are under way at once. Whoever asks waits for the network most of the time, so
/// this has nothing to do with the number of cores; how many go to one host is limited elsewhere.
pub(super) const QUESTIONS: NonZeroUsize = NonZeroUsize::new(32).expect("positive");

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
    /// What the source wants users to know.
    pub(super) warnings: Vec<String>,
}

/// A selected provider with its packages.
pub(super) struct Found {
    pub(super) selected: Selected,
    /// The packages for wanted platforms, sorted by platform.
    pub(super) metas: Vec<PackageMeta>,
    /// Every platform that the release is known to offer, sorted.
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
    let answers = parallel::map(QUESTIONS, &queries, |query| select_one(source, query));
    keep_good(answers, errors)
}

fn select_one(source: &dyn Source, query: &Query) -> Result<Selected, LockError> {
    query.check_locked()?;
    let offer = source.versions(&query.provider);
    let offer = offer.map_err(|cause| LockError::of_versions(&query.provider, cause))?;
    let versions = &offer.versions;
    Ok(Selected {
        provider: query.provider.clone(),
        version: resolve::select(query, versions)?,
        constraints: query.constraints.clone(),
        locked: query.locked.is_some(),
        newest: Constraints::default().newest(versions.iter()).cloned(),
        warnings: offer.warnings,
    })
}

/// Whether a release must have a platform.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Need {
    /// It was named.
    Must,
    /// It is part of a preset.
    May,
}

/// Finds the packages of every selection for the wanted platforms.
pub(super) fn packages(
    source: &dyn Source,
    request: &Request<'_>,
    selected: Vec<Selected>,
    errors: &mut Vec<LockError>,
) -> Vec<Found> {
    let mut found = Vec::new();
    let mut questions = Vec::new();
    for one in selected {
        let offered = source.platforms(&one.provider, &one.version);
        let wanted = request.platforms.of(&one.provider);
        for (platform, need) in choose(wanted, &offered) {
            let id = PackageId {
                provider: one.provider.clone(),
                version: one.version.clone(),
                platform,
            };
            questions.push((id, need));
        }
        found.push(Found {
            selected: one,
            metas: Vec::new(),
            offered,
            skipped: Vec::new(),
        });
    }
    let answers = parallel::map(QUESTIONS, &questions, |(id, _)| source.package(id));
    let mut answers = questions.into_iter().zip(answers).peekable();
    for one in &mut found {
        let mut failed = false;
        let is_own = |id: &PackageId| id.provider == one.selected.provider;
        while let Some(((id, need), answer)) = answers.next_if(|((id, _), _)| is_own(id)) {
            match answer {
                Ok(meta) => one.metas.push(meta),
                Err(error) if need == Need::May && error.lacks_platform() => {
                    one.skipped.push(id.platform);
                }
                Err(error) => {
                    failed = true;
                    errors.push(LockError::of_package(&id, error));
                }
            }
        }
        if one.metas.is_empty() && !failed {
            errors.push(LockError::NoPlatform {
                provider: Box::new(one.selected.provider.clone()),
                version: one.selected.version.clone(),
                announced: one.skipped.iter().any(|p| one.offered.contains(p)),
                offered: one.offered.clone(),
            });
        }
    }
    found
}

/// Decides which platforms of a release are asked for, sorted.
fn choose(wanted: &Wanted, offered: &[Platform]) -> Vec<(Platform, Need)> {
    let all: &[Platform] = if wanted.all { offered } else { &[] };
    let need = |platform: &Platform| {
        if wanted.named.contains(platform) {
            Need::Must
        } else {
            Need::May
        }
    };
    let mut platforms: Vec<&Platform> = wanted
        .named
        .iter()
        .chain(&wanted.preset)
        .chain(all)
        .collect();
    platforms.sort();
    platforms.dedup();
    let platforms = platforms.into_iter();
    platforms.map(|p| (p.clone(), need(p))).collect()
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
