//! When releases were published, and the search for one that is old enough (rules 3.3).

use std::collections::BTreeMap;
use std::time::SystemTime;

use super::prove::{check, unite};
use super::query::{Choice, QUESTIONS, Selected};
use super::release::packages;
use super::work::{Question, RootWork, answers, distinct};
use super::{FlavorSource, LockError, Release, ReleaseList, Settings};
use crate::addr::Url;
use crate::authenticate::Rules;
use crate::package::{AgePolicy, DateSource, ReleaseDate, ReleaseDates, Youth};
use crate::parallel;
use crate::sources::Source;
use crate::sources::dates::package_changed;
use crate::sources::net::Net;
use crate::version::Version;

/// How many releases of a provider are asked about until the search is given up. A provider with more
/// that are too young is released daily, and a team that waits for weeks should state a constraint.
pub const MAX_DATED_RELEASES: usize = 30;

/// What a search for a release that is old enough came to.
#[derive(Clone, Debug, PartialEq)]
pub struct AgeSearch {
    /// How old it must be.
    pub policy: AgePolicy,
    /// When it was searched.
    pub now: SystemTime,
    /// The releases that are too young, the greatest version first.
    pub passed_over: Vec<PassedOver>,
    /// What is known of the date of the selected release; `None` if there is none, or if it was locked
    /// before, and so was not asked about.
    pub dates: Option<ReleaseDates>,
    /// How many versions were not asked about when the search was given up.
    pub not_asked: usize,
}

/// A release that is too young.
#[derive(Clone, Debug, PartialEq)]
pub struct PassedOver {
    /// Its version.
    pub version: Version,
    /// What is known of its date.
    pub dates: ReleaseDates,
    /// Why it is too young.
    pub youth: Youth,
}

/// What is known of the dates of releases.
type KnownDates = BTreeMap<Question<Release>, Result<ReleaseDates, Vec<LockError>>>;

/// How far a search has come.
enum Step {
    /// This release must be asked about.
    Ask(Question<Release>),
    /// This version is the one.
    Found(Version, Option<AgeSearch>),
    /// There is none: no version is old enough, or one could not be asked about.
    Failed(Vec<LockError>),
}

/// Selects a version for every provider: the greatest that may be selected and is old enough.
///
/// A version that is locked already stays, whatever its age, so that no search leads below it. Where no
/// least age is stated nothing is asked.
pub(super) fn select<'a>(
    sources: &[&FlavorSource<'_>],
    settings: &Settings,
    roots: Vec<RootWork<'a, Choice>>,
) -> Vec<RootWork<'a, Selected>> {
    let nows: Vec<SystemTime> = sources.iter().map(|one| one.net.clock.now()).collect();
    let mut known = KnownDates::new();
    // Each round asks about one release of each provider for which none has been found.
    loop {
        let mut questions = Vec::new();
        for root in &roots {
            let steps = root.providers.iter();
            let steps = steps.map(|choice| step(root, choice, &known, nows[root.source]));
            questions.extend(steps.filter_map(|step| match step {
                Step::Ask(question) => Some(question),
                Step::Found(..) | Step::Failed(_) => None,
            }));
        }
        let questions = distinct(questions);
        if questions.is_empty() {
            break;
        }
        let mut answered = answers(QUESTIONS, questions, |one| {
            let source = sources[one.source];
            let rules = settings.rules(source.flavor);
            of_release(source, &one.about, &rules, nows[one.source])
        });
        known.append(&mut answered);
    }
    let select = |root: RootWork<'a, Choice>| {
        let steps = root.providers.iter();
        let steps: Vec<Step> = steps
            .map(|choice| step(&root, choice, &known, nows[root.source]))
            .collect();
        let mut steps = steps.into_iter();
        root.advance(|choice, errors| {
            match steps.next().expect("one for each provider") {
                Step::Found(version, age) => return Some(choice.select(version, age)),
                Step::Failed(several) => errors.extend(several),
                Step::Ask(_) => unreachable!("nothing is left to be asked"),
            }
            None
        })
    };
    roots.into_iter().map(select).collect()
}

/// Looks for a version with what is known so far.
fn step(root: &RootWork<'_, Choice>, choice: &Choice, known: &KnownDates, now: SystemTime) -> Step {
    let candidates = choice.candidates();
    let Some(policy) = root.request.age else {
        return Step::Found(candidates[0].clone(), None);
    };
    let mut search = AgeSearch {
        policy,
        now,
        passed_over: Vec::new(),
        dates: None,
        not_asked: 0,
    };
    for version in candidates.iter().take(MAX_DATED_RELEASES) {
        if choice.query.locked.as_ref() == Some(version) {
            return Step::Found(version.clone(), Some(search));
        }
        let question = Question {
            source: root.source,
            about: Release {
                provider: choice.query.provider.clone(),
                version: version.clone(),
            },
        };
        let dates = match known.get(&question) {
            None => return Step::Ask(question),
            Some(Err(errors)) => return Step::Failed(errors.clone()),
            Some(Ok(dates)) => dates.clone(),
        };
        match policy.youth(&dates, now) {
            None => {
                search.dates = Some(dates);
                return Step::Found(version.clone(), Some(search));
            }
            Some(youth) => search.passed_over.push(PassedOver {
                version: version.clone(),
                dates,
                youth,
            }),
        }
    }
    search.not_asked = candidates.len().saturating_sub(MAX_DATED_RELEASES);
    Step::Failed(vec![LockError::TooYoung {
        provider: Box::new(choice.query.provider.clone()),
        search: Box::new(search),
    }])
}

/// Finds out everything that is stated about the date of a release.
///
/// Where evidence cannot be fetched or does not hold there is no answer: the release may be young.
pub(super) fn of_release(
    source: &FlavorSource<'_>,
    release: &Release,
    rules: &Rules,
    now: SystemTime,
) -> Result<ReleaseDates, Vec<LockError>> {
    let found = packages(source.source, release).map_err(|error| vec![error])?;
    let attestations = check(rules, found.metas.iter().map(|meta| &**meta), now);
    let mut errors = Vec::new();
    let lists = unite(&found, &attestations, &mut errors);
    if !errors.is_empty() {
        return Err(errors);
    }
    let mut dates = match (&lists.proof, &lists.unsigned) {
        (Some(proof), _) => proof.dates.clone(),
        (None, Some(list)) => list.dates.clone(),
        (None, None) => ReleaseDates::default(),
    };
    let package = found.metas.first().and_then(|meta| meta.location.url());
    let more = beside_evidence(source.source, source.net, release, &dates, package);
    dates.extend(more);
    Ok(dates)
}

/// Returns everything that is stated about the date of each release, side by side, in their order.
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

/// Asks for what is stated about the date of a release beside its evidence: by its registry, and by the
/// server of one of its packages where nothing says when its checksum list was changed.
fn beside_evidence(
    source: &dyn Source,
    net: &Net<'_>,
    release: &Release,
    known: &ReleaseDates,
    package: Option<&Url>,
) -> impl Iterator<Item = ReleaseDate> + use<> {
    let listed = known
        .iter()
        .any(|date| date.source == DateSource::ChecksumList);
    let package = package.filter(|_| !listed);
    let package = package.and_then(|url| package_changed(net, url));
    let published = source.published(&release.provider, &release.version);
    let dates = [
        (DateSource::Registry, published),
        (DateSource::Package, package),
    ];
    dates.into_iter().filter_map(|(source, time)| {
        Some(ReleaseDate {
            time: time?,
            source,
        })
    })
}
