//! `lockctl show`: what is locked.

mod args;
mod build;
mod text;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::cli::args::Common;
use crate::cli::{Command, Look, Stderr, World};
use crate::coverage::{Attribution, Attributions};
use crate::diag::Texts;
use crate::guide::advice;
use crate::guide::advice::required::Required;
use crate::hash::Scheme;
use crate::locker::ReleaseList;
use crate::packages::{self, PackageMemo, PackagePlace, PackageSearch};
use crate::parallel;
use crate::platform::Platform;
use crate::report::json::{BesidePackages, Provider, ShownHash, ShownProvider, StatedDate};
use crate::report::{CommandResult, Failure, RootResult, TextBlock};
use crate::requirement::{Requirements, StateSeen};
use crate::run;
use crate::run::commands;
use crate::run::facts::UserFacts;
use crate::run::progress::Progress;
use crate::run::root::{self, LockText, Root};
use crate::run::user::config::UserConfigs;
use crate::sources::net::Event;
use crate::upstream::{CheckError, Registries};
use crate::verify::{CheckedLock, KnownHashes};
use crate::world::Replaced;
pub(in crate::front::cli) use args::ShowArgs;
use build::ShownBuilds;

impl Command for ShowArgs {
    fn run(&self, common: &Common, world: World<'_>, stderr: &mut Stderr<'_>) -> CommandResult {
        run(common, self, world, stderr)
    }

    fn check(&self, common: &Common) -> Result<(), String> {
        common.check_offline("--upstream", self.upstream)?;
        common.check_offline("--contents", self.contents)
    }

    fn root_text(&self, root: &RootResult, look: Look) -> Vec<TextBlock> {
        text::of_root(root, look)
    }

    fn folded(&self, result: &CommandResult, look: Look) -> Option<Vec<TextBlock>> {
        Some(text::folded(result.roots(), look))
    }
}

fn run(
    common: &Common,
    args: &ShowArgs,
    world: World<'_>,
    stderr: &mut Stderr<'_>,
) -> CommandResult {
    let progress = (args.upstream || args.contents)
        .then(|| Progress::new(common.progress(world.env), world.env, stderr));
    let observer = |event: &Event<'_>| {
        if let Some(progress) = &progress {
            progress.observe(event);
        }
    };
    let (options, choice) = (&common.options(), &args.roots.choice());
    let user = Arc::new(UserConfigs::new(options, world, &observer));
    let mut registries = BTreeMap::new();
    let facts = UserFacts::new(options, world);
    let mut builds = ShownBuilds::new(args, &user, &facts);
    let all = run::each(options, choice, world, |root, texts, result| {
        let Some(lock) = &root.readable_lock_of(choice, result)? else {
            return Ok(Replaced::Done);
        };
        let attributions = facts.about(root, &lock.document.lock);
        let known = known_hashes(root, lock, &attributions, world)?;
        let mut shown = providers(root, lock, &known, &attributions);
        if args.upstream {
            let user = user.of(root.flavor);
            result.faults(&user.errors_once(texts));
            // With errors in the CLI configuration the URLs of registries are unknown: none is asked.
            let registries = user.is_sound().then(|| {
                registries
                    .entry(root.flavor)
                    .or_insert_with(|| user.registries())
            });
            let errors = add_dates(&mut shown, registries, root.subject(lock, None));
            let required = required(root, texts);
            for failure in advice::verify::failures(&errors, root.flavor, &required) {
                result.fail(failure);
            }
        }
        if args.build {
            builds.add(&mut shown, (root, lock), texts, result)?;
        }
        result.providers = shown.into_iter().map(Provider::Shown).collect();
        Ok(Replaced::Done)
    });
    if let Some(progress) = &progress {
        progress.finish();
    }
    let mut result = all.into_result("show");
    result.remarks.extend(facts.remarks());
    if args.build {
        let unread = build::unread(
            result.roots(),
            args.contents,
            &commands::roots(options, choice),
        );
        result.remarks.extend(unread);
    }
    result
}

/// Returns the context of advice: no configuration is read.
fn required<'a>(root: &'a Root, texts: &'a Texts) -> Required<'a> {
    const NOTHING: &Requirements = &Requirements {
        providers: BTreeMap::new(),
        unseen_calls: Vec::new(),
        state: StateSeen::No,
        faulty: false,
    };
    Required {
        requirements: NOTHING,
        project: root.project(),
        texts,
        commands: root.advice.clone(),
        has_lock: true,
        locked: None,
        platforms_from: None,
    }
}

