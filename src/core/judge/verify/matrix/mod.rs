//! Predictions of `init` and `plan` for each provider on each wanted platform, by each
//! route: [`InitOutlook`] makes them, and [`fold`] and [`combine`] sum them up.

mod summary;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

pub use summary::{PlatformGroup, combine, fold, of_provider};

use crate::addr::ProviderAddr;
use crate::config::Loaded;
use crate::coverage::{
    self, EntryHashes, EntryNeed, EntryState, Guess, KnownPackage, LockState, NeededBy, Outcome,
    Prediction, Route, coverage,
};
use crate::flavor::Flavor;
use crate::hash::Hash;
use crate::lockfile::{Document, ProviderLock};
use crate::package::WantedPlatforms;
use crate::platform::Platform;
use crate::requirement::{Refusal, Requirement, RequirementOrigin, Requirements};
use crate::verify::known::{MachineFacts, PackageFacts};
use crate::verify::subject::CheckedLock;
use crate::version::Constraints;

/// The predictions for one provider on one platform.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PredictionRow {
    /// The provider that is locked or required.
    pub provider: ProviderAddr,
    /// The platform that the program runs on.
    pub platform: Platform,
    /// One for each route, in the order of `Route::ALL`; none if the platform is not wanted.
    pub predictions: Vec<Prediction>,
    /// The outcomes of `init` and `plan` in the root as it is now; none for platforms of other machines.
    pub here: Vec<Prediction>,
}

/// The inputs of predictions for a root.
#[derive(Clone, Copy, Debug)]
pub struct InitOutlook<'a> {
    /// The lock file as it was read; an empty one stands for a missing file.
    pub document: &'a Document,
    /// The titles of its errors, in the order of the file.
    pub faults: &'a [&'a str],
    /// The program whose rules apply.
    pub flavor: Flavor,
    /// The requirements of the configuration, if it could be read.
    pub requirements: Option<&'a Requirements>,
}

impl<'a> InitOutlook<'a> {
    /// Takes the inputs of the checks of a lock file without errors.
    #[must_use]
    pub fn of(subject: CheckedLock<'a>) -> Self {
        Self {
            document: subject.document,
            faults: &[],
            flavor: subject.flavor,
            requirements: subject.requirements,
        }
    }

    /// Returns every provider that is locked, or required and can be locked.
    #[must_use]
    pub fn providers(&self) -> BTreeSet<ProviderAddr> {
        let mut providers: BTreeSet<ProviderAddr> =
            self.document.lock.providers.keys().cloned().collect();
        if let Some(requirements) = self.requirements {
            for provider in requirements.providers.keys() {
                let constraints = requirements.constraints(provider);
                if !provider.is_builtin(self.flavor)
                    && Refusal::of(provider, &constraints, self.flavor).is_none()
                {
                    providers.insert(provider.clone());
                }
            }
        }
        providers
    }

    /// Predicts all routes, by provider, then by platform.
    ///
    /// A requirement that nothing can meet has no row: a finding reports it.
    #[must_use]
    pub fn rows(&self, wanted: &WantedPlatforms, proven: &PackageFacts) -> Vec<PredictionRow> {
        let mut rows = Vec::new();
        for provider in self.providers() {
            let wanted = wanted.known(&provider);
            let of_machine = proven
                .machines
                .keys()
                .filter(|(other, _)| *other == provider)
                .map(|(_, platform)| platform);
            let platforms = BTreeSet::from_iter(wanted.iter().chain(of_machine));
            let with_machine: Vec<Platform> = platforms.iter().copied().cloned().collect();
            for platform in platforms {
                // A platform that is not wanted must not count among those that the `h1:` could belong to; but
                // `init` runs on this machine all the same.
                let predictions = if wanted.contains(platform) {
                    let facts = self.known_package(&provider, platform, &wanted, proven);
                    self.predict_wanted(&provider, platform, facts, proven)
                } else {
                    Vec::new()
                };
                let facts = self.known_package(&provider, platform, &with_machine, proven);
                rows.push(PredictionRow {
                    provider: provider.clone(),
                    platform: platform.clone(),
                    predictions,
                    here: self.here(&provider, platform, proven, facts),
                });
            }
        }
        rows
    }

