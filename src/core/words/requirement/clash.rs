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

/// Maximum number of places in all trials together: one trial of 50,000 places takes as long as thousands of
/// small ones.
const MAX_TRIED: usize = 1_000_000;

/// Returns whether some version meets the conditions of all these places.
type IsMet<'m> = &'m dyn Fn(&[&Requirement]) -> bool;

/// A search for places that a clash needs.
struct ClashSearch<'m> {
    is_met: IsMet<'m>,
    trials: Cell<usize>,
    /// The number of places in them.
    tried: Cell<usize>,
}

impl Requirements {
    /// Returns places that no version can satisfy together, as few as possible; none if all can be met.
    ///
    /// Of several such sets it is the one that leaves out the earliest places.
    #[must_use]
    pub fn clash(&self, provider: &ProviderAddr) -> Vec<&Requirement> {
        fewest(&self.distinct(provider), &|places| {
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
        fewest(&distinct, &|places| {
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

/// Returns as few of the places as possible that cannot be met together; none if all can be.
fn fewest<'a>(places: &[&'a Requirement], is_met: IsMet<'_>) -> Vec<&'a Requirement> {
    if is_met(places) {
        return Vec::new();
    }
    let search = ClashSearch {
        is_met,
        trials: Cell::new(0),
        tried: Cell::new(0),
    };
    let needed = search.needed(&[], places, &[]);
    // None of these can be left out, but two others may be enough.
    if needed.len() <= 2 || places.len() > MAX_PAIRED {
        return needed;
    }
    // Each pair costs a trial, hence the limit above.
    for (index, first) in places.iter().enumerate() {
        for second in &places[index + 1..] {
            if !is_met(&[*first, *second]) {
                return vec![*first, *second];
            }
        }
    }
    needed
}

impl ClashSearch<'_> {
    /// Returns the places of a part that a clash needs beside those before and behind it, as few as
    /// possible. It leaves out the earliest, whole halves at once where these are not needed.
    fn needed<'a>(
        &self,
        before: &[&'a Requirement],
        part: &[&'a Requirement],
        behind: &[&'a Requirement],
    ) -> Vec<&'a Requirement> {
        // The whole part is a right answer, only not the shortest.
        if self.trials.get() == MAX_TRIALS || self.tried.get() > MAX_TRIED {
            return part.to_vec();
        }
        self.trials.set(self.trials.get() + 1);
        self.tried
            .set(self.tried.get() + before.len() + behind.len());
        if !(self.is_met)(&[before, behind].concat()) {
            return Vec::new();
        }
        if part.len() < 2 {
            return part.to_vec();
        }
        // Whole halves at once: a clash of few places among many is found in few trials.
        let (first, second) = part.split_at(part.len() / 2);
        let mut needed = self.needed(before, first, &[second, behind].concat());
        let before = [before, &needed].concat();
        needed.extend(self.needed(&before, second, behind));
        needed
    }
}
