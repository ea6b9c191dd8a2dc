//! What `init`, `plan` and `validate` will do for each provider on each wanted platform, by each
//! route: [`Outlook`] predicts it, and [`fold`] and [`combine`] sum it up.

mod summary;

use std::collections::{BTreeMap, BTreeSet};

pub use summary::{PlatformGroup, combine, fold, of_provider};

use crate::addr::ProviderAddr;
use crate::coverage::{
    self, Facts, Guess, Held, HeldEntry, Need, NeededBy, Prediction, Recorded, Route, coverage,
};
use crate::flavor::Flavor;
use crate::hash::Hash;
use crate::lockfile::{Document, ProviderLock};
use crate::package::WantedPlatforms;
use crate::platform::Platform;
use crate::requirement::{Origin, Refusal, Requirements};
use crate::verify::known::{KnownHashes, MachineFacts, Machines, PackageForm, RefusedPackages};
use crate::verify::subject::Subject;
use crate::version::Constraints;

/// What happens on one platform because of one provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The provider.
    pub provider: ProviderAddr,
    /// The platform.
    pub platform: Platform,
    /// One for each route, in the order of `Route::ALL`; none if the platform is not wanted.
    pub predictions: Vec<Prediction>,
    /// For this machine's own platform what `init` and `plan` do in the root as it is now; else nothing.
    pub here: Vec<Prediction>,
}

/// The lock file that is looked at, as far as it can be read.
#[derive(Clone, Copy, Debug)]
pub enum Locked<'a> {
    /// It has no error; an empty document stands for a missing file.
    Sound(&'a Document),
    /// It has errors; the document holds what was understood.
    Broken {
        /// What was understood.
        document: &'a Document,
        /// The titles of the errors, in the order of the file.
        titles: &'a [&'a str],
    },
}

/// What packages are known to be, for sure, of the locked versions; an entry may lack any of it.
#[derive(Clone, Copy, Debug)]
pub struct Known<'a> {
    /// The `h1:` of packages.
    pub h1: &'a KnownHashes,
    /// The `zh:` of their zips.
    pub zh: &'a KnownHashes,
    /// The `h1:` of what is installed now, which need not be the package of the locked version.
    pub installed: &'a KnownHashes,
    /// Packages that the mirrors at hand have, and that no recorded hash accepts.
    pub refused: &'a RefusedPackages,
    /// What this machine has for its own platform.
    pub machines: &'a Machines,
}

/// A root whose future is predicted.
#[derive(Clone, Copy, Debug)]
pub struct Outlook<'a> {
    /// The lock file.
    pub locked: Locked<'a>,
    /// Whose rules apply.
    pub flavor: Flavor,
    /// What the configuration requires, if it could be read.
    pub requirements: Option<&'a Requirements>,
}

impl<'a> Outlook<'a> {
    /// Returns what a lock file without errors is checked for.
    #[must_use]
    pub fn of(subject: Subject<'a>) -> Self {
        Self {
            locked: Locked::Sound(subject.document),
            flavor: subject.flavor,
            requirements: subject.requirements,
        }
    }

    /// Returns every provider that is locked, or required and can be locked.
    #[must_use]
    pub fn providers(&self) -> BTreeSet<ProviderAddr> {
        let locked = self.document().lock.providers.keys().cloned();
        let required = self.requirements.into_iter().flat_map(|requirements| {
            let required = requirements.providers.keys();
            required.filter(|provider| self.can_be_locked(requirements, provider))
        });
        locked.chain(required.cloned()).collect()
    }

    /// Predicts what happens, by provider, then by platform.
    ///
    /// A requirement that nothing can meet has no row: a finding reports it.
    #[must_use]
    pub fn rows(&self, wanted: &WantedPlatforms, known: Known<'_>) -> Vec<Row> {
        let providers = self.providers();
        let rows = providers.iter();
        let rows = rows.flat_map(|provider| self.rows_of(provider, &wanted.known(provider), known));
        rows.collect()
    }

    /// Predicts what an entry comes to on a platform whose `h1:` it lacks.
    pub(in crate::verify) fn without_h1(
        &self,
        provider: &ProviderAddr,
        entry: &ProviderLock,
    ) -> Vec<Prediction> {
        let facts = Facts {
            registry_states_h1: self.registry_states_h1(provider),
            ..Facts::default()
        };
        self.predict_entry(provider, entry, facts)
    }

