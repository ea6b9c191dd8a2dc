//! Locked versions against those that are offered: nothing is selected for good, downloaded or written.

use std::collections::{BTreeMap, BTreeSet};

use super::dates::{self, AgedChoice};
use super::stages::Choice;
use super::work::{self, QUESTIONS, Question, answers};
use super::{FlavorSource, LockError, Release};
use crate::addr::ProviderAddr;
use crate::authenticate::Rules;
use crate::flavor::Flavor;
use crate::lockfile::LockFile;
use crate::package::{AgePolicy, ReleaseDates};
use crate::project::Policy;
use crate::requirement::Requirements;
use crate::resolve::{self, Goal, Goals, Outlook, ProviderQuery, Reach, SelectError};
use crate::version::{Constraints, Version};

/// One root whose locked versions are compared with those that are offered.
#[derive(Clone, Copy)]
pub struct OutdatedRequest<'a> {
    /// The source that is asked, with the flavor.
    pub source: &'a FlavorSource<'a>,
    /// Everything that the root requires.
    pub requirements: &'a Requirements,
    /// The lock file as it is.
    pub lock: &'a LockFile,
    /// Providers that are run from a directory: nothing is asked about them.
    pub overridden: &'a [ProviderAddr],
    /// The providers that are compared; all of them if none is named.
    pub named: &'a BTreeSet<ProviderAddr>,
    /// The versions that may be selected, and their age, if that is stated.
    pub policy: Option<&'a Policy>,
}

impl OutdatedRequest<'_> {
    fn concerns(&self, provider: &ProviderAddr) -> bool {
        self.named.is_empty() || self.named.contains(provider)
    }
}

/// The versions of a provider: locked, allowed and newest.
#[derive(Debug)]
pub struct ComparedVersions {
    /// The provider that is required or locked.
    pub provider: ProviderAddr,
    /// The version in the lock file, if there is one.
    pub locked: Option<Version>,
    /// All conditions that count: those of visible places and, where modules cannot be seen, the recorded
    /// ones.
    pub constraints: Constraints,
    /// The comparison of the locked version with the offered ones.
    pub standing: VersionComparison,
    /// The dates of the newest version and the newest allowed one, where they are newer than the locked one.
    pub newer_dates: BTreeMap<Version, ReleaseDates>,
    /// The version that is selected in place of the newest allowed one where that is too young, if it is newer
    /// than the locked one.
    pub old_enough: Option<Version>,
}

/// The comparison of a locked version with the offered ones, or the reason why there is none.
#[derive(Debug)]
pub enum VersionComparison {
    /// The source of the provider offers versions.
    Offered {
        /// The offered versions that matter.
        outlook: Outlook,
        /// The warnings of the source about the provider.
        warnings: Vec<String>,
    },
    /// As [`VersionComparison::Offered`], but only configuration that cannot be seen may require the provider,
    /// so that its version moves only if it is named.
    Unseen(Outlook),
    /// The source gave no answer, or nothing could meet the requirement.
    Failed(LockError),
    /// Nothing requires the provider.
    NotRequired,
    /// The provider is part of the program.
    BuiltIn,
    /// The provider is run from a directory.
    Overridden,
}

/// A root whose providers are being compared.
struct Comparing<'a> {
    request: &'a OutdatedRequest<'a>,
    /// The index of its source among those of the run.
    source: usize,
    /// The providers that are asked about.
    queries: Vec<ProviderQuery>,
    /// The providers that are not.
    compared: Vec<ComparedVersions>,
}

