//! Places that exclude each other.

use std::cell::Cell;
use std::collections::BTreeSet;

use super::{Requirement, Requirements};
use crate::addr::ProviderAddr;
use crate::version::{Constraints, Operator, Version};

/// Maximum number of different conditions that are tried two by two: no root that is written by hand has
/// more, and a few places more in a message do no harm.
const MAX_PAIRED: usize = 64;

/// Maximum number of sets of places that are tried before the rest counts as needed. A clash of a few places
/// is found with far less, wherever they are among many.
const MAX_TRIALS: usize = 200;

/// Returns whether some version meets the conditions of all these places.
type IsMet<'m> = &'m dyn Fn(&[&Requirement]) -> bool;

/// A search for places that a clash needs.
struct Search<'m> {
    is_met: IsMet<'m>,
    trials: Cell<usize>,
}

impl Requirements {
    /// Returns places that no version can satisfy together, as few as possible; none if all can be met.
    ///
    /// Of several such sets it is the one that leaves out the earliest places.
    #[must_use]
    pub fn clash(&self, provider: &ProviderAddr) -> Vec<&Requirement> {
        fewest(&self.distinct(provider), &|places| {
            let all = places.iter().map(|place| (*place.constraints).clone());
            let all = all.reduce(Constraints::union).unwrap_or_default();
            all.example().is_some()
        })
    }

    /// As [`clash`](Self::clash), but of places that none of the offered versions satisfies together;
    /// none as well if no place is to blame, because only pre-releases are offered that no place names.
    #[must_use]
    pub fn clash_over(&self, provider: &ProviderAddr, offered: &[Version]) -> Vec<&Requirement> {
        let distinct = self.distinct(provider);
        let terms = || distinct.iter().flat_map(|place| place.constraints.iter());
        let exact = terms().filter(|term| term.operator() == Operator::Exact);
        let named: BTreeSet<&Version> = exact.map(|term| term.version()).collect();
        // One place that names a pre-release makes it selectable for all of them.
        let selectable = offered.iter().filter(|version| {
            !version.is_unspecified() && (!version.is_prerelease() || named.contains(version))
        });
        let selectable: Vec<&Version> = selectable.collect();
        if selectable.is_empty() {
            return Vec::new();
        }
        fewest(&distinct, &|places| {
            let mut versions = selectable.iter();
            versions.any(|version| places.iter().all(|place| place.is_met_by(version)))
        })
    }

    /// Returns the places that require a provider and do not allow a version by themselves, each once
    /// that is written.
    #[must_use]
    pub fn excluding(&self, provider: &ProviderAddr, version: &Version) -> Vec<&Requirement> {
        let written = self.written(provider).into_iter();
        written.filter(|place| !place.is_met_by(version)).collect()
    }

    /// Returns the places that require a provider, each once that is written, however many calls share
    /// its module.
    #[must_use]
    pub fn written(&self, provider: &ProviderAddr) -> Vec<&Requirement> {
        let mut known = BTreeSet::new();
        let places = self.places(provider).iter();
        places
            .filter(|place| known.insert((place.file, place.span)))
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
        let mut known = BTreeSet::new();
        let places = self.places(provider).iter();
        places
            .filter(|place| known.insert(place.constraints.to_string()))
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

/// Returns as few of the places as possible that cannot be met together; none if all can be.
fn fewest<'a>(places: &[&'a Requirement], is_met: IsMet<'_>) -> Vec<&'a Requirement> {
    if is_met(places) {
        return Vec::new();
    }
    let search = Search {
        is_met,
        trials: Cell::new(0),
    };
    let found = search.needed(&[], places, &[]);
    // None of these can be left out, but two others may be enough.
    if found.len() <= 2 || places.len() > MAX_PAIRED {
        return found;
    }
    let from = |first: usize| (first + 1..places.len()).map(move |second| [first, second]);
    let mut pairs = (0..places.len()).flat_map(from);
    let pair = pairs.find(|pair| !is_met(&pair.map(|at| places[at])));
    pair.map_or(found, |pair| pair.map(|at| places[at]).to_vec())
}

impl Search<'_> {
    /// Returns the places of a part that a clash needs beside those before and behind it, as few as
    /// possible. It leaves out the earliest, whole halves at once where these are not needed.
    fn needed<'a>(
        &self,
        before: &[&'a Requirement],
        part: &[&'a Requirement],
        behind: &[&'a Requirement],
    ) -> Vec<&'a Requirement> {
        if self.trials.get() == MAX_TRIALS {
            return part.to_vec();
        }
        self.trials.set(self.trials.get() + 1);
        if !(self.is_met)(&[before, behind].concat()) {
            return Vec::new();
        }
        if part.len() < 2 {
            return part.to_vec();
        }
        let (first, second) = part.split_at(part.len() / 2);
        let mut found = self.needed(before, first, &[second, behind].concat());
        let before = [before, &found].concat();
        found.extend(self.needed(&before, second, behind));
        found
    }
}