    /// Returns the error of `init` from a registry on the first of these platforms where it fails.
    pub(in crate::judge::verify) fn refusal(
        &self,
        provider: &ProviderAddr,
        platforms: &[Platform],
        wanted: &[Platform],
        proven: &PackageFacts,
    ) -> Option<Cow<'static, str>> {
        platforms
            .iter()
            .flat_map(|platform| {
                let facts = self.known_package(provider, platform, wanted, proven);
                self.predict_wanted(provider, platform, facts, proven)
            })
            .find(|prediction| {
                prediction.route == Route::Registry && prediction.outcome == Outcome::Fails
            })
            .and_then(|prediction| prediction.title)
    }

    /// Returns the facts about the package of a platform; where they say nothing the `h1:` are counted that
    /// are recorded for all `platforms`.
    fn known_package<'k>(
        &self,
        provider: &ProviderAddr,
        platform: &Platform,
        platforms: &[Platform],
        proven: &'k PackageFacts,
    ) -> KnownPackage<'k> {
        let nothing = BTreeMap::new();
        let h1 = proven.known.get(provider);
        let strangers = proven.strangers.get(provider);
        let coverage = self.document.lock.providers.get(provider).map(|entry| {
            let hashes = match strangers {
                Some(strangers) => entry.hashes.without(strangers),
                None => entry.hashes.clone(),
            };
            coverage(&hashes, platforms, h1.unwrap_or(&nothing))
        });
        KnownPackage {
            h1: h1.and_then(|hashes| hashes.get(platform)),
            // A zip at hand may have been zipped again, so its `zh:` need not be that of the release.
            zh: proven
                .zips
                .get(provider)
                .and_then(|hashes| hashes.get(platform)),
            counts_suffice: coverage.as_ref().is_some_and(|all| all.lacking() == 0),
            may_be_recorded: coverage.as_ref().is_some_and(|all| all.unexplained > 0),
            registry_states_h1: self.registry_states_h1(provider),
            is_unrecorded: false,
            is_one_of_several: platforms.len() > 1,
            strangers,
        }
    }

    fn predict_wanted(
        &self,
        provider: &ProviderAddr,
        platform: &Platform,
        facts: KnownPackage<'_>,
        proven: &PackageFacts,
    ) -> Vec<Prediction> {
        if !self.faults.is_empty() {
            return coverage::predict_unreadable(self.faults, self.flavor, &Route::ALL);
        }
        let Some(entry) = self.document.lock.providers.get(provider) else {
            return coverage::predict_guess(&self.absent(provider), self.flavor);
        };
        let mut predictions = self.predict_entry(provider, entry, facts);
        if proven
            .refused
            .contains(&(provider.clone(), platform.clone()))
        {
            // A package that does not match has hashes that are not recorded.
            let refused = self.predict_entry(provider, entry, KnownPackage::unrecorded());
            for (prediction, refused) in predictions.iter_mut().zip(refused) {
                if prediction.route == Route::UnpackedMirror {
                    *prediction = refused;
                }
            }
        }
        predictions
    }

    fn predict_entry(
        &self,
        provider: &ProviderAddr,
        entry: &ProviderLock,
        facts: KnownPackage<'_>,
    ) -> Vec<Prediction> {
        coverage::predict_guess(&self.entry_state(provider, entry, facts), self.flavor)
    }

    /// Returns an entry as a platform sees it.
    fn entry_state(
        &self,
        provider: &ProviderAddr,
        entry: &ProviderLock,
        facts: KnownPackage<'_>,
    ) -> Guess<LockState> {
        // `init` rewrites a list that is unsorted or has a hash twice (`coverage` rules 2.4), which only the text
        // shows.
        let hashes: Vec<&Hash> = match self.document.places.get(provider) {
            Some(places) => places.listed.iter().map(|(hash, _)| hash).collect(),
            None => entry.hashes.iter().collect(),
        };
        let has_twin = self.has_twin(provider);
        let recorded = EntryHashes::of(hashes.iter().copied(), facts);
        self.need(provider, entry).each(|need| {
            self.needed_by(provider).each(|by| {
                recorded.clone().each(|hashes| {
                    Guess::known(LockState::EntryState(EntryState {
                        need,
                        by,
                        hashes,
                        has_twin,
                    }))
                })
            })
        })
    }

    /// Predicts `init` and `plan` in the root as it is now; nothing for platforms of other machines.
    fn here(
        &self,
        provider: &ProviderAddr,
        platform: &Platform,
        proven: &PackageFacts,
        facts: KnownPackage<'_>,
    ) -> Vec<Prediction> {
        let key = (provider.clone(), platform.clone());
        let entry = self.document.lock.providers.get(provider);
        let Some(MachineFacts { machine, package }) = proven.machines.get(&key) else {
            return Vec::new();
        };
        // A file that cannot be read stops the programs before they look at any package.
        if !self.faults.is_empty() {
            return coverage::predict_unreadable(self.faults, self.flavor, &Route::HERE);
        }
        let Some(entry) = entry else {
            return coverage::predict_guess_here(&self.absent(provider), *machine, self.flavor);
        };
        let facts = match package {
            Some(package) if package.is_refused => KnownPackage::unrecorded(),
            Some(package) => KnownPackage {
                h1: Some(&package.h1),
                zh: package.zh.as_ref(),
                ..facts
            },
            None => facts,
        };
        let state = self.entry_state(provider, entry, facts);
        coverage::predict_guess_here(&state, *machine, self.flavor)
    }

    /// Returns the places that need a provider; where not everything can be seen, the configuration may.
    fn needed_by(&self, provider: &ProviderAddr) -> Guess<NeededBy> {
        let places = self.requirements.map(|all| all.providers.get(provider));
        let (Some(requirements), Some(Some(places))) = (self.requirements, places) else {
            return Guess::known(NeededBy::CONFIGURATION);
        };
        // A provider of tests alone is of no interest to `plan` (`coverage` rules 4.6).
        let by = NeededBy {
            configuration: places.iter().any(|place| place.is_for_plan()),
            state: places
                .iter()
                .any(|place| place.origin == RequirementOrigin::State),
        };
        let seen = requirements.unseen_calls.is_empty() && !requirements.faulty;
        if by.configuration || seen {
            return Guess::known(by);
        }
        Guess {
            likely: by,
            otherwise: vec![NeededBy {
                configuration: true,
                ..by
            }],
        }
    }

    /// Returns true if the registry states the `h1:` of every platform.
    fn registry_states_h1(&self, provider: &ProviderAddr) -> bool {
        self.flavor.records_claims_of(provider.hostname().ascii())
    }

    /// Returns the need for an entry; where not everything can be seen, it is taken to be required.
    fn need(&self, provider: &ProviderAddr, entry: &ProviderLock) -> Guess<EntryNeed> {
        let Some(requirements) = self.requirements else {
            return Guess {
                likely: EntryNeed::Fits,
                otherwise: vec![EntryNeed::NotRequired, EntryNeed::Outside],
            };
        };
        let is_required = requirements.providers.contains_key(provider);
        let conditions = requirements.on_locked(provider, &entry.version, &entry.constraints);
        let fits = conditions.allows(&entry.version);
        let seen = requirements.unseen_calls.is_empty() && !requirements.faulty;
        match (is_required, fits) {
            // `plan` does not look at the constraints of modules that only tests run, nor at a version that only
            // the state requires (`coverage` rules 4.6).
            (true, false) => {
                let places: Vec<&Requirement> = requirements
                    .places(provider)
                    .iter()
                    .filter(|place| place.is_for_plan())
                    .collect();
                // No place at all allows pre-releases, too.
                let fits_plan = places.is_empty()
                    || places
                        .iter()
                        .flat_map(|place| place.constraints.iter())
                        .cloned()
                        .collect::<Constraints>()
                        .allows(&entry.version);
                Guess::known(if fits_plan {
                    EntryNeed::OutsideForInit
                } else {
                    EntryNeed::Outside
                })
            }
            // A module that cannot be seen may have a constraint that excludes the version.
            (true, true) if seen => Guess::known(EntryNeed::Fits),
            (true, true) => Guess {
                likely: EntryNeed::Fits,
                otherwise: vec![EntryNeed::Outside],
            },
            (false, _) if requirements.is_complete() => Guess::known(EntryNeed::NotRequired),
            (false, _) => Guess {
                likely: EntryNeed::Fits,
                otherwise: vec![EntryNeed::NotRequired],
            },
        }
    }

    /// Returns the state of a provider that has no entry: perhaps the version of the entry that OpenTofu reads
    /// as its own.
    fn absent(&self, provider: &ProviderAddr) -> Guess<LockState> {
        let entries = &self.document.lock.providers;
        let other = entries
            .iter()
            .find(|(other, _)| other.carried_over(self.flavor).as_ref() == Some(provider))
            .map(|(_, entry)| entry);
        // Without the configuration nothing says if the version of the other entry fits.
        let (Some(other), Some(requirements)) = (other, self.requirements) else {
            return self
                .needed_by(provider)
                .each(|by| Guess::known(LockState::Nothing(by)));
        };
        Guess::known(LockState::Version {
            fits: requirements.constraints(provider).allows(&other.version),
        })
    }

    /// Returns true if OpenTofu reads an entry out of this one that the file does not have.
    fn has_twin(&self, provider: &ProviderAddr) -> bool {
        provider
            .carried_over(self.flavor)
            .is_some_and(|twin| !self.document.lock.providers.contains_key(&twin))
    }
}