/// Compares locked versions with offered ones. Returns the providers of each root, sorted, in the
/// order of the requests.
///
/// Roots that share a source ask it each question once. A provider that fails keeps no other from being
/// compared. A date is worth knowing, and no more: where it cannot be found out there is none.
///
/// `rules` returns the rules for signatures of a flavor.
#[must_use]
pub fn outdated(
    rules: &(dyn Fn(Flavor) -> Rules + Sync),
    requests: &[OutdatedRequest<'_>],
) -> Vec<Vec<ComparedVersions>> {
    let sources = work::distinct_sources(requests.iter().map(|request| request.source));
    let started: Vec<Comparing<'_>> = requests
        .iter()
        .map(|request| start(request, work::index_of(request.source, &sources)))
        .collect();
    let versions_of = |root: &Comparing<'_>, query: &ProviderQuery| Question {
        source: root.source,
        about: query.provider.clone(),
    };
    let mut questions = Vec::new();
    for root in &started {
        questions.extend(root.queries.iter().map(|query| versions_of(root, query)));
    }
    let offers = answers(QUESTIONS, questions, |question| {
        sources[question.source].source.versions(&question.about)
    });
    let mut roots: Vec<(usize, Vec<ComparedVersions>)> = Vec::new();
    let mut choices = Vec::new();
    for mut root in started {
        let required = &root.request.requirements.providers;
        for query in std::mem::take(&mut root.queries) {
            let offer = &offers[&versions_of(&root, &query)];
            // Where a policy demands an age, another version may have to be selected.
            if let Ok(offer) = offer
                && let Some(policy) = root.request.policy
                && let Some(age) = policy.age(&query.provider, root.request.source.flavor)
                && let Ok(candidates) = resolve::candidates(&query, &offer.versions)
            {
                let choice = Choice {
                    candidates: candidates.into_iter().cloned().collect(),
                    newest: None,
                    warnings: Vec::new(),
                    query: query.clone(),
                };
                choices.push((roots.len(), age, choice));
            }
            let standing = match offer {
                Ok(offer) if required.contains_key(&query.provider) => VersionComparison::Offered {
                    outlook: Outlook::of(&query, &offer.versions),
                    warnings: offer.warnings.clone(),
                },
                Ok(offer) => VersionComparison::Unseen(Outlook::of(&query, &offer.versions)),
                Err(cause) => VersionComparison::Failed(cause.clone().into()),
            };
            let provider = query.provider;
            let versions =
                ComparedVersions::new(provider, query.locked, query.constraints, standing);
            root.compared.push(versions);
        }
        root.compared.sort_by(|a, b| a.provider.cmp(&b.provider));
        roots.push((root.source, root.compared));
    }
    add_dates(&sources, rules, &mut roots);
    add_old_enough(&sources, rules, &choices, &mut roots);
    roots.into_iter().map(|(_, compared)| compared).collect()
}

