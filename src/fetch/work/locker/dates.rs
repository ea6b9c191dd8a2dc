//! The dates of releases, and the selection of one that is old enough (rules 3.3).

use std::collections::BTreeMap;
use std::time::SystemTime;

use super::release::find_lists;
use super::stages::{Choice, Selected};
use super::work::{QUESTIONS, Question, RootWork, answers};
use super::{
    AgeSearch, FlavorSource, LockError, LockSettings, MAX_DATED_RELEASES, PassedOver, Release,
    ReleaseList,
};
use crate::addr::Url;
use crate::authenticate::Rules;
use crate::flavor::Flavor;
use crate::package::{AgePolicy, DateSource, ReleaseDate, ReleaseDates};
use crate::parallel;
use crate::sources::Source;
use crate::sources::dates::package_changed;
use crate::sources::net::Net;
use crate::version::Version;

/// The dates of the releases that were asked about.
type DateAnswers = BTreeMap<Question<Release>, Result<ReleaseDates, Vec<LockError>>>;

/// The next step of a search with the answers so far.
enum SearchStep {
    /// The date of this release must be asked for.
    Ask(Question<Release>),
    Ended(SearchEnd),
}

/// The end of a search: a version, or the failures; no version is old enough, or one could not be asked about.
type SearchEnd = Result<(Version, Option<AgeSearch>), Vec<LockError>>;

/// Selects a version for every provider: the greatest that may be selected and is old enough.
///
/// A locked version stays even if it is too young, so that no search leads below it. Without a least age there
/// are no requests for dates.
pub(super) fn select<'a>(
    sources: &[&FlavorSource<'_>],
    settings: &LockSettings,
    roots: Vec<RootWork<'a, Choice>>,
) -> Vec<RootWork<'a, Selected>> {
    let choices: Vec<AgedChoice<'_>> = roots
        .iter()
        .flat_map(|root| {
            root.providers.iter().map(|choice| AgedChoice {
                choice,
                policy: root.request.age(&choice.query.provider),
                source: root.source,
            })
        })
        .collect();
    let mut ends = search(sources, &|flavor| settings.rules(flavor), &choices).into_iter();
    drop(choices);
    roots
        .into_iter()
        .map(|root| {
            root.advance(
                |choice, errors| match ends.next().expect("an end for each choice") {
                    Ok((version, search)) => Some(choice.select(version, search)),
                    Err(failures) => {
                        errors.extend(failures);
                        None
                    }
                },
            )
        })
        .collect()
}

/// The versions of a provider among which the greatest one is searched that is old enough.
pub(super) struct AgedChoice<'c> {
    pub(super) choice: &'c Choice,
    pub(super) policy: Option<AgePolicy>,
    /// The index of its source.
    pub(super) source: usize,
}

