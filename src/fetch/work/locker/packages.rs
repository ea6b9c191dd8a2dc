//! The packages of every selected version: their platforms and their documents.
//!
//! Sources are asked in two rounds. The first one asks for one package where statements may replace a
//! download, because the list that comes with it decides about the others; the second one asks for the rest.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::claims::{ClaimTrust, ClaimedZip, CountedClaims};
use super::listed::{self, listed_platforms};
use super::lists::ReleaseLists;
use super::stages::{KnownPackages, ReleasePlatforms, ReleaseWork, Selected};
use super::work::{QUESTIONS, Question, RootWork, answers};
use super::{FlavorSource, LockError, LockSettings, Release, RootRequest};
use crate::package::{PackageId, PackageMeta, WantedSet};
use crate::platform::Platform;
use crate::sources::SourceError;
use crate::store::Facts;

/// The reason why a platform is asked for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum PlatformNeed {
    /// The user named the platform, so the release must have it.
    Named,
    /// The platform is part of a preset, so the release may lack it.
    Preset,
    /// The registry does not list the platform, but the release may have it.
    Probe,
}

/// A selected provider with the platforms that its packages are wanted for.
struct Planned {
    selected: Selected,
    /// Every platform that the release is known to offer, sorted.
    offered: Arc<[Platform]>,
    /// The platforms that are asked for, sorted.
    wanted: Vec<(Platform, PlatformNeed)>,
    /// Those of the wanted platforms whose packages are known and were not asked for.
    known: KnownPackages,
    /// The first platform that is asked for and that the release is likely to have.
    likely: Option<Platform>,
    /// The only platform that the first round asks for, where statements may replace the other packages.
    first: Option<Platform>,
    /// The statements about packages that count.
    claims: CountedClaims,
    /// Those of the wanted platforms whose `h1:` is claimed, so that their packages need not be hashed.
    claimed: BTreeMap<Platform, ClaimedZip>,
}

/// A question for the document of a package.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct PackageQuestion {
    respondent: Respondent,
    package: Question<PackageId>,
}

/// The side that is asked about a package.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Respondent {
    /// The source of the root.
    Source,
    /// Another registry, for the statements that it makes.
    OtherRegistry,
}

type PackageAnswers = BTreeMap<PackageQuestion, Result<Arc<PackageMeta>, SourceError>>;

/// Finds the packages of every selection for the wanted platforms.
pub(super) fn find<'a>(
    sources: &[&FlavorSource<'_>],
    facts: &dyn Facts,
    settings: &LockSettings,
    roots: Vec<RootWork<'a, Selected>>,
) -> Vec<RootWork<'a, ReleaseWork>> {
    let releases: BTreeSet<_> = roots
        .iter()
        .flat_map(|root| &root.providers)
        .map(|selected| (selected.provider.clone(), selected.version.clone()))
        .collect();
    // The objects of a shared store, side by side.
    facts.read_ahead(&releases.into_iter().collect::<Vec<_>>());
    let mut roots = plan(sources, facts, settings, roots);
    let mut answers = PackageAnswers::new();
    let mut questions = Vec::new();
    for root in &roots {
        for planned in &root.providers {
            questions.extend(planned.questions(root.source));
            let trust = ClaimTrust::new(root.request, settings, &planned.selected.provider);
            questions.extend(planned.questions_elsewhere(root.source, trust));
        }
    }
    ask(sources, questions, &mut answers);
    let mut questions = Vec::new();
    for root in &mut roots {
        let (source, request) = (root.source, root.request);
        for planned in &mut root.providers {
            planned.take_first_answers(source, request, settings, &answers);
            let metas = planned.metas(source, &answers);
            listed::retain_listed(&mut planned.known, &planned.selected, &metas);
            questions.extend(planned.questions(source));
        }
    }
    ask(sources, questions, &mut answers);
    roots
        .into_iter()
        .map(|root| {
            let source = root.source;
            root.advance(|planned, errors| Some(planned.into_offered(source, &answers, errors)))
        })
        .collect()
}

