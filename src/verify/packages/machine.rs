//! What this machine has of each entry: what is installed, cached, and where `init` would take it from.

use std::sync::Arc;

use super::Search;
use super::comparison::recorded;
use super::memo::{Moment, Outcome};
use super::places::{Candidate, Origin, PackagesAtHand};
use crate::addr::ProviderAddr;
use crate::coverage::{Machine, MachineSource};
use crate::hash::Match;
use crate::package::{Local, PackageId};
use crate::platform::Platform;
use crate::verify::known::Machines;
use crate::verify::subject::Subject;

/// Lists what this machine has, for its own platform.
pub(super) fn of_entries(
    subject: Subject<'_>,
    search: Search<'_>,
    gathered: &PackagesAtHand,
    outcomes: &[Arc<Outcome>],
) -> Machines {
    let here = Platform::current();
    let entries = subject.document.lock.providers.iter();
    let machines = entries.map(|(provider, entry)| {
        let id = PackageId {
            provider: provider.clone(),
            version: entry.version.clone(),
            platform: here.clone(),
        };
        let used = gathered.used.iter().zip(outcomes);
        let own = used.filter(|(candidate, _)| candidate.id == id);
        let own: Vec<(&Candidate, &Arc<Outcome>)> = own.collect();
        let of = |origin| {
            let all = own.iter().map(|(candidate, _)| *candidate);
            let links = gathered.links.iter();
            let mut all = all.chain(links.filter(|link| link.id == id));
            let found = all.find(|candidate| candidate.origin == origin)?;
            let mut own = own.iter();
            let same = own.find(|(candidate, _)| candidate.resolved == found.resolved);
            same.map(|(_, outcome)| is_recorded(subject, &id, outcome))
        };
        let machine = Machine {
            installed: of(Origin::Installed),
            cached: of(Origin::Cache),
            cache_may_break: search.cache_may_break,
            source: source(search, gathered, provider, &id),
        };
        ((provider.clone(), here.clone()), machine)
    });
    machines.collect()
}

/// Returns whether `init` uses an unpacked package as the locked one: its own `h1:` must be recorded.
fn is_recorded(subject: Subject<'_>, id: &PackageId, outcome: &Outcome) -> bool {
    outcome.as_ref().is_ok_and(|hashed| {
        let matched = hashed.judge(recorded(subject, id), Moment::Plan);
        matches!(matched, Match::Matched(_))
    })
}

fn source(
    search: Search<'_>,
    gathered: &PackagesAtHand,
    provider: &ProviderAddr,
    id: &PackageId,
) -> MachineSource {
    match gathered.mirrored.get(id) {
        Some(Local::Archive(_)) => MachineSource::Zips,
        Some(Local::Directory(_)) => MachineSource::Directories,
        None if !(search.from_mirrors_only)(provider) => MachineSource::Registry,
        None if gathered
            .mirrored
            .keys()
            .any(|other| other.provider == *provider) =>
        {
            MachineSource::NoPlatform
        }
        None => MachineSource::NoVersion,
    }
}
