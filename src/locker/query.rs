//! Asking the sources: a version for every provider, then its packages.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::sync::Arc;

use super::claims::{CountedClaims, StatedPackage, Unanswered, Weight};
use super::listed::{self, KnownPackages};
use super::work::{Question, RootWork, answers, distinct};
use super::{AgeSearch, FlavorSource, LockError, Release, Settings};
use crate::addr::ProviderAddr;
use crate::authenticate;
use crate::package::{PackageId, PackageMeta, WantedSet};
use crate::platform::Platform;
use crate::resolve::{self, Query};
use crate::sources::filesystem_mirror::packed_name;
use crate::sources::{Offer, SourceError};
use crate::store::Facts;
use crate::version::{Constraints, Version};

/// How many questions are under way at once. An answer is mostly a wait for the network, so this
/// has nothing to do with the number of cores; how many go to one host is limited elsewhere.
pub(super) const QUESTIONS: NonZeroUsize = NonZeroUsize::new(32).expect("positive");

/// How many platforms one checksum list is read for; the most that any release has are some thirty.
const MAX_PLATFORMS: usize = 200;

/// A provider with the versions that may be selected.
pub(super) struct Choice {
    pub(super) query: Query,
    // Invariant: at least one, the preferred one first.
    candidates: Vec<Version>,
    newest: Option<Version>,
    warnings: Vec<String>,
}

/// A provider with its version.
pub(super) struct Selected {
    pub(super) provider: ProviderAddr,
    pub(super) version: Version,
    /// All visible conditions on it.
    pub(super) constraints: Constraints,
    /// The version that was in the lock file.
    pub(super) locked: Option<Version>,
    /// The newest release that is offered.
    pub(super) newest: Option<Version>,
    /// The warnings of the source about the provider.
    pub(super) warnings: Vec<String>,
    /// How the version was searched, where a least age is stated.
    pub(super) age: Option<AgeSearch>,
}

/// A selected provider with its packages.
pub(super) struct Offered {
    pub(super) selected: Selected,
    /// The packages for wanted platforms that were asked for, sorted by platform.
    pub(super) metas: Vec<Arc<PackageMeta>>,
    /// The packages for other wanted platforms: the list that came with those names them.
    pub(super) known: KnownPackages,
    /// What is stated of packages, as far as that counts.
    pub(super) claims: CountedClaims,
    /// The packages for wanted platforms whose `h1:` is stated and not computed; the list that came with
    /// the others names them.
    pub(super) stated: BTreeMap<Platform, StatedPackage>,
    /// Every platform that the release is known to offer, sorted.
    pub(super) platforms: Arc<[Platform]>,
    /// Wanted platforms that the release does not offer.
    pub(super) skipped: Vec<Platform>,
    /// Wanted platforms of which nothing is known, because no source was asked.
    pub(super) unknown: Vec<Platform>,
}

impl Choice {
    /// Returns the versions that may be selected, the preferred one first.
    pub(super) fn candidates(&self) -> &[Version] {
        &self.candidates
    }

    /// Decides for a version.
    pub(super) fn select(self, version: Version, age: Option<AgeSearch>) -> Selected {
        Selected {
            version,
            locked: self.query.locked,
            newest: self.newest,
            warnings: self.warnings,
            provider: self.query.provider,
            constraints: self.query.constraints,
            age,
        }
    }
}

impl Selected {
    pub(super) fn release(&self) -> Release {
        Release {
            provider: self.provider.clone(),
            version: self.version.clone(),
        }
    }
}

