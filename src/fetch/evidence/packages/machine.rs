//! The packages of each provider on this machine, and the source that `init` would install from.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use super::PackageSearch;
use super::memo::{self, Outcome, PackageMemo, UseMoment};
use super::places::{PackageCandidate, PackagesAtHand};
use crate::addr::ProviderAddr;
use crate::coverage::{MachinePackages, MachineSource};
use crate::hash::Match;
use crate::package::{Local, PackageId};
use crate::platform::Platform;
use crate::verify::CheckedLock;
use crate::verify::{MachineFacts, Machines, PackageOrigin, SourcePackage};
use crate::version::Version;

/// A source where the program installs a provider from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InstallSource {
    /// A directory of `dev_overrides`: `plan` runs what is there, and `init` takes nothing from it.
    Overridden,
    /// The registry of the provider.
    Registry,
    /// The same, but only if no directory holds any version of the provider.
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

    /// Makes the facts about a provider of which no package is installed or cached.
    fn facts(self, search: PackageSearch<'_>, package: Option<SourcePackage>) -> MachineFacts {
        MachineFacts {
            machine: MachinePackages {
                installed: None,
                keeps_stray_files: None,
                cached: None,
                cache_may_break: search.cache_may_break,
                source: self.source,
                is_doubtful: self.is_doubtful,
                is_overridden: false,
            },
            package,
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
    let required = subject
        .requirements
        .into_iter()
        .flat_map(|requirements| requirements.providers.keys());
    let mut machines = Machines::new();
    for provider in BTreeSet::from_iter(locked.keys().chain(required)) {
        let mut facts = match locked.get(provider) {
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
        facts.machine.is_overridden =
            (search.sources)(provider).contains(&InstallSource::Overridden);
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
        // Both are unpacked, so `init` uses them only if their own `h1:` is recorded (`coverage` rules 5.2).
        Some(outcome.as_ref().as_ref().is_ok_and(|hashed| {
            let matched = memo::judge(hashed, subject.recorded(id), UseMoment::Plan);
            matches!(matched, Match::Matched(_))
        }))
    };
    let found = find(search, gathered, &id.provider, Some(id));
    let package = found.place.as_ref().and_then(|(_, place)| {
        let outcome = outcome_at(&memo.resolved(place))?;
        let hashed = outcome.as_ref().as_ref().ok()?;
        Some(SourcePackage {
            h1: hashed.h1.clone(),
            zh: hashed.zh().cloned(),
            is_refused: memo::judge(hashed, subject.recorded(id), UseMoment::Install)
                == Match::Mismatch,
        })
    });
    let mut facts = found.facts(search, package);
    facts.machine.installed = is_recorded_at(PackageOrigin::Installed);
    facts.machine.cached = is_recorded_at(PackageOrigin::Cache);
    facts
}

/// Adds which installed packages have files that stay where `init` unpacks a zip, as far as that is known.
pub(super) fn add_stray_files(
    machines: &mut Machines,
    search: PackageSearch<'_>,
    have_stray_files: &BTreeMap<PackageId, bool>,
) {
    // With a plugin cache the zip is unpacked there, and a link takes the place of what is installed
    // (`coverage` rules 5.6).
    let has_cache = search
        .places
        .iter()
        .any(|place| place.origin == PackageOrigin::Cache);
    for ((provider, platform), facts) in machines {
        facts.machine.keeps_stray_files = if has_cache {
            Some(false)
        } else {
            have_stray_files
                .iter()
                .find(|(id, _)| id.provider == *provider && id.platform == *platform)
                .map(|(_, has_stray_files)| *has_stray_files)
        };
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
    let mut found = find(search, gathered, provider, newest.as_ref());
    // Other sources may have newer versions, and the cache the version that is chosen.
    found.is_doubtful |= newest.is_some() && sources.iter().any(is_remote);
    found.is_doubtful |= search.cache_may_break && found.source == MachineSource::Registry;
    found.facts(search, None)
}

/// Finds the first source that has a package (`cliconfig` rules 5.2); without one that is known, the first source
/// that is no directory.
fn find(
    search: PackageSearch<'_>,
    gathered: &PackagesAtHand,
    provider: &ProviderAddr,
    id: Option<&PackageId>,
) -> FoundSource {
    let sources = (search.sources)(provider);
    let directories = || {
        sources.iter().filter_map(|source| match source {
            InstallSource::Directory { dir, must_exist } => {
                Some((gathered.mirrors.get(dir), *must_exist))
            }
            _ => None,
        })
    };
    // A directory that the CLI configuration names must exist, or `init` fails for the provider; other sources
    // do not help (`coverage` rules 5.1).
    if directories().any(|(mirror, must_exist)| must_exist && mirror.is_none()) {
        return FoundSource::nowhere(MachineSource::NoVersion);
    }
    // A directory with any version of the provider keeps the registry from being asked (`cliconfig` rules 5.1).
    let is_held = directories()
        .filter_map(|(mirror, _)| mirror)
        .any(|mirror| mirror.versions(provider).next().is_some());
    let mut absence = MachineSource::NoVersion;
    for source in &sources {
        let remote = match source {
            InstallSource::Overridden => continue,
            InstallSource::RegistryUnlessHeld if is_held => continue,
            InstallSource::Registry | InstallSource::RegistryUnlessHeld => MachineSource::Registry,
            InstallSource::NetworkMirror => MachineSource::Zips,
            InstallSource::OciMirror => MachineSource::OciZips,
            InstallSource::Directory { dir, .. } => {
                let (Some(id), Some(mirror)) = (id, gathered.mirrors.get(dir)) else {
                    continue;
                };
                for (other, places) in mirror.of(provider, &id.version) {
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
                continue;
            }
        };
        return FoundSource {
            // Such a mirror is not asked here, so its versions and the hashes that it states are not known.
            is_doubtful: remote != MachineSource::Registry,
            ..FoundSource::nowhere(remote)
        };
    }
    FoundSource::nowhere(absence)
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
    let found = find(search, gathered, provider, Some(&id));
    let is_lacking = found.source == MachineSource::NoVersion;
    let mut sources = (search.sources)(provider);
    sources.retain(|source| *source != InstallSource::Overridden);
    (is_lacking && !sources.is_empty()).then_some(sources)
}
