//! The packages of each provider on this machine, and the source that `init` would install from.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use super::PackageSearch;
use super::memo::{Outcome, PackageMemo, UseMoment};
use super::places::{PackageCandidate, PackageOrigin, PackagesAtHand};
use crate::addr::ProviderAddr;
use crate::coverage::{MachinePackages, MachineSource};
use crate::hash::Match;
use crate::package::{Local, PackageId};
use crate::platform::Platform;
use crate::verify::known::{MachineFacts, Machines, SourcePackage};
use crate::verify::subject::CheckedLock;
use crate::version::Version;

/// A source from which the program installs a provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InstallSource {
    /// The registry of the provider.
    Registry,
    /// The same, but only if no directory holds the provider, in whatever version.
    RegistryUnlessHeld,
    /// A mirror that is asked through the network, which is not done here.
    NetworkMirror,
    /// A registry of OCI artifacts, which is not asked here.
    OciMirror,
    /// A directory laid out as a mirror.
    Directory {
        /// The absolute path of the directory.
        dir: PathBuf,
        /// Without the directory `init` fails.
        must_exist: bool,
    },
}

/// The source that a package comes from.
struct FoundSource {
    source: MachineSource,
    is_doubtful: bool,
    /// The package, if it is on this machine.
    place: Option<(PackageId, Local)>,
}

impl FoundSource {
    fn nowhere(source: MachineSource) -> Self {
        Self {
            source,
            is_doubtful: false,
            place: None,
        }
    }
}

/// Lists the packages on this machine, for its own platform, of each provider that is locked or required.
pub(super) fn of_providers(
    memo: &PackageMemo<'_>,
    subject: CheckedLock<'_>,
    search: PackageSearch<'_>,
    gathered: &PackagesAtHand,
    outcomes: &[Arc<Outcome>],
) -> Machines {
    let here = Platform::current();
    let locked = &subject.document.lock.providers;
    let mut providers: BTreeSet<&ProviderAddr> = locked.keys().collect();
    if let Some(requirements) = subject.requirements {
        providers.extend(requirements.providers.keys());
    }
    let mut machines = Machines::new();
    for provider in providers {
        let facts = match locked.get(provider) {
            Some(entry) => {
                let id = PackageId {
                    provider: provider.clone(),
                    version: entry.version.clone(),
                    platform: here.clone(),
                };
                of_entry(memo, subject, search, (gathered, outcomes), &id)
            }
            None => of_unlocked(subject, search, gathered, provider, &here),
        };
        machines.insert((provider.clone(), here.clone()), facts);
    }
    machines
}

fn of_entry(
    memo: &PackageMemo<'_>,
    subject: CheckedLock<'_>,
    search: PackageSearch<'_>,
    (gathered, outcomes): (&PackagesAtHand, &[Arc<Outcome>]),
    id: &PackageId,
) -> MachineFacts {
    let candidates: Vec<(&PackageCandidate, &Arc<Outcome>)> = gathered
        .used
        .iter()
        .zip(outcomes)
        .filter(|(candidate, _)| candidate.id == *id)
        .collect();
    let outcome_at = |resolved: &PathBuf| {
        candidates
            .iter()
            .find(|(candidate, _)| candidate.resolved == *resolved)
            .map(|(_, outcome)| *outcome)
    };
    // An installed package is often a link into the cache, which is hashed once under either name.
    let is_recorded_at = |origin| {
        let place = candidates
            .iter()
            .map(|(candidate, _)| *candidate)
            .chain(gathered.links.iter().filter(|link| link.id == *id))
            .find(|candidate| candidate.origin == origin)?;
        let outcome = outcome_at(&place.resolved)?;
        Some(is_recorded(subject, id, outcome))
    };
    let found = find(search, gathered, id);
    let package = found.place.as_ref().and_then(|(_, place)| {
        let outcome = outcome_at(&memo.resolved(place))?;
        let hashed = outcome.as_ref().as_ref().ok()?;
        Some(SourcePackage {
            h1: hashed.h1.clone(),
            zh: hashed.zip.as_ref().map(|zip| zip.zh.clone()),
            is_refused: hashed.judge(subject.recorded(id), UseMoment::Install) == Match::Mismatch,
        })
    });
    MachineFacts {
        machine: MachinePackages {
            installed: is_recorded_at(PackageOrigin::Installed),
            cached: is_recorded_at(PackageOrigin::Cache),
            cache_may_break: search.cache_may_break,
            source: found.source,
            is_doubtful: found.is_doubtful,
        },
        package,
    }
}

/// Finds the source of `init` for a provider that has no entry: that of the newest version that is allowed.
fn of_unlocked(
    subject: CheckedLock<'_>,
    search: PackageSearch<'_>,
    gathered: &PackagesAtHand,
    provider: &ProviderAddr,
    here: &Platform,
) -> MachineFacts {
    let constraints = subject
        .requirements
        .map(|requirements| requirements.constraints(provider))
        .unwrap_or_default();
    let sources = (search.sources)(provider);
    let newest = sources
        .iter()
        .filter_map(|source| match source {
            InstallSource::Directory { dir, .. } => gathered.mirrors.get(dir),
            _ => None,
        })
        .flat_map(|mirror| mirror.versions(provider))
        .filter(|version| constraints.allows(version))
        .max();
    let is_remote = |source: &InstallSource| {
        matches!(
            source,
            InstallSource::Registry | InstallSource::NetworkMirror | InstallSource::OciMirror
        )
    };
    let newest = newest.map(|version| PackageId {
        provider: provider.clone(),
        version: version.clone(),
        platform: here.clone(),
    });
    let mut found = match &newest {
        Some(id) => find(search, gathered, id),
        None => remote(search, gathered, provider),
    };
    // Other sources may have newer versions, and the cache the version that is chosen.
    found.is_doubtful |= newest.is_some() && sources.iter().any(is_remote);
    found.is_doubtful |= search.cache_may_break && found.source == MachineSource::Registry;
    MachineFacts {
        machine: MachinePackages {
            installed: None,
            cached: None,
            cache_may_break: search.cache_may_break,
            source: found.source,
            is_doubtful: found.is_doubtful,
        },
        package: None,
    }
}