/// Finds the versions that may be selected for every required provider.
pub(super) fn candidates<'a>(
    sources: &[&FlavorSource<'_>],
    roots: Vec<RootWork<'a, Query>>,
) -> Vec<RootWork<'a, Choice>> {
    let questions = roots.iter().flat_map(|root| {
        // A version that must be taken and is not allowed fails without an answer.
        let open = root.providers.iter();
        let open = open.filter(|query| query.check().is_ok());
        open.map(|query| versions_of(root.source, &query.provider))
    });
    let offers = answers(QUESTIONS, distinct(questions), |one| {
        sources[one.source].source.versions(&one.about)
    });
    let choices = |root: RootWork<'a, Query>| {
        let source = root.source;
        root.advance(|query, errors| {
            let offer = offers.get(&versions_of(source, &query.provider));
            let choice = choice(query, offer);
            choice.map_err(|error| errors.push(error)).ok()
        })
    };
    roots.into_iter().map(choices).collect()
}

pub(super) fn versions_of(source: usize, provider: &ProviderAddr) -> Question<ProviderAddr> {
    Question {
        source,
        about: provider.clone(),
    }
}

fn choice(query: Query, offer: Option<&Result<Offer, SourceError>>) -> Result<Choice, LockError> {
    query.check()?;
    let offer = offer.expect("each query that can be met was asked about");
    let failed = |cause: &SourceError| LockError::of_versions(&query.provider, cause.clone());
    let offer = offer.as_ref().map_err(failed)?;
    let candidates = resolve::candidates(&query, &offer.versions)?;
    Ok(Choice {
        candidates: candidates.into_iter().cloned().collect(),
        newest: Constraints::default()
            .newest(offer.versions.iter())
            .cloned(),
        warnings: offer.warnings.clone(),
        query,
    })
}

/// Whether a release must have a platform.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Need {
    /// It was named.
    Must,
    /// It is part of a preset.
    May,
    /// It is asked for only to find out whether the release has it.
    Probe,
}

/// A selected provider with the platforms that its packages are wanted for.
struct Planned {
    selected: Selected,
    /// Every platform that the release is known to offer, sorted.
    offered: Arc<[Platform]>,
    /// Sorted.
    wanted: Vec<(Platform, Need)>,
    /// Those of the wanted platforms whose packages are known and were not asked for.
    known: KnownPackages,
    /// The first platform that is asked for and that the release is likely to have.
    likely: Option<Platform>,
    /// The only platform that is asked for as long as it is open what is stated of the others.
    first: Option<Platform>,
    /// What is stated of packages, as far as that counts.
    claims: CountedClaims,
    /// Those of the wanted platforms whose packages are stated and need not be looked at.
    stated: BTreeMap<Platform, StatedPackage>,
}

impl Planned {
    /// Returns the wanted platforms whose packages are asked for.
    fn asked(&self) -> impl Iterator<Item = &Platform> {
        let wanted = self.wanted.iter().map(|(platform, _)| platform);
        wanted.filter(|platform| match &self.first {
            Some(first) => first == *platform,
            None => !self.known.contains_key(platform) && !self.stated.contains_key(platform),
        })
    }

    /// Returns which package is the one for a platform.
    fn package(&self, platform: &Platform) -> PackageId {
        PackageId {
            provider: self.selected.provider.clone(),
            version: self.selected.version.clone(),
            platform: platform.clone(),
        }
    }
}

/// Who is asked about a package.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Asked {
    /// The source of the root.
    Source,
    /// Another registry, for what it states.
    Elsewhere,
}