/// Replaces the predictions of commands that fail because a variable has no value, or a module is not installed, before
/// they look at any provider (`config` rules 5.2, 9.12 and 9.14).
pub(in crate::judge::verify) fn stop(rows: &mut [PredictionRow], configuration: &Loaded) {
    let anywhere = configuration.value_errors.title();
    let unread = &configuration.missing_values.files;
    let here = anywhere.or_else(|| {
        // A checkout with the key of git-crypt has these files in plain text.
        unread
            .iter()
            .any(|file| file.is_encrypted)
            .then_some("Invalid character")
    });
    let fail = |predictions: &mut [Prediction], title: &str| {
        for prediction in predictions {
            *prediction = Prediction {
                route: prediction.route,
                outcome: Outcome::Fails,
                title: Some(title.to_owned().into()),
                unchecked: false,
                assumed: false,
            };
        }
    };
    for row in rows {
        anywhere.inspect(|title| fail(&mut row.predictions, title));
        here.inspect(|title| fail(&mut row.here, title));
        // `plan` looks at modules first, but where it fails anyway, the cause that is about providers is shown.
        for prediction in &mut row.here {
            if let Some(title) = configuration.value_errors.modules
                && prediction.route == Route::HerePlan
                && prediction.outcome != Outcome::Fails
            {
                fail(std::slice::from_mut(prediction), title);
            }
        }
    }
}