/// Asks those of the questions that have no answer yet.
fn ask(
    sources: &[&FlavorSource<'_>],
    mut questions: Vec<PackageQuestion>,
    known: &mut PackageAnswers,
) {
    questions.retain(|question| !known.contains_key(question));
    known.append(&mut answers(QUESTIONS, questions, |question| {
        let source = sources[question.package.source];
        let respondent = match question.respondent {
            Respondent::Source => source.source,
            Respondent::OtherRegistry => source
                .registries
                .expect("other registries are asked only where there are any"),
        };
        respondent.package(&question.package.about).map(Arc::new)
    }));
}

/// Decides which platforms of each selection are asked for.
fn plan<'a>(
    sources: &[&FlavorSource<'_>],
    facts: &dyn Facts,
    settings: &LockSettings,
    roots: Vec<RootWork<'a, Selected>>,
) -> Vec<RootWork<'a, Planned>> {
    let mut questions = Vec::new();
    for root in &roots {
        for selected in &root.providers {
            questions.push(Question {
                source: root.source,
                about: selected.release(),
            });
        }
    }
    // A registry has answered this with the list of versions, a network mirror is asked once more.
    let platforms: BTreeMap<Question<Release>, Arc<[Platform]>> =
        answers(QUESTIONS, questions, |question| {
            let Release { provider, version } = &question.about;
            let source = sources[question.source].source;
            Arc::from(source.platforms(provider, version))
        });
    let mut planned_roots = Vec::new();
    for root in roots {
        let (source, request) = (root.source, root.request);
        let known: Vec<KnownPackages> = root
            .providers
            .iter()
            .map(|selected| listed::known_packages(&root, facts, selected))
            .collect();
        let mut known = known.into_iter();
        planned_roots.push(root.advance(|selected, _| {
            let about = selected.release();
            let offered = Arc::clone(&platforms[&Question { source, about }]);
            let known = known.next().expect("an item for each provider");
            Some(Planned::new(selected, offered, known, request, settings))
        }));
    }
    planned_roots
}

impl Planned {
    fn new(
        selected: Selected,
        offered: Arc<[Platform]>,
        mut known: KnownPackages,
        request: &RootRequest<'_>,
        settings: &LockSettings,
    ) -> Self {
        // Of a provider that nothing visible requires as many platforms are locked as there are: an entry that
        // the source does not have stays as it is (rules 2.6).
        let need_of_named = if request.requires(&selected.provider) {
            PlatformNeed::Named
        } else {
            PlatformNeed::Preset
        };
        let wanted = choose(
            request.platforms.of(&selected.provider),
            &offered,
            need_of_named,
        );
        known.retain(|platform, _| wanted.iter().any(|(other, _)| other == platform));
        let first_likely = |known: &KnownPackages| {
            wanted
                .iter()
                .map(|(platform, _)| platform)
                .find(|platform| {
                    let is_offered = offered.is_empty() || offered.contains(platform);
                    is_offered && !known.contains_key(platform)
                })
                .cloned()
        };
        // The list comes with the document of a package, so one must be asked for that is there, even if
        // facts say what every package holds.
        if first_likely(&known).is_none() {
            known.pop_first();
        }
        let likely = first_likely(&known);
        let may_be_claimed = ClaimTrust::new(request, settings, &selected.provider).may_replace();
        Self {
            wanted,
            offered,
            selected,
            known,
            first: likely.clone().filter(|_| may_be_claimed),
            likely,
            claims: CountedClaims::default(),
            claimed: BTreeMap::new(),
        }
    }

    fn question(&self, source: usize, platform: &Platform) -> PackageQuestion {
        PackageQuestion {
            respondent: Respondent::Source,
            package: Question {
                source,
                about: self.selected.package(platform),
            },
        }
    }

    /// Returns the questions about the wanted platforms whose packages are asked for in this round.
    fn questions(&self, source: usize) -> impl Iterator<Item = PackageQuestion> {
        self.wanted
            .iter()
            .map(|(platform, _)| platform)
            .filter(|platform| match &self.first {
                Some(first) => first == *platform,
                None => !self.known.contains_key(platform) && !self.claimed.contains_key(platform),
            })
            .map(move |platform| self.question(source, platform))
    }

    /// Returns the questions to other registries, which are asked for one package each: its document holds
    /// their statements about all packages of the release.
    fn questions_elsewhere(&self, source: usize, trust: ClaimTrust<'_>) -> Vec<PackageQuestion> {
        let Some(likely) = &self.likely else {
            return Vec::new();
        };
        trust
            .elsewhere()
            .map(|provider| PackageQuestion {
                respondent: Respondent::OtherRegistry,
                package: Question {
                    source,
                    about: PackageId {
                        provider,
                        ..self.selected.package(likely)
                    },
                },
            })
            .collect()
    }

    /// Returns the packages that were asked for and that the source has.
    fn metas(&self, source: usize, answers: &PackageAnswers) -> Vec<Arc<PackageMeta>> {
        self.questions(source)
            .filter_map(|question| answers.get(&question)?.as_ref().ok())
            .cloned()
            .collect()
    }