/// Asks for the first packages, and other registries what they state of the same releases.
fn ask_first(
    sources: &[&FlavorSource<'_>],
    settings: &Settings,
    roots: &[RootWork<'_, Planned>],
) -> (Metas, Metas) {
    let mut questions = Vec::new();
    for root in roots {
        for one in &root.providers {
            let weight = Weight::new(root.request, settings, &one.selected.provider);
            let likely = one.likely.iter().map(|platform| one.package(platform));
            let elsewhere = likely.flat_map(|id| {
                let providers = weight.elsewhere();
                providers.map(move |provider| PackageId {
                    provider,
                    ..id.clone()
                })
            });
            let own = one
                .asked()
                .map(|platform| (Asked::Source, one.package(platform)));
            let all = own.chain(elsewhere.map(|id| (Asked::Elsewhere, id)));
            let source = root.source;
            questions.extend(all.map(|(whom, about)| (whom, Question { source, about })));
        }
    }
    let answers = answers(QUESTIONS, distinct(questions), |(whom, question)| {
        let source = sources[question.source];
        let asked = match whom {
            Asked::Source => Some(source.source),
            Asked::Elsewhere => source.registries,
        };
        let asked = asked.expect("other registries are asked only where there are any");
        asked.package(&question.about).map(Arc::new)
    });
    let (mut own, mut elsewhere) = (Metas::new(), Metas::new());
    for ((whom, question), answer) in answers {
        let of = match whom {
            Asked::Source => &mut own,
            Asked::Elsewhere => &mut elsewhere,
        };
        of.insert(question, answer);
    }
    (own, elsewhere)
}

/// Takes what counts of the statements about each package, and finds those that need not be looked at.
fn count_claims(
    root: &mut RootWork<'_, Planned>,
    settings: &Settings,
    metas: &Metas,
    elsewhere: &Metas,
) {
    let (source, request) = (root.source, root.request);
    for one in &mut root.providers {
        let provider = one.selected.provider.clone();
        let weight = Weight::new(request, settings, &provider);
        let platforms: Vec<&Platform> = one.asked().collect();
        let found = platforms.iter();
        let found = found.filter_map(|platform| metas.get(&question(source, one, platform)));
        let found: Vec<Arc<PackageMeta>> = found.flatten().cloned().collect();
        let others = weight.elsewhere().filter_map(|other| {
            let about = PackageId {
                provider: other.clone(),
                ..one.package(one.likely.as_ref()?)
            };
            let answer = elsewhere.get(&Question { source, about })?;
            Some(answer.clone().map_err(|cause| Unanswered {
                host: other.hostname().clone(),
                cause,
            }))
        });
        let others = others.collect();
        one.claims = weight.count(found.iter(), others);
        if weight.may_replace() {
            // What no key may have signed proves nothing.
            let evidence = found.iter().filter_map(|meta| meta.evidence.as_ref());
            let signed = evidence.filter(|evidence| !evidence.keys.is_empty());
            one.stated = one
                .claims
                .replacements(&listed::listed(&one.selected, signed));
        }
        for platform in weight.to_prove(&one.claims) {
            if one.wanted.iter().all(|(known, _)| *known != platform) {
                one.wanted.push((platform, Need::Must));
            }
        }
        one.wanted.sort();
        one.first = None;
    }
}

/// What a source answered about packages.
type Metas = BTreeMap<Question<PackageId>, Result<Arc<PackageMeta>, SourceError>>;

/// Finds the packages of every selection for the wanted platforms.
pub(super) fn packages<'a>(
    sources: &[&FlavorSource<'_>],
    facts: &dyn Facts,
    settings: &Settings,
    roots: Vec<RootWork<'a, Selected>>,
) -> Vec<RootWork<'a, Offered>> {
    let mut roots = plan(sources, facts, settings, roots);
    let (mut metas, elsewhere) = ask_first(sources, settings, &roots);
    for root in &mut roots {
        count_claims(root, settings, &metas, &elsewhere);
        add_unlisted(root, &metas);
        let source = root.source;
        for one in &mut root.providers {
            let asked = one.asked();
            let found = asked.filter_map(|platform| metas.get(&question(source, one, platform)));
            let found: Vec<Arc<PackageMeta>> = found.flatten().cloned().collect();
            listed::retain_listed(&mut one.known, &one.selected, &found);
        }
    }
    ask(sources, &roots, &mut metas);
    let offered = |root: RootWork<'a, Planned>| {
        let source = root.source;
        root.advance(|one, errors| {
            let answer = |platform: &Platform| metas.get(&question(source, &one, platform));
            let (metas, skipped) = sort_out(&one, answer, errors);
            Some(Offered {
                selected: one.selected,
                metas,
                known: one.known,
                claims: one.claims,
                stated: one.stated,
                platforms: one.offered,
                skipped,
                unknown: Vec::new(),
            })
        })
    };
    roots.into_iter().map(offered).collect()
}

