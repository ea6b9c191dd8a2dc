//! Requirements that leave no version, and the versions without each of them.

use std::collections::BTreeSet;

use crate::addr::ProviderAddr;
use crate::requirement::{Requirement, Requirements};
use crate::version::{Constraints, Version, VersionRefusal};

/// Requirements on a provider that leave none of the offered versions.
#[derive(Clone, Debug, PartialEq)]
pub struct ConstraintConflict<'r> {
    /// The relation between the places and the offered versions.
    pub kind: ConflictKind,
    /// The places that leave no version together, as few as possible, in the order of the configuration;
    /// empty if it is no place that does.
    pub places: Vec<ConflictPlace<'r>>,
    /// The newest offered pre-release that meets every condition, but that none names.
    pub unnamed: Option<Version>,
}

/// The relation between conflicting places and the offered versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConflictKind {
    /// The places exclude each other: no version could meet them all.
    Contradiction,
    /// Some version could meet all places, but none that is offered does.
    NotOffered,
    /// No place excludes the offered releases, if there are any.
    NoPlace,
}

/// A place of a conflict.
#[derive(Clone, Debug, PartialEq)]
pub struct ConflictPlace<'r> {
    /// The requirement in the configuration or state.
    pub place: &'r Requirement,
    /// The number of other places that state the same.
    pub others: usize,
    /// The newest offered version that it allows by itself.
    pub allows: Option<Version>,
    /// The newest offered version that may be selected without this requirement.
    pub without: Option<Version>,
}

impl<'r> ConstraintConflict<'r> {
    /// Finds the places that exclude every offered version of a provider; `None` if one is allowed.
    ///
    /// Without any offered version only places that exclude each other are found.
    #[must_use]
    pub fn of(
        requirements: &'r Requirements,
        provider: &ProviderAddr,
        offered: &[Version],
    ) -> Option<Self> {
        let all = requirements.constraints(provider);
        if all.newest(offered.iter()).is_some() {
            return None;
        }
        // First without regard to offers: what excludes itself is wrong with any registry.
        let mut places = requirements.clash(provider);
        let mut kind = ConflictKind::Contradiction;
        if places.is_empty() {
            places = requirements.clash_over(provider, offered);
            kind = if places.is_empty() {
                ConflictKind::NoPlace
            } else {
                ConflictKind::NotOffered
            };
        }
        let unnamed = offered
            .iter()
            .filter(|version| all.why_not(version) == Some(VersionRefusal::PrereleaseNotNamed))
            .max();
        let mut conflict = Self {
            kind,
            places: Vec::new(),
            unnamed: unnamed.cloned(),
        };
        for place in places {
            let (same, others): (Vec<&Requirement>, Vec<&Requirement>) = requirements
                .places(provider)
                .iter()
                .partition(|other| other.constraints == place.constraints);
            // A module that is called twice has one text, which counts once.
            let same_places: BTreeSet<_> =
                same.iter().map(|other| (other.file, other.span)).collect();
            let others: Constraints = others
                .iter()
                .flat_map(|other| other.constraints.iter().cloned())
                .collect();
            conflict.places.push(ConflictPlace {
                place,
                others: same_places.len().saturating_sub(1),
                allows: place.constraints.newest(offered.iter()).cloned(),
                without: others.newest(offered.iter()).cloned(),
            });
        }
        Some(conflict)
    }
}