    /// Takes the statements that count, and finds the packages whose download they replace. Where all platforms are
    /// wanted, adds those that the release may have beside those that its registry lists.
    fn take_first_answers(
        &mut self,
        source: usize,
        request: &RootRequest<'_>,
        settings: &LockSettings,
        answers: &PackageAnswers,
    ) {
        let provider = self.selected.provider.clone();
        let trust = ClaimTrust::new(request, settings, &provider);
        let metas = self.metas(source, answers);
        let elsewhere = self
            .questions_elsewhere(source, trust)
            .into_iter()
            // Without an answer of the other registry the packages are downloaded.
            .filter_map(|question| answers.get(&question)?.as_ref().ok().cloned())
            .collect();
        self.claims = trust.count(&metas, elsewhere);
        if trust.may_replace() {
            // A list without a key proves nothing, so no statement about it replaces a download.
            let signed = metas
                .iter()
                .filter_map(|meta| meta.evidence.as_ref())
                .filter(|evidence| !evidence.keys.is_empty());
            let zips = listed::listed_zips(&self.selected.release(), signed);
            self.claimed = self.claims.replacements(&zips);
        }
        for platform in trust.to_prove(&self.claims) {
            self.want(platform, PlatformNeed::Named);
        }
        if request.platforms.of(&provider).all {
            let version = &self.selected.version;
            // The programs never read the platforms of a list of versions, so some registries leave them out, or
            // state only some. The checksum list of the release names the zips of all platforms; without one the
            // usual platforms are requested.
            let mut platforms = BTreeSet::new();
            for (platform, _) in &self.wanted {
                if let Some(Ok(meta)) = answers.get(&self.question(source, platform))
                    && let Some(evidence) = &meta.evidence
                {
                    platforms.extend(listed_platforms(&evidence.sums, &provider, version));
                }
            }
            // Some registries have a checksum list for each platform, which names no other.
            if self.offered.is_empty() && platforms.len() < 2 {
                platforms.extend(Platform::released());
            }
            for platform in platforms {
                self.want(platform, PlatformNeed::Probe);
            }
        }
        self.wanted.sort();
        // From here on, every platform is requested that has neither a fact nor a claim.
        self.first = None;
    }

    fn want(&mut self, platform: Platform, need: PlatformNeed) {
        if self.wanted.iter().all(|(other, _)| *other != platform) {
            self.wanted.push((platform, need));
        }
    }

    /// Sorts the answers into the packages that the release has and the platforms that it may lack and
    /// does.
    fn into_offered(
        self,
        source: usize,
        answers: &PackageAnswers,
        errors: &mut Vec<LockError>,
    ) -> ReleaseWork {
        let (mut metas, mut skipped) = (Vec::new(), Vec::new());
        let (mut failed, mut lacked_by_mirror) = (false, false);
        for (platform, need) in &self.wanted {
            if self.known.contains_key(platform) {
                continue;
            }
            // Without an answer, the statements about the package are enough.
            match answers.get(&self.question(source, platform)) {
                None => {}
                Some(Ok(meta)) => metas.push(Arc::clone(meta)),
                // Only a platform that the user names is an error if the release lacks it (rules 1.1).
                Some(Err(error)) if error.lacks_platform() && *need == PlatformNeed::Preset => {
                    lacked_by_mirror |= !error.is_of_registry();
                    skipped.push(platform.clone());
                }
                Some(Err(error)) if error.lacks_platform() && *need != PlatformNeed::Named => {}
                Some(Err(error)) => {
                    failed = true;
                    errors.push(error.clone().into());
                }
            }
        }
        // An entry without a hash would make the next `init` trust any package (`hash` rules 3.1).
        if metas.is_empty() && self.known.is_empty() && !failed {
            errors.push(LockError::NoPlatform {
                provider: Box::new(self.selected.provider.clone()),
                version: self.selected.version.clone(),
                announced: skipped.iter().any(|p| self.offered.contains(p)),
                offered: self.offered.to_vec(),
            });
        }
        ReleaseWork {
            selected: self.selected,
            platforms: ReleasePlatforms {
                offered: self.offered,
                skipped,
                lacked_by_mirror,
                unknown: Vec::new(),
            },
            metas,
            known: self.known,
            claims: self.claims,
            claimed: self.claimed,
            lists: ReleaseLists::default(),
            packages: Vec::new(),
        }
    }
}

/// Decides which platforms of a release are asked for, sorted; `need_of_named` is the need of those that are
/// wanted by name.
fn choose(
    wanted: &WantedSet,
    offered: &[Platform],
    need_of_named: PlatformNeed,
) -> Vec<(Platform, PlatformNeed)> {
    let all: &[Platform] = if wanted.all { offered } else { &[] };
    // Some sources do not list platforms. Then the common ones are tried.
    let unlisted = if wanted.all && offered.is_empty() {
        Platform::common()
    } else {
        Vec::new()
    };
    let platforms: BTreeSet<&Platform> = wanted
        .named
        .iter()
        .chain(&wanted.preset)
        .chain(all)
        .chain(&unlisted)
        .collect();
    platforms
        .into_iter()
        .map(|platform| {
            let need = if wanted.named.contains(platform) {
                need_of_named
            } else if unlisted.contains(platform) && !wanted.preset.contains(platform) {
                PlatformNeed::Probe
            } else {
                PlatformNeed::Preset
            };
            (platform.clone(), need)
        })
        .collect()
}