fn question(source: usize, one: &Planned, platform: &Platform) -> Question<PackageId> {
    Question {
        source,
        about: one.package(platform),
    }
}

/// Asks for the packages for wanted platforms that were not asked for before.
fn ask(sources: &[&FlavorSource<'_>], roots: &[RootWork<'_, Planned>], metas: &mut Metas) {
    let questions = roots.iter().flat_map(|root| {
        root.providers.iter().flat_map(|one| {
            let platforms = one.asked();
            platforms.map(|platform| question(root.source, one, platform))
        })
    });
    let new = questions.filter(|one| !metas.contains_key(one));
    let mut answered = answers(QUESTIONS, distinct(new), |one| {
        let meta = sources[one.source].source.package(&one.about);
        meta.map(Arc::new)
    });
    metas.append(&mut answered);
}

/// Adds the platforms that a release may have beside those that its registry lists, where all are
/// wanted.
///
/// The programs never read the platforms of a list of versions, so some registries leave them out, or
/// state only some: the document of a package decides whether there is one. Which ones to ask for is
/// read from the checksum list of the release, which names the zips of all platforms; without one the
/// usual platforms are asked for.
fn add_unlisted(root: &mut RootWork<'_, Planned>, metas: &Metas) {
    for one in &mut root.providers {
        if !root.request.platforms.of(&one.selected.provider).all {
            continue;
        }
        let (provider, version) = (&one.selected.provider, &one.selected.version);
        let known = one.wanted.iter();
        let known =
            known.filter_map(|(platform, _)| metas.get(&question(root.source, one, platform)));
        let found: Vec<&PackageMeta> = known.flatten().map(|meta| &**meta).collect();
        let mut platforms = BTreeSet::new();
        for sums in found
            .iter()
            .filter_map(|meta| Some(&meta.evidence.as_ref()?.sums))
        {
            platforms.extend(listed_platforms(sums, provider, version));
        }
        // Some registries have a checksum list for each platform, which names no other.
        if one.offered.is_empty() && platforms.len() < 2 {
            platforms.extend(Platform::released());
        }
        platforms.retain(|platform| one.wanted.iter().all(|(known, _)| known != platform));
        let probes = platforms
            .into_iter()
            .map(|platform| (platform, Need::Probe));
        one.wanted.extend(probes);
        one.wanted.sort();
    }
}

/// Returns the platforms that a checksum list names zips of a release for.
pub(super) fn listed_platforms(
    sums: &[u8],
    provider: &ProviderAddr,
    version: &Version,
) -> impl Iterator<Item = Platform> {
    let names = authenticate::listed_names(sums);
    let zips = names.filter_map(|name| packed_name(name, provider.type_name()));
    let own = zips.filter(move |(of, _)| of == version);
    own.map(|(_, platform)| platform).take(MAX_PLATFORMS)
}