/// Adds when each locked release was published, and returns what could not be found out.
fn add_dates(
    shown: &mut [ShownProvider],
    registries: Option<&mut Registries<'_>>,
    subject: CheckedLock<'_>,
) -> Vec<CheckError> {
    let Some(registries) = registries else {
        return vec![CheckError::NotAsked];
    };
    let (answers, errors) = registries.ask(subject);
    let dates = registries.dates(subject, &answers);
    let now = registries.now();
    for provider in shown {
        let dates = dates.get(&provider.provider).cloned().unwrap_or_default();
        provider.dates = Some(StatedDate::all(&dates));
        provider.latest_date = dates.latest().map(|date| date.seen_at(now));
        provider.dates_in_words = dates.iter().map(|date| date.seen_at(now)).collect();
        let answer = answers.get(&provider.provider);
        if let Some(list) = answer.and_then(|answer| answer.list.as_ref()) {
            label(&mut provider.hashes, list);
        }
    }
    errors.into_iter().map(CheckError::Release).collect()
}

/// Adds to each `zh:` what it belongs to by the signed list.
fn label(hashes: &mut [ShownHash], list: &ReleaseList) {
    for shown in hashes {
        if shown.hash.scheme() != Scheme::Zh {
            continue;
        }
        let zips = list.zips.iter().filter(|(_, zh)| *zh == shown.hash);
        for platform in zips.map(|(platform, _)| platform.to_string()) {
            if !shown.platforms.contains(&platform) {
                shown.platforms.push(platform);
            }
        }
        if shown.platforms.is_empty() {
            shown.beside = Some(if list.hashes.contains(&shown.hash) {
                BesidePackages::Manifest
            } else {
                BesidePackages::NotListed
            });
        }
    }
}

/// Lists what is locked, each hash with the platforms that are known to have it.
fn providers(
    root: &Root,
    lock: &LockText,
    known: &KnownHashes,
    attributions: &Attributions,
) -> Vec<ShownProvider> {
    let shown = lock
        .document
        .lock
        .providers
        .iter()
        .map(|(provider, entry)| {
            let known = known.get(provider);
            let facts = attributions.get(provider);
            let hashes = entry.hashes.iter().map(|hash| {
                // An installed package and a fact about a zip each show the hash of a platform that the other may
                // not know (`coverage` rules 1.2, 1.3).
                let own = known
                    .into_iter()
                    .flatten()
                    .filter(|(_, installed_h1)| *installed_h1 == hash)
                    .map(|(platform, _)| platform.clone());
                let stated = facts.into_iter().flat_map(|facts| facts.platforms_of(hash));
                let platforms: BTreeSet<Platform> = own.chain(stated).collect();
                ShownHash {
                    hash: hash.clone(),
                    platforms: platforms.iter().map(ToString::to_string).collect(),
                    beside: None,
                }
            });
            let own = known.into_iter().flatten().map(|(own, _)| own.clone());
            let stated = facts.into_iter().flat_map(Attribution::covered);
            let platforms: BTreeSet<Platform> = own.chain(stated).collect();
            let mut faulty = root.document().faulty.iter();
            let fault = faulty.find(|faulty| faulty.addr == *provider);
            ShownProvider {
                provider: provider.clone(),
                version: entry.version.clone(),
                h1_count: entry.hashes.of(Scheme::H1).count(),
                zh_count: entry.hashes.of(Scheme::Zh).count(),
                fault: fault.map(|faulty| faulty.title.clone()),
                constraints: entry.constraints.clone(),
                hashes: hashes.collect(),
                platforms: (!platforms.is_empty()).then(|| platforms.into_iter().collect()),
                dates: None,
                latest_date: None,
                dates_in_words: Vec::new(),
                build: None,
            }
        });
    shown.collect()
}

/// Returns the platforms of hashes that the installed packages show; a package that facts contradict does not
/// count.
fn known_hashes(
    root: &Root,
    lock: &LockText,
    facts: &Attributions,
    world: World<'_>,
) -> Result<KnownHashes, Failure> {
    let search = PackageSearch {
        places: &[PackagePlace::installed(root.providers_dir(world.env))],
        singles: &[],
        facts,
        wanted: None,
        sources: &|_| Vec::new(),
        cache_may_break: false,
    };
    let mut memo = PackageMemo::new(world.disk, parallel::cores());
    let checked = packages::check(&mut memo, root.subject(lock, None), search);
    match checked.failures.first() {
        None => Ok(checked.known),
        Some(unscanned) => Err(root::unreadable_packages(unscanned)),
    }
}
