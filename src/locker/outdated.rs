//! What is locked against what is offered: nothing is selected for good, downloaded or written.

use std::collections::{BTreeMap, BTreeSet};

use super::dates;
use super::query::{QUESTIONS, versions_of};
use super::work::{self, Question, answers, distinct};
use super::{FlavorSource, LockError, Release};
use crate::addr::ProviderAddr;
use crate::authenticate::Rules;
use crate::flavor::Flavor;
use crate::lockfile::LockFile;
use crate::package::ReleaseDates;
use crate::requirement::{Refusal, Requirements};
use crate::resolve::{self, Goal, Goals, Outlook, Query, Reach, SelectError};
use crate::version::{Constraints, Version};

/// One root whose locked versions are compared with those that are offered.
#[derive(Clone, Copy, Debug)]
pub struct OutdatedRequest<'a> {
    /// Who is asked, and whose rules apply.
    pub source: &'a FlavorSource<'a>,
    /// What is required.
    pub requirements: &'a Requirements,
    /// What is locked.
    pub lock: &'a LockFile,
    /// Providers that are run from a directory: nothing is asked about them.
    pub overridden: &'a [ProviderAddr],
}

/// How a provider compares.
#[derive(Debug)]
pub struct ComparedVersions {
    /// Which provider.
    pub provider: ProviderAddr,
    /// The version that is locked.
    pub locked: Option<Version>,
    /// All conditions that count: those of visible places and, where modules cannot be seen, the recorded
    /// ones.
    pub constraints: Constraints,
    /// What it was compared with.
    pub standing: Standing,
    /// What is known of the dates of the newest version and the newest allowed one, where they are newer
    /// than the locked one.
    pub dates: BTreeMap<Version, ReleaseDates>,
}

/// What the version of a provider was compared with.
#[derive(Debug)]
pub enum Standing {
    /// With what its source offers.
    Offered {
        /// The versions that matter.
        outlook: Outlook,
        /// The warnings of the source about the provider.
        warnings: Vec<String>,
    },
    /// As [`Standing::Offered`], but only what cannot be seen may require the provider, so that its version
    /// moves only if it is named.
    Unseen(Outlook),
    /// With nothing: its source gave no answer, or nothing could meet the requirement.
    Failed(LockError),
    /// With nothing: nothing requires it.
    NotRequired,
    /// With nothing: it is part of the program.
    BuiltIn,
    /// With nothing: it is run from a directory.
    Overridden,
}

/// A root on its way.
struct Comparing<'a> {
    request: &'a OutdatedRequest<'a>,
    /// The place of its source among those of the run.
    source: usize,
    /// What is asked about.
    queries: Vec<Query>,
    /// What is not.
    others: Vec<ComparedVersions>,
}

/// Compares what is locked with what is offered. Returns the providers of each root, sorted, in the
/// order of the requests.
///
/// Roots that share a source ask it each question once. A provider that fails keeps no other from being
/// compared. A date is worth knowing, and no more: where it cannot be found out there is none.
///
/// `rules` are those by which signatures are checked for a flavor.
#[must_use]
pub fn outdated(
    rules: &(dyn Fn(Flavor) -> Rules + Sync),
    roots: &[OutdatedRequest<'_>],
) -> Vec<Vec<ComparedVersions>> {
    let sources = work::sources(roots.iter().map(|root| root.source));
    let started = roots.iter().map(|root| start(root, &sources));
    let started: Vec<Comparing<'_>> = started.collect();
    let questions = started.iter().flat_map(|root| {
        let queries = root.queries.iter();
        queries.map(|query| versions_of(root.source, &query.provider))
    });
    let offers = answers(QUESTIONS, distinct(questions), |one| {
        sources[one.source].source.versions(&one.about)
    });
    let compare = |root: Comparing<'_>| {
        let mut compared = root.others;
        for query in root.queries {
            let offer = &offers[&versions_of(root.source, &query.provider)];
            let is_visible = root
                .request
                .requirements
                .providers
                .contains_key(&query.provider);
            let standing = match offer {
                Ok(offer) if is_visible => Standing::Offered {
                    outlook: Outlook::of(&query, &offer.versions),
                    warnings: offer.warnings.clone(),
                },
                Ok(offer) => Standing::Unseen(Outlook::of(&query, &offer.versions)),
                Err(cause) => {
                    Standing::Failed(LockError::of_versions(&query.provider, cause.clone()))
                }
            };
            compared.push(ComparedVersions {
                provider: query.provider,
                locked: query.locked,
                constraints: query.constraints,
                standing,
                dates: BTreeMap::new(),
            });
        }
        compared.sort_by(|a, b| a.provider.cmp(&b.provider));
        compared
    };
    let places: Vec<usize> = started.iter().map(|root| root.source).collect();
    let mut roots: Vec<Vec<ComparedVersions>> = started.into_iter().map(compare).collect();
    add_dates(&sources, rules, &places, &mut roots);
    roots
}

