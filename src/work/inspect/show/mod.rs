//! `lockctl show`: what is locked.

mod build;
mod text;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::rc::Rc;

use build::ShownBuilds;
use clap::Args;

use crate::advice;
use crate::advice::required::Required;
use crate::coverage::{Attribution, Attributions};
use crate::hash::Scheme;
use crate::packages::{PackageMemo, PackagePlace};
use crate::platform::Platform;
use crate::report::json::{BesidePackages, Provider, ShownHash, ShownProvider, StatedDate};
use crate::report::{CommandResult, Look, TextBlock};
use crate::run::command::Command;
use crate::run::commands;
use crate::run::options::{Options, RootArgs, examples};
use crate::run::root::{LockText, Root};
use crate::run::session::Session;
use crate::upstream::{CheckError, Registries};
use crate::verify::{CheckedLock, KnownHashes};
use crate::world::Replaced;
use crate::{driver, parallel};

/// Show what is locked
#[derive(Clone, Debug, Args)]
#[command(before_help = examples(&[
    ("lockctl show", "versions, constraints and platforms"),
    ("lockctl show --upstream", "also when each release was published"),
    ("lockctl show --build", "what the programs were built from, if known"),
    ("lockctl show -v live/prod", "every hash, with its platform where that is known"),
]))]
pub(crate) struct ShowArgs {
    #[command(flatten)]
    pub(crate) roots: RootArgs,
    /// Also show when each locked release was published
    ///
    /// Fetches the signed list of each release, and no package. The dates are those of its signature,
    /// of the registry, and of the server of the list.
    #[arg(long)]
    pub(crate) upstream: bool,
    /// Show what the programs were built from: Go, modules, commit
    ///
    /// Uses the stored build information of earlier downloads, and reads packages that are installed,
    /// cached or in a mirror; see `lockctl explain contents`.
    #[arg(long, conflicts_with = "upstream")]
    pub(crate) build: bool,
    /// Also download packages whose contents are not known
    #[arg(long, requires = "build")]
    pub(crate) contents: bool,
    /// Also read the packages in this filesystem mirror (may be repeated)
    #[arg(long = "fs-mirror", value_name = "DIR", requires = "build")]
    pub(crate) fs_mirrors: Vec<PathBuf>,
}

impl Command for ShowArgs {
    fn run(&self, session: &Rc<Session<'_>>) -> CommandResult {
        run(session, self)
    }

    fn check(&self, options: &Options) -> Result<(), String> {
        options.check_offline("--upstream", self.upstream)?;
        options.check_offline("--contents", self.contents)
    }

    fn text(&self, result: &CommandResult, look: Look) -> Vec<TextBlock> {
        text::of_all(result.roots(), look)
    }
}

fn run(session: &Rc<Session<'_>>, args: &ShowArgs) -> CommandResult {
    let (facts, roots, world) = (&session.facts, &args.roots, session.world);
    let mut memo = PackageMemo::new(world.disk, parallel::cores());
    let mut registries = BTreeMap::new();
    let mut builds = ShownBuilds::new(args, session);
    let all = driver::each(session, roots, |root, texts, result| {
        let Some(lock) = &root.readable_lock_of(roots, result)? else {
            return Ok(Replaced::Done);
        };
        let attributions = facts.about(root, &lock.document.lock);
        // Installed packages show the platforms of hashes; one that facts contradict does not count.
        let places = [PackagePlace::installed(root.providers_dir(world.env))];
        let known = root
            .packages(lock, &mut memo, &places, &attributions)?
            .facts
            .known;
        let mut shown = providers(root, lock, &known, &attributions);
        if args.upstream {
            let user = session.of(root.flavor);
            result.faults(&user.errors_once(texts));
            // With errors in the CLI configuration the URLs of registries are unknown: none is asked.
            let registries = user.is_sound().then(|| {
                registries
                    .entry(root.flavor)
                    .or_insert_with(|| user.registries())
            });
            let errors = add_dates(&mut shown, registries, root.subject(lock, None));
            let required = Required::of(root, None, texts);
            for failure in advice::verify::failures(&errors, root.flavor, &required) {
                result.fail(failure);
            }
        }
        if args.build {
            builds.add(&mut shown, root, lock, texts, result)?;
        }
        result.providers = shown.into_iter().map(Provider::Shown).collect();
        Ok(Replaced::Done)
    });
    let mut result = all.into_result("show");
    result.remarks.extend(facts.remarks());
    if args.build {
        let unread = build::unread(
            result.roots(),
            args.contents,
            &commands::of_all(session.options, roots).roots.for_all,
        );
        result.remarks.extend(unread);
    }
    result
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
        let Some(list) = answer.and_then(|answer| answer.list.as_ref()) else {
            continue;
        };
        // Each `zh:` belongs to what the signed list says.
        let is_zh = |shown: &&mut ShownHash| shown.hash.scheme() == Scheme::Zh;
        for shown in provider.hashes.iter_mut().filter(is_zh) {
            let platforms: Vec<String> = list
                .zips
                .iter()
                .filter(|(_, zh)| *zh == shown.hash)
                .map(|(platform, _)| platform.to_string())
                .filter(|platform| !shown.platforms.contains(platform))
                .collect();
            shown.platforms.extend(platforms);
            if shown.platforms.is_empty() {
                shown.beside = Some(if list.hashes.contains(&shown.hash) {
                    BesidePackages::Manifest
                } else {
                    BesidePackages::NotListed
                });
            }
        }
    }
    errors.into_iter().map(CheckError::Release).collect()
}

/// Lists what is locked, each hash with the platforms that are known to have it.
pub(crate) fn providers(
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
            let faulty = &root.document().faulty;
            let fault = faulty.iter().find(|faulty| faulty.addr == *provider);
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
