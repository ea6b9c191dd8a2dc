//! What this machine has of each provider: what is installed, cached, and where `init` would take it from.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use super::Search;
use super::comparison::recorded;
use super::memo::{Memo, Moment, Outcome};
use super::places::{Candidate, Origin, PackagesAtHand};
use crate::addr::ProviderAddr;
use crate::coverage::{Machine, MachineSource};
use crate::hash::Match;
use crate::package::{Local, PackageId};
use crate::platform::Platform;
use crate::verify::known::{MachineFacts, Machines, SourcePackage};
use crate::verify::subject::Subject;
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
        /// The directory.
        dir: PathBuf,
        /// Whether `init` fails if it does not exist.
        must_exist: bool,
    },
}

/// Where a package comes from.
struct Found {
    source: MachineSource,
    is_doubtful: bool,
    /// The package, if it is on this machine.
    place: Option<(PackageId, Local)>,
}

impl Found {
    fn nowhere(source: MachineSource) -> Self {
        Self {
            source,
            is_doubtful: false,
            place: None,
        }
    }
}

/// Lists what this machine has, for its own platform, of each provider that is locked or required.
pub(super) fn of_providers(
    memo: &Memo<'_>,
    subject: Subject<'_>,
    search: Search<'_>,
    gathered: &PackagesAtHand,
    outcomes: &[Arc<Outcome>],
) -> Machines {
    let here = Platform::current();
    let locked = &subject.document.lock.providers;
    let required = subject.requirements.into_iter();
    let required = required.flat_map(|requirements| requirements.providers.keys());
    let providers: BTreeSet<&ProviderAddr> = locked.keys().chain(required).collect();
    let machines = providers.into_iter().map(|provider| {
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
        ((provider.clone(), here.clone()), facts)
    });
    machines.collect()
}

fn of_entry(
    memo: &Memo<'_>,
    subject: Subject<'_>,
    search: Search<'_>,
    (gathered, outcomes): (&PackagesAtHand, &[Arc<Outcome>]),
    id: &PackageId,
) -> MachineFacts {
    let used = gathered.used.iter().zip(outcomes);
    let own = used.filter(|(candidate, _)| candidate.id == *id);
    let own: Vec<(&Candidate, &Arc<Outcome>)> = own.collect();
    let of = |origin| {
        let all = own.iter().map(|(candidate, _)| *candidate);
        let links = gathered.links.iter();
        let mut all = all.chain(links.filter(|link| link.id == *id));
        let found = all.find(|candidate| candidate.origin == origin)?;
        let mut own = own.iter();
        let same = own.find(|(candidate, _)| candidate.resolved == found.resolved);
        same.map(|(_, outcome)| is_recorded(subject, id, outcome))
    };
    let found = find(search, gathered, id);
    let resolved = found.place.as_ref().map(|(_, place)| memo.resolved(place));
    let mut candidates = own.iter();
    let package = candidates.find(|(candidate, _)| Some(&candidate.resolved) == resolved.as_ref());
    let package = package.and_then(|(_, outcome)| {
        let hashed = outcome.as_ref().as_ref().ok()?;
        Some(SourcePackage {
            h1: hashed.h1.clone(),
            zh: hashed.zip.as_ref().map(|zip| zip.zh.clone()),
            is_refused: hashed.judge(recorded(subject, id), Moment::Install) == Match::Mismatch,
        })
    });
    MachineFacts {
        machine: Machine {
            installed: of(Origin::Installed),
            cached: of(Origin::Cache),
            cache_may_break: search.cache_may_break,
            source: found.source,
            is_doubtful: found.is_doubtful,
        },
        package,
    }
}

/// Finds out where `init` takes a provider from that has no entry: the newest version that is allowed.
fn of_unlocked(
    subject: Subject<'_>,
    search: Search<'_>,
    gathered: &PackagesAtHand,
    provider: &ProviderAddr,
    here: &Platform,
) -> MachineFacts {
    let constraints = subject.requirements.map(|all| all.constraints(provider));
    let constraints = constraints.unwrap_or_default();
    let sources = (search.sources)(provider);
    let versions = sources.iter().flat_map(|source| match source {
        InstallSource::Directory { dir, .. } => gathered.mirrors.get(dir),
        _ => None,
    });
    let versions = versions.flat_map(|mirror| mirror.versions(provider));
    let newest = versions.filter(|version| constraints.allows(version)).max();
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
        machine: Machine {
            installed: None,
            cached: None,
            cache_may_break: search.cache_may_break,
            source: found.source,
            is_doubtful: found.is_doubtful,
        },
        package: None,
    }
}

/// Returns whether `init` uses an unpacked package as the locked one: its own `h1:` must be recorded.
fn is_recorded(subject: Subject<'_>, id: &PackageId, outcome: &Outcome) -> bool {
    outcome.as_ref().is_ok_and(|hashed| {
        let matched = hashed.judge(recorded(subject, id), Moment::Plan);
        matches!(matched, Match::Matched(_))
    })
}

/// Finds the first source that has a package (`cliconfig` rules 5.2).
fn find(search: Search<'_>, gathered: &PackagesAtHand, id: &PackageId) -> Found {
    let sources = (search.sources)(&id.provider);
    if is_missing(&sources, gathered) {
        return Found::nowhere(MachineSource::NoVersion);
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
                return Found {
                    place: Some((other, place.clone())),
                    ..Found::nowhere(match place {
                        Local::Archive(_) => MachineSource::Zips,
                        Local::Directory(_) => MachineSource::Directories,
                    })
                };
            }
        }
    }
    Found::nowhere(absence)
}

/// Finds the first source that is no directory.
fn remote(search: Search<'_>, gathered: &PackagesAtHand, provider: &ProviderAddr) -> Found {
    let sources = (search.sources)(provider);
    let mut found = sources
        .iter()
        .filter_map(|source| elsewhere(source, &sources, gathered, provider));
    match found.next() {
        Some(found) if !is_missing(&sources, gathered) => found,
        _ => Found::nowhere(MachineSource::NoVersion),
    }
}

/// Returns what a source is that is no directory; `None` if it is not asked for the provider.
fn elsewhere(
    source: &InstallSource,
    sources: &[InstallSource],
    gathered: &PackagesAtHand,
    provider: &ProviderAddr,
) -> Option<Found> {
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
        InstallSource::Registry => Some(Found::nowhere(MachineSource::Registry)),
        InstallSource::RegistryUnlessHeld if !is_held() => {
            Some(Found::nowhere(MachineSource::Registry))
        }
        // It may lack the version, and which hashes it states is not known.
        InstallSource::NetworkMirror => Some(Found {
            is_doubtful: true,
            ..Found::nowhere(MachineSource::Zips)
        }),
        InstallSource::OciMirror => Some(Found {
            is_doubtful: true,
            ..Found::nowhere(MachineSource::OciZips)
        }),
        InstallSource::RegistryUnlessHeld | InstallSource::Directory { .. } => None,
    }
}

/// Returns whether a directory is missing without which `init` fails, whatever other sources have.
fn is_missing(sources: &[InstallSource], gathered: &PackagesAtHand) -> bool {
    sources.iter().any(|source| match source {
        InstallSource::Directory { dir, must_exist } => {
            *must_exist && !gathered.mirrors.contains_key(dir)
        }
        _ => false,
    })
}

/// Returns whether all sources of a locked version are directories that lack it; returns them then.
pub(super) fn lacking_sources(
    search: Search<'_>,
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