    fn rows_of(&self, provider: &ProviderAddr, wanted: &[Platform], known: Known<'_>) -> Vec<Row> {
        let nothing = BTreeMap::new();
        let h1 = known.h1.get(provider).unwrap_or(&nothing);
        let zh = known.zh.get(provider).unwrap_or(&nothing);
        let installed = known.installed.get(provider).unwrap_or(&nothing);
        let entry = self.document().lock.providers.get(provider);
        let machines = known.machines.keys();
        let own = machines.filter(|(other, _)| other == provider);
        let own = own.map(|(_, platform)| platform);
        let platforms: BTreeSet<&Platform> = wanted.iter().chain(own).collect();
        let all: Vec<Platform> = platforms.iter().copied().cloned().collect();
        let coverage = entry.map(|entry| coverage(&entry.hashes, wanted, h1));
        let with_own = entry.map(|entry| coverage::coverage(&entry.hashes, &all, h1));
        let row = |platform: &Platform| {
            let predictions = match (self.locked, &coverage, entry) {
                // `init` runs here all the same.
                _ if !wanted.contains(platform) => Vec::new(),
                (Locked::Broken { titles, .. }, ..) => {
                    coverage::predict_unreadable(titles, self.flavor, &Route::ALL)
                }
                (Locked::Sound(_), Some(coverage), Some(entry)) => {
                    let facts = Facts {
                        h1: h1.get(platform),
                        zh: zh.get(platform),
                        counts_suffice: coverage.lacking() == 0,
                        may_be_recorded: coverage.unexplained > 0,
                        registry_states_h1: self.registry_states_h1(provider),
                        is_unrecorded: false,
                    };
                    let mut predictions = self.predict_entry(provider, entry, facts);
                    let own = installed.get(platform);
                    if let Some(own) = own.filter(|own| !entry.hashes.contains(own)) {
                        let other = Facts {
                            h1: Some(own),
                            ..facts
                        };
                        let other = self.predict_entry(provider, entry, other);
                        replace(&mut predictions, &other, &[Route::Plan, Route::Validate]);
                    }
                    // A package that does not match has hashes that are not recorded.
                    let other = self.predict_entry(provider, entry, Facts::unrecorded());
                    for (form, route) in [
                        (PackageForm::Directory, Route::UnpackedMirror),
                        (PackageForm::Zip, Route::PackedMirror),
                    ] {
                        let package = (provider.clone(), platform.clone(), form);
                        if known.refused.contains(&package) {
                            replace(&mut predictions, &other, &[route]);
                        }
                    }
                    predictions
                }
                (Locked::Sound(_), ..) => {
                    coverage::predict_guess(&self.absent(provider), self.flavor)
                }
            };
            let facts = Facts {
                h1: h1.get(platform),
                zh: zh.get(platform),
                counts_suffice: with_own.as_ref().is_some_and(|all| all.lacking() == 0),
                may_be_recorded: with_own.as_ref().is_some_and(|all| all.unexplained > 0),
                registry_states_h1: self.registry_states_h1(provider),
                is_unrecorded: false,
            };
            let here = self.here(provider, platform, known, facts);
            Row {
                provider: provider.clone(),
                platform: platform.clone(),
                predictions,
                here,
            }
        };
        platforms.into_iter().map(row).collect()
    }

    /// Predicts what an entry of a sound lock file comes to on a platform.
    fn predict_entry(
        &self,
        provider: &ProviderAddr,
        entry: &ProviderLock,
        facts: Facts<'_>,
    ) -> Vec<Prediction> {
        coverage::predict_guess(&self.held(provider, entry, facts), self.flavor)
    }

    /// Returns what an entry is to a platform.
    fn held(&self, provider: &ProviderAddr, entry: &ProviderLock, facts: Facts<'_>) -> Guess<Held> {
        let listed = self.document().places.get(provider);
        let hashes: Vec<&Hash> = match listed {
            Some(places) => places.listed.iter().map(|(hash, _)| hash).collect(),
            None => entry.hashes.iter().collect(),
        };
        let has_twin = self.has_twin(provider);
        let recorded = Recorded::of(hashes.iter().copied(), facts);
        self.need(provider, entry).each(|need| {
            self.needed_by(provider).each(|by| {
                recorded.clone().each(|hashes| {
                    Guess::known(Held::HeldEntry(HeldEntry {
                        need,
                        by,
                        hashes,
                        has_twin,
                    }))
                })
            })
        })
    }

    /// Predicts what happens in the root as it is now; nothing for platforms of other machines.
    fn here(
        &self,
        provider: &ProviderAddr,
        platform: &Platform,
        known: Known<'_>,
        facts: Facts<'_>,
    ) -> Vec<Prediction> {
        let key = (provider.clone(), platform.clone());
        let entry = self.document().lock.providers.get(provider);
        let Some(MachineFacts { machine, package }) = known.machines.get(&key) else {
            return Vec::new();
        };
        if let Locked::Broken { titles, .. } = self.locked {
            return coverage::predict_unreadable(titles, self.flavor, &Route::HERE);
        }
        let Some(entry) = entry else {
            return coverage::predict_guess_here(&self.absent(provider), *machine, self.flavor);
        };
        let facts = match package {
            Some(package) if package.is_refused => Facts::unrecorded(),
            Some(package) => Facts {
                h1: Some(&package.h1),
                zh: package.zh.as_ref(),
                ..facts
            },
            None => facts,
        };
        let held = self.held(provider, entry, facts);
        coverage::predict_guess_here(&held, *machine, self.flavor)
    }