/// Returns true if `init` uses an unpacked package as the locked one: its own `h1:` must be recorded.
fn is_recorded(subject: CheckedLock<'_>, id: &PackageId, outcome: &Outcome) -> bool {
    outcome.as_ref().is_ok_and(|hashed| {
        let matched = hashed.judge(subject.recorded(id), UseMoment::Plan);
        matches!(matched, Match::Matched(_))
    })
}

/// Finds the first source that has a package (`cliconfig` rules 5.2).
fn find(search: PackageSearch<'_>, gathered: &PackagesAtHand, id: &PackageId) -> FoundSource {
    let sources = (search.sources)(&id.provider);
    // A directory that the CLI configuration names must exist, or `init` fails for the provider whatever other
    // sources have (`coverage` rules 5.1).
    if is_missing(&sources, gathered) {
        return FoundSource::nowhere(MachineSource::NoVersion);
    }
    let mut absence = MachineSource::NoVersion;
    for source in &sources {
        let InstallSource::Directory { dir, .. } = source else {
            match elsewhere(source, &sources, gathered, &id.provider) {
                Some(found) => return found,
                None => continue,
            }
        };
        let mirror = gathered.mirrors.get(dir).into_iter();
        for (other, places) in mirror.flat_map(|mirror| mirror.of(&id.provider, &id.version)) {
            absence = MachineSource::NoPlatform;
            if let (true, [place, ..]) = (other.platform == id.platform, places) {
                return FoundSource {
                    place: Some((other, place.clone())),
                    ..FoundSource::nowhere(match place {
                        Local::Archive(_) => MachineSource::Zips,
                        Local::Directory(_) => MachineSource::Directories,
                    })
                };
            }
        }
    }
    FoundSource::nowhere(absence)
}

/// Finds the first source that is no directory.
fn remote(
    search: PackageSearch<'_>,
    gathered: &PackagesAtHand,
    provider: &ProviderAddr,
) -> FoundSource {
    let sources = (search.sources)(provider);
    if is_missing(&sources, gathered) {
        return FoundSource::nowhere(MachineSource::NoVersion);
    }
    sources
        .iter()
        .find_map(|source| elsewhere(source, &sources, gathered, provider))
        .unwrap_or_else(|| FoundSource::nowhere(MachineSource::NoVersion))
}

/// Returns a source that is no directory; `None` if it is not asked for the provider.
fn elsewhere(
    source: &InstallSource,
    sources: &[InstallSource],
    gathered: &PackagesAtHand,
    provider: &ProviderAddr,
) -> Option<FoundSource> {
    let is_held = || {
        sources.iter().any(|source| match source {
            InstallSource::Directory { dir, .. } => {
                let mirror = gathered.mirrors.get(dir);
                mirror.is_some_and(|mirror| mirror.versions(provider).next().is_some())
            }
            _ => false,
        })
    };
    match source {
        InstallSource::Registry => Some(FoundSource::nowhere(MachineSource::Registry)),
        InstallSource::RegistryUnlessHeld if !is_held() => {
            Some(FoundSource::nowhere(MachineSource::Registry))
        }
        // The mirror is not asked here, so its versions and the hashes that it states are not known.
        InstallSource::NetworkMirror => Some(FoundSource {
            is_doubtful: true,
            ..FoundSource::nowhere(MachineSource::Zips)
        }),
        InstallSource::OciMirror => Some(FoundSource {
            is_doubtful: true,
            ..FoundSource::nowhere(MachineSource::OciZips)
        }),
        InstallSource::RegistryUnlessHeld | InstallSource::Directory { .. } => None,
    }
}

/// Returns true if a directory is missing without which `init` fails, whatever other sources have.
fn is_missing(sources: &[InstallSource], gathered: &PackagesAtHand) -> bool {
    sources.iter().any(|source| match source {
        InstallSource::Directory { dir, must_exist } => {
            *must_exist && !gathered.mirrors.contains_key(dir)
        }
        _ => false,
    })
}

/// Returns the sources of a locked version, if all are directories that lack it.
pub(super) fn lacking_sources(
    search: PackageSearch<'_>,
    gathered: &PackagesAtHand,
    provider: &ProviderAddr,
    version: &Version,
) -> Option<Vec<InstallSource>> {
    let id = PackageId {
        provider: provider.clone(),
        version: version.clone(),
        platform: Platform::current(),
    };
    let is_lacking = find(search, gathered, &id).source == MachineSource::NoVersion;
    Some((search.sources)(provider)).filter(|sources| is_lacking && !sources.is_empty())
}