/// Adds the dates of the versions that are newer than the locked ones; `places` are those of the sources of
/// the roots.
fn add_dates(
    sources: &[&FlavorSource<'_>],
    rules: &(dyn Fn(Flavor) -> Rules + Sync),
    places: &[usize],
    roots: &mut [Vec<ComparedVersions>],
) {
    let releases = |source: usize, one: &ComparedVersions| {
        let newer = one.newer().into_iter();
        let releases = newer.map(|version| Question {
            source,
            about: Release {
                provider: one.provider.clone(),
                version: version.clone(),
            },
        });
        releases.collect::<Vec<_>>()
    };
    let asked = places.iter().zip(&*roots);
    let questions = asked.flat_map(|(source, root)| {
        let all = root.iter();
        all.flat_map(|one| releases(*source, one))
    });
    let dates = answers(QUESTIONS, distinct(questions), |one| {
        let source = sources[one.source];
        let (rules, now) = (rules(source.flavor), source.net.clock.now());
        dates::of_release(source, &one.about, &rules, now)
    });
    for (source, root) in places.iter().zip(roots) {
        for one in root {
            let known = releases(*source, one).into_iter().filter_map(|question| {
                let dates = dates[&question].as_ref().ok()?;
                Some((question.about.version, dates.clone()))
            });
            one.dates = known.collect();
        }
    }
}

impl ComparedVersions {
    /// Returns the newest version and the newest allowed one, where they are newer than the locked one.
    fn newer(&self) -> BTreeSet<&Version> {
        let (Standing::Offered { outlook, .. } | Standing::Unseen(outlook)) = &self.standing else {
            return BTreeSet::new();
        };
        let versions = outlook.newest.iter().chain(&outlook.allowed);
        versions
            .filter(|version| self.locked.as_ref().is_none_or(|locked| *version > locked))
            .collect()
    }
}

/// Starts a root: which providers are asked about?
fn start<'a>(request: &'a OutdatedRequest<'a>, sources: &[&FlavorSource<'_>]) -> Comparing<'a> {
    let flavor = request.source.flavor;
    let requirements = request.requirements;
    let mut lock = request.lock.clone();
    let carried_over = lock.carry_over(flavor, |addr| requirements.providers.contains_key(addr));
    let goals = Goals {
        others: Goal::Newest(Reach::Any),
        named: BTreeMap::new(),
    };
    let (mut queries, refused) = resolve::to_query(requirements, &lock, flavor, &goals);
    let compared = |provider: &ProviderAddr, standing| ComparedVersions {
        provider: provider.clone(),
        locked: lock
            .providers
            .get(provider)
            .map(|entry| entry.version.clone()),
        constraints: requirements.constraints(provider),
        standing,
        dates: BTreeMap::new(),
    };
    let required = requirements.providers.keys();
    let built_in = required.filter(|provider| {
        provider.is_builtin(flavor) && !refused.iter().any(|(other, _)| other == *provider)
    });
    let built_in = built_in.map(|provider| compared(provider, Standing::BuiltIn));
    let mut others: Vec<ComparedVersions> = built_in.collect();
    others.extend(refused.into_iter().map(|(provider, refusal)| {
        let error = SelectError::Refused {
            provider: provider.clone(),
            refusal,
        };
        compared(&provider, Standing::Failed(Box::new(error).into()))
    }));
    let left = lock.providers.iter().filter(|(provider, _)| {
        let is_replaced = carried_over.iter().any(|(old, _)| old == *provider);
        !requirements.providers.contains_key(*provider) && !is_replaced
    });
    for (provider, entry) in left {
        if requirements.is_complete() || !is_usable(provider, flavor) {
            others.push(compared(provider, Standing::NotRequired));
        } else {
            queries.push(Query {
                provider: provider.clone(),
                constraints: entry.constraints.clone(),
                locked: Some(entry.version.clone()),
                goal: Goal::Newest(Reach::Any),
            });
        }
    }
    let is_overridden = |query: &Query| request.overridden.contains(&query.provider);
    let overridden = queries.iter().filter(|query| is_overridden(query));
    others.extend(overridden.map(|query| compared(&query.provider, Standing::Overridden)));
    queries.retain(|query| !is_overridden(query));
    Comparing {
        request,
        source: work::place_of(request.source, sources),
        queries,
        others,
    }
}

/// Returns whether a provider could be asked about at all.
fn is_usable(provider: &ProviderAddr, flavor: Flavor) -> bool {
    !provider.is_builtin(flavor) && Refusal::of(provider, &Constraints::default(), flavor).is_none()
}
