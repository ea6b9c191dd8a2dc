//! Places that exclude each other.

use std::collections::BTreeSet;

use super::{Requirement, Requirements};
use crate::addr::ProviderAddr;
use crate::version::{Constraints, Operator, Version};

/// Maximum number of different conditions that are tried one by one and two by two: no root that is written by hand has
/// more.
const MAX_TRIED: usize = 64;

impl Requirements {
    /// Returns places that no version can satisfy together, as few as possible; none if all can be met.
    ///
    /// Of several such sets it is the one that leaves out the earliest places. Of very many places it is all.
    #[must_use]
    pub fn clash(&self, provider: &ProviderAddr) -> Vec<&Requirement> {
        fewest(&self.distinct(provider), |places| {
            // Sorted once: joined one by one, 1,000 places took 22 seconds for each MB of them.
            places
                .iter()
                .flat_map(|place| place.constraints.iter().cloned())
                .collect::<Constraints>()
                .example()
                .is_some()
        })
    }

    /// As [`clash`](Self::clash), but of places that none of the offered versions satisfies together;
    /// none as well if no place is to blame, because only pre-releases are offered that no place names.
    #[must_use]
    pub fn clash_over(&self, provider: &ProviderAddr, offered: &[Version]) -> Vec<&Requirement> {
        let distinct = self.distinct(provider);
        let exact_versions: BTreeSet<&Version> = distinct
            .iter()
            .flat_map(|place| place.constraints.iter())
            .filter(|term| term.operator() == Operator::Exact)
            .map(|term| term.version())
            .collect();
        // One place that names a pre-release makes it selectable for all of them.
        let selectable: Vec<&Version> = offered
            .iter()
            .filter(|version| {
                // `0.0.0` is never selected (`version` rules 1.6).
                !version.is_unspecified()
                    && (!version.is_prerelease() || exact_versions.contains(version))
            })
            .collect();
        if selectable.is_empty() {
            return Vec::new();
        }
        fewest(&distinct, |places| {
            selectable
                .iter()
                .any(|version| places.iter().all(|place| place.is_met_by(version)))
        })
    }

    /// Returns the places that require a provider and do not allow a version by themselves, each once
    /// that is written.
    #[must_use]
    pub fn excluding(&self, provider: &ProviderAddr, version: &Version) -> Vec<&Requirement> {
        let mut places = self.written(provider);
        places.retain(|place| !place.is_met_by(version));
        places
    }

    /// Returns the places that require a provider, each once that is written, however many calls share
    /// its module.
    #[must_use]
    pub fn written(&self, provider: &ProviderAddr) -> Vec<&Requirement> {
        let mut seen = BTreeSet::new();
        self.places(provider)
            .iter()
            // Calls that share a module hold copies of the same place.
            .filter(|place| seen.insert((place.file, place.span)))
            .collect()
    }

    /// Returns the places that require a provider.
    #[must_use]
    pub fn places(&self, provider: &ProviderAddr) -> &[Requirement] {
        self.providers.get(provider).map_or(&[], Vec::as_slice)
    }

    /// Returns one place for each different condition on a provider: what is written once counts once,
    /// however many calls share it.
    fn distinct(&self, provider: &ProviderAddr) -> Vec<&Requirement> {
        let mut seen = BTreeSet::new();
        self.places(provider)
            .iter()
            // Equal conditions have equal canonical text (`version` rules 4).
            .filter(|place| seen.insert(place.constraints.to_string()))
            .collect()
    }
}

impl Requirement {
    /// Returns whether a version meets every condition stated there.
    ///
    /// Whether a pre-release may be selected is decided by all places together: one of them has to
    /// name it.
    #[must_use]
    pub fn is_met_by(&self, version: &Version) -> bool {
        self.constraints.iter().all(|term| term.is_met_by(version))
    }
}

/// Returns as few of the places as possible that cannot be met together, without the earliest; none if all can be.
fn fewest<'a>(
    places: &[&'a Requirement],
    is_met: impl Fn(&[&Requirement]) -> bool,
) -> Vec<&'a Requirement> {
    if is_met(places) {
        return Vec::new();
    }
    let mut needed = places.to_vec();
    if places.len() > MAX_TRIED {
        return needed;
    }
    let mut at = 0;
    while at < needed.len() {
        let place = needed.remove(at);
        if is_met(&needed) {
            needed.insert(at, place);
            at += 1;
        }
    }
    // None of these can be left out, but two others may be enough.
    for (index, first) in places.iter().enumerate() {
        for second in &places[index + 1..] {
            if needed.len() > 2 && !is_met(&[*first, *second]) {
                return vec![*first, *second];
            }
        }
    }
    needed
}