/// Adds the dates of the versions that are newer than the locked ones; each root comes with the index of its
/// source.
fn add_dates(
    sources: &[&FlavorSource<'_>],
    rules: &(dyn Fn(Flavor) -> Rules + Sync),
    roots: &mut [(usize, Vec<ComparedVersions>)],
) {
    let mut questions = Vec::new();
    for (source, compared) in &*roots {
        for versions in compared {
            questions.extend(versions.newer_releases(*source));
        }
    }
    let dates = answers(QUESTIONS, questions, |question| {
        let source = sources[question.source];
        let (rules, now) = (rules(source.flavor), source.net.clock.now());
        dates::of_release(source, &question.about, &rules, now)
    });
    for (source, compared) in roots {
        for versions in compared {
            for question in versions.newer_releases(*source) {
                // A date is useful, but its lack is no reason to fail.
                if let Ok(dates) = &dates[&question] {
                    versions
                        .newer_dates
                        .insert(question.about.version, dates.clone());
                }
            }
        }
    }
}

/// Adds the versions that are old enough where the newest allowed ones are not; each choice comes with the index
/// of its root.
fn add_old_enough(
    sources: &[&FlavorSource<'_>],
    rules: &(dyn Fn(Flavor) -> Rules + Sync),
    choices: &[(usize, AgePolicy, Choice)],
    roots: &mut [(usize, Vec<ComparedVersions>)],
) {
    let mut searches = Vec::new();
    let mut places = Vec::new();
    for (root, policy, choice) in choices {
        let (source, compared) = &roots[*root];
        let place = compared
            .iter()
            .position(|versions| versions.provider == choice.query.provider);
        let now = sources[*source].net.clock.now();
        if let Some(place) = place
            && let Some(dates) = compared[place].newer_dates.get(&choice.candidates[0])
            // The newest version is old enough in most cases, and then no other date is asked for.
            && policy.youth(dates, now).is_some()
        {
            places.push((*root, place));
            searches.push(AgedChoice {
                choice,
                policy: Some(*policy),
                source: *source,
            });
        }
    }
    let found = dates::old_enough(sources, rules, &searches);
    for ((root, place), found) in places.into_iter().zip(found) {
        let versions = &mut roots[root].1[place];
        let Some((version, dates)) = found else {
            continue;
        };
        if versions
            .locked
            .as_ref()
            .is_none_or(|locked| version > *locked)
        {
            versions
                .newer_dates
                .extend(dates.map(|dates| (version.clone(), dates)));
            versions.old_enough = Some(version);
        }
    }
}

impl ComparedVersions {
    fn new(
        provider: ProviderAddr,
        locked: Option<Version>,
        constraints: Constraints,
        standing: VersionComparison,
    ) -> Self {
        Self {
            provider,
            locked,
            constraints,
            standing,
            newer_dates: BTreeMap::new(),
            old_enough: None,
        }
    }

    /// Returns the newest version and the newest allowed one, where they are newer than the locked one.
    fn newer_releases(&self, source: usize) -> Vec<Question<Release>> {
        let (VersionComparison::Offered { outlook, .. } | VersionComparison::Unseen(outlook)) =
            &self.standing
        else {
            return Vec::new();
        };
        BTreeSet::from_iter(outlook.newest.iter().chain(&outlook.allowed))
            .into_iter()
            .filter(|version| self.locked.as_ref().is_none_or(|locked| *version > locked))
            .map(|version| Question {
                source,
                about: Release {
                    provider: self.provider.clone(),
                    version: version.clone(),
                },
            })
            .collect()
    }
}

/// Starts a root: decides which providers are asked about.
fn start<'a>(request: &'a OutdatedRequest<'a>, source: usize) -> Comparing<'a> {
    let flavor = request.source.flavor;
    let requirements = request.requirements;
    let mut lock = request.lock.clone();
    let carried_over = lock.carry_over(flavor, |addr| requirements.providers.contains_key(addr));
    // As `init -upgrade` moves versions; the locked ones do not matter (`resolve` rules 1.3).
    let goal = Goal::Newest(Reach::Any);
    let goals = Goals {
        others: request.named.is_empty().then(|| goal.clone()),
        named: request
            .named
            .iter()
            .map(|addr| (addr.clone(), goal.clone()))
            .collect(),
    };
    let (mut queries, refused) = resolve::to_query(requirements, &lock, flavor, &goals);
    let without_offer = |provider: &ProviderAddr, standing| {
        let locked = lock
            .providers
            .get(provider)
            .map(|entry| entry.version.clone());
        let constraints = requirements.constraints(provider);
        ComparedVersions::new(provider.clone(), locked, constraints, standing)
    };
    let mut compared: Vec<ComparedVersions> = requirements
        .providers
        .keys()
        .filter(|provider| provider.is_builtin(flavor) && request.concerns(provider))
        // A built-in provider with a constraint, or one that does not exist, is an error (`resolve` rules 1.1).
        .filter(|provider| refused.iter().all(|(other, _)| other != *provider))
        .map(|provider| without_offer(provider, VersionComparison::BuiltIn))
        .collect();
    for (provider, refusal) in refused {
        let error = Box::new(SelectError::Refused {
            provider: provider.clone(),
            refusal,
        });
        let failure = VersionComparison::Failed(error.into());
        compared.push(without_offer(&provider, failure));
    }
    for (provider, entry) in work::unrequired(requirements, &lock, &carried_over) {
        if !request.concerns(provider) {
            continue;
        }
        if requirements.is_complete() || !work::can_be_asked_about(provider, flavor) {
            compared.push(without_offer(provider, VersionComparison::NotRequired));
        } else {
            queries.push(ProviderQuery {
                provider: provider.clone(),
                constraints: entry.constraints.clone(),
                locked: Some(entry.version.clone()),
                goal: Goal::Newest(Reach::Any),
            });
        }
    }
    let (overridden, queries): (Vec<ProviderQuery>, Vec<ProviderQuery>) = queries
        .into_iter()
        .partition(|query| request.overridden.contains(&query.provider));
    for query in overridden {
        compared.push(without_offer(
            &query.provider,
            VersionComparison::Overridden,
        ));
    }
    Comparing {
        request,
        source,
        queries,
        compared,
    }
}