    /// Returns what needs a provider; where not everything can be seen, the configuration may.
    fn needed_by(&self, provider: &ProviderAddr) -> Guess<NeededBy> {
        let places = self.requirements.map(|all| all.providers.get(provider));
        let (Some(requirements), Some(Some(places))) = (self.requirements, places) else {
            return Guess::known(NeededBy::CONFIGURATION);
        };
        let by = NeededBy {
            configuration: places.iter().any(|place| place.is_for_plan()),
            state: places.iter().any(|place| place.origin == Origin::State),
            tests: places.iter().any(|place| place.module.is_in_test()),
        };
        let seen = requirements.unseen_calls.is_empty() && !requirements.faulty;
        let otherwise = match by.configuration || seen {
            true => Vec::new(),
            false => vec![NeededBy {
                configuration: true,
                ..by
            }],
        };
        Guess {
            likely: by,
            otherwise,
        }
    }

    /// Returns whether the registry states the `h1:` of every platform.
    fn registry_states_h1(&self, provider: &ProviderAddr) -> bool {
        self.flavor.records_claims_of(provider.hostname().ascii())
    }

    /// Returns why an entry is there; where not everything can be seen, it is taken to be required.
    fn need(&self, provider: &ProviderAddr, entry: &ProviderLock) -> Guess<Need> {
        let Some(requirements) = self.requirements else {
            return Guess {
                likely: Need::Fits,
                otherwise: vec![Need::NotRequired, Need::Outside],
            };
        };
        let is_required = requirements.providers.contains_key(provider);
        let conditions = requirements.on_locked(provider, &entry.version, &entry.constraints);
        let fits = conditions.allows(&entry.version);
        let seen = requirements.unseen_calls.is_empty() && !requirements.faulty;
        match (is_required, fits) {
            (true, false) => Guess::known(match self.fits_plan(provider, entry) {
                true => Need::OutsideInTests,
                false => Need::Outside,
            }),
            (true, true) if seen => Guess::known(Need::Fits),
            (true, true) => Guess {
                likely: Need::Fits,
                otherwise: vec![Need::Outside],
            },
            (false, _) if requirements.is_complete() => Guess::known(Need::NotRequired),
            (false, _) => Guess {
                likely: Need::Fits,
                otherwise: vec![Need::NotRequired],
            },
        }
    }

    /// Returns whether all conditions allow the locked version but for those of modules that tests run.
    fn fits_plan(&self, provider: &ProviderAddr, entry: &ProviderLock) -> bool {
        let places = self
            .requirements
            .and_then(|all| all.providers.get(provider));
        let places = places.into_iter().flatten();
        let conditions = places.filter(|place| place.is_for_plan());
        let conditions = conditions.map(|place| Constraints::clone(&place.constraints));
        let all = conditions.reduce(Constraints::union).unwrap_or_default();
        all.allows(&entry.version)
    }

    /// Returns what there is of a provider that has no entry: perhaps the version of the one that
    /// OpenTofu reads as its entry.
    fn absent(&self, provider: &ProviderAddr) -> Guess<Held> {
        let entries = &self.document().lock.providers;
        let other = entries
            .iter()
            .find(|(other, _)| other.carried_over(self.flavor).as_ref() == Some(provider));
        let (Some((other, entry)), Some(requirements)) = (other, self.requirements) else {
            return self
                .needed_by(provider)
                .each(|by| Guess::known(Held::Nothing(by)));
        };
        Guess::known(Held::Version {
            fits: requirements.constraints(provider).allows(&entry.version),
            other_stays: requirements.providers.contains_key(other),
        })
    }

    /// Returns whether OpenTofu reads an entry out of this one that the file does not have.
    fn has_twin(&self, provider: &ProviderAddr) -> bool {
        let twin = provider.carried_over(self.flavor);
        twin.is_some_and(|twin| !self.document().lock.providers.contains_key(&twin))
    }

    fn can_be_locked(&self, requirements: &Requirements, provider: &ProviderAddr) -> bool {
        let constraints = requirements.constraints(provider);
        !provider.is_builtin(self.flavor)
            && Refusal::of(provider, &constraints, self.flavor).is_none()
    }

    fn document(&self) -> &'a Document {
        match self.locked {
            Locked::Sound(document) | Locked::Broken { document, .. } => document,
        }
    }
}

/// Replaces what is predicted by some routes.
fn replace(predictions: &mut [Prediction], others: &[Prediction], routes: &[Route]) {
    for (one, other) in predictions.iter_mut().zip(others) {
        if routes.contains(&one.route) {
            *one = other.clone();
        }
    }
}