/// Decides which platforms of each selection are asked for.
fn plan<'a>(
    sources: &[&FlavorSource<'_>],
    facts: &dyn Facts,
    settings: &Settings,
    roots: Vec<RootWork<'a, Selected>>,
) -> Vec<RootWork<'a, Planned>> {
    let release_of = |source, selected: &Selected| Question {
        source,
        about: selected.release(),
    };
    let questions = roots.iter().flat_map(|root| {
        let releases = root.providers.iter();
        releases.map(|selected| release_of(root.source, selected))
    });
    // A registry has answered this with the list of versions, a network mirror is asked once more.
    let platforms = answers(QUESTIONS, distinct(questions), |one| {
        let Release { provider, version } = &one.about;
        Arc::from(sources[one.source].source.platforms(provider, version))
    });
    let plan = |root: RootWork<'a, Selected>| {
        let (source, request) = (root.source, root.request);
        let wanted = request.platforms;
        let releases = root.providers.iter();
        let known = releases.map(|selected| listed::known(&root, facts, selected));
        let mut known = known.collect::<Vec<_>>().into_iter();
        root.advance(|selected, _| {
            let offered = Arc::<[Platform]>::clone(&platforms[&release_of(source, &selected)]);
            // Of what nothing visible requires as many platforms are locked as there are.
            let need = if request.requires(&selected.provider) {
                Need::Must
            } else {
                Need::May
            };
            let may_be_stated = Weight::new(request, settings, &selected.provider).may_replace();
            let wanted = choose(wanted.of(&selected.provider), &offered, need);
            let mut known = known.next().expect("one for each provider");
            known.retain(|platform, _| wanted.iter().any(|(one, _)| one == platform));
            // The list comes with the document of a package, so one must be asked for that is there.
            let is_likely = |platform| offered.is_empty() || offered.contains(platform);
            let mut asked = wanted.iter().map(|(platform, _)| platform);
            if !asked.any(|one| !known.contains_key(one) && is_likely(one)) {
                known.pop_first();
            }
            let mut asked = wanted.iter().map(|(platform, _)| platform);
            let likely = asked.find(|one| !known.contains_key(one) && is_likely(one));
            let likely = likely.cloned();
            Some(Planned {
                wanted,
                offered,
                selected,
                known,
                first: likely.clone().filter(|_| may_be_stated),
                likely,
                claims: CountedClaims::default(),
                stated: BTreeMap::new(),
            })
        })
    };
    roots.into_iter().map(plan).collect()
}

/// Returns the packages that a release has, and the platforms that it may lack and does.
fn sort_out<'m>(
    one: &Planned,
    answer: impl Fn(&Platform) -> Option<&'m Result<Arc<PackageMeta>, SourceError>>,
    errors: &mut Vec<LockError>,
) -> (Vec<Arc<PackageMeta>>, Vec<Platform>) {
    let (mut metas, mut skipped) = (Vec::new(), Vec::new());
    let mut failed = false;
    for (platform, need) in &one.wanted {
        if one.known.contains_key(platform) {
            continue;
        }
        let Some(answer) = answer(platform) else {
            // What is stated of it is enough.
            continue;
        };
        match answer {
            Ok(meta) => metas.push(Arc::clone(meta)),
            Err(error) if *need == Need::May && error.lacks_platform() => {
                skipped.push(platform.clone());
            }
            Err(error) if *need == Need::Probe && error.lacks_platform() => {}
            Err(error) => {
                failed = true;
                let id = one.package(platform);
                errors.push(LockError::of_package(&id, error.clone()));
            }
        }
    }
    if metas.is_empty() && one.known.is_empty() && !failed {
        errors.push(LockError::NoPlatform {
            provider: Box::new(one.selected.provider.clone()),
            version: one.selected.version.clone(),
            announced: skipped.iter().any(|p| one.offered.contains(p)),
            offered: one.offered.to_vec(),
        });
    }
    (metas, skipped)
}

/// Decides which platforms of a release are asked for, sorted; `named` is how much those are needed
/// that are wanted by name.
fn choose(wanted: &WantedSet, offered: &[Platform], named: Need) -> Vec<(Platform, Need)> {
    let all: &[Platform] = if wanted.all { offered } else { &[] };
    let unlisted = if wanted.all && offered.is_empty() {
        Platform::common()
    } else {
        Vec::new()
    };
    let need = |platform: &Platform| {
        if wanted.named.contains(platform) {
            named
        } else if unlisted.contains(platform) && !wanted.preset.contains(platform) {
            Need::Probe
        } else {
            Need::May
        }
    };
    let mut platforms: Vec<&Platform> = wanted
        .named
        .iter()
        .chain(&wanted.preset)
        .chain(all)
        .chain(&unlisted)
        .collect();
    platforms.sort();
    platforms.dedup();
    let platforms = platforms.into_iter();
    platforms.map(|p| (p.clone(), need(p))).collect()
}