/// Finds for each choice the version that [`select`] would take, with its dates; `None` if there is none.
pub(super) fn old_enough(
    sources: &[&FlavorSource<'_>],
    rules: &(dyn Fn(Flavor) -> Rules + Sync),
    choices: &[AgedChoice<'_>],
) -> Vec<Option<(Version, Option<ReleaseDates>)>> {
    search(sources, rules, choices)
        .into_iter()
        .map(|end| {
            let (version, search) = end.ok()?;
            Some((version, search.and_then(|search| search.dates)))
        })
        .collect()
}

/// Searches for a version for each choice; the dates that this needs are asked for in rounds.
fn search(
    sources: &[&FlavorSource<'_>],
    rules: &(dyn Fn(Flavor) -> Rules + Sync),
    choices: &[AgedChoice<'_>],
) -> Vec<SearchEnd> {
    // One moment for all rounds: the last step of a search must decide as those before it did.
    let nows: Vec<SystemTime> = sources
        .iter()
        .map(|source| source.net.clock.now())
        .collect();
    let mut dates = DateAnswers::new();
    // Each round asks about one release of each provider that has no version yet: the next older one
    // matters only if this one is too young.
    loop {
        let (mut questions, mut ends) = (Vec::new(), Vec::new());
        for aged in choices {
            match next_step(aged, &dates, nows[aged.source]) {
                SearchStep::Ask(question) => questions.push(question),
                SearchStep::Ended(end) => ends.push(end),
            }
        }
        if questions.is_empty() {
            return ends;
        }
        dates.append(&mut answers(QUESTIONS, questions, |question| {
            let source = sources[question.source];
            let rules = rules(source.flavor);
            of_release(source, &question.about, &rules, nows[question.source])
        }));
    }
}

fn next_step(aged: &AgedChoice<'_>, answers: &DateAnswers, now: SystemTime) -> SearchStep {
    let choice = aged.choice;
    let Some(policy) = aged.policy else {
        return SearchStep::Ended(Ok((choice.candidates[0].clone(), None)));
    };
    let mut search = AgeSearch {
        policy,
        now,
        passed_over: Vec::new(),
        dates: None,
        not_asked: 0,
    };
    for version in choice.candidates.iter().take(MAX_DATED_RELEASES) {
        // A locked version stays at any age (rules 3.3).
        if choice.query.locked.as_ref() == Some(version) {
            return SearchStep::Ended(Ok((version.clone(), Some(search))));
        }
        let question = Question {
            source: aged.source,
            about: Release {
                provider: choice.query.provider.clone(),
                version: version.clone(),
            },
        };
        let dates = match answers.get(&question) {
            None => return SearchStep::Ask(question),
            // Where evidence cannot be fetched or does not hold, no older release is tried (rules 3.3).
            Some(Err(errors)) => return SearchStep::Ended(Err(errors.clone())),
            Some(Ok(dates)) => dates.clone(),
        };
        match policy.youth(&dates, now) {
            None => {
                search.dates = Some(dates);
                return SearchStep::Ended(Ok((version.clone(), Some(search))));
            }
            Some(youth) => search.passed_over.push(PassedOver {
                version: version.clone(),
                dates,
                youth,
            }),
        }
    }
    search.not_asked = choice.candidates.len().saturating_sub(MAX_DATED_RELEASES);
    SearchStep::Ended(Err(vec![LockError::TooYoung {
        provider: Box::new(choice.query.provider.clone()),
        search: Box::new(search),
    }]))
}

/// Finds every date that somebody states of a release.
pub(super) fn of_release(
    source: &FlavorSource<'_>,
    release: &Release,
    rules: &Rules,
    now: SystemTime,
) -> Result<ReleaseDates, Vec<LockError>> {
    // An error if the evidence cannot be fetched or is not valid: the release may be young.
    let (packages, lists) = find_lists(source.source, release, rules, now)?;
    let mut dates = lists
        .any()
        .map(|list| list.dates.clone())
        .unwrap_or_default();
    let package = packages.metas.first().and_then(|meta| meta.location.url());
    let more = beside_evidence(source.source, source.net, release, &dates, package);
    dates.extend(more);
    Ok(dates)
}

/// Returns every date that somebody states of each release, asked side by side, in their order.
#[must_use]
pub fn all_dates(
    source: &dyn Source,
    net: &Net<'_>,
    releases: &[(Release, &ReleaseList)],
) -> Vec<ReleaseDates> {
    parallel::map(QUESTIONS, releases, |(release, list)| {
        let mut dates = list.dates.clone();
        let package = list.package.as_ref();
        dates.extend(beside_evidence(source, net, release, &dates, package));
        dates
    })
}

/// Asks for the dates of a release beside its evidence: its registry, and the server of one of its packages
/// where nothing states when the checksum list was changed.
fn beside_evidence(
    source: &dyn Source,
    net: &Net<'_>,
    release: &Release,
    by_evidence: &ReleaseDates,
    package: Option<&Url>,
) -> impl Iterator<Item = ReleaseDate> + use<> {
    let list_has_date = by_evidence
        .iter()
        .any(|date| date.source == DateSource::ChecksumList);
    // The package is asked about only where the list is undated (`sources` rules 11.1).
    let changed = package
        .filter(|_| !list_has_date)
        .and_then(|url| package_changed(net, url));
    let published = source.published(&release.provider, &release.version);
    [
        (DateSource::Registry, published),
        (DateSource::Package, changed),
    ]
    .into_iter()
    .filter_map(|(source, time)| {
        Some(ReleaseDate {
            time: time?,
            source,
        })
    })
}
