//! `lockctl trust`: what is known of signers and origin, written into the project file.

mod memory;
mod text;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::rc::Rc;

use clap::Args;

use self::memory::{ProjectMemory, SeenEntry};
use crate::addr::ProviderAddr;
use crate::advice;
use crate::advice::required::Required;
use crate::diag::Texts;
use crate::driver;
use crate::flavor::Flavor;
use crate::package::calendar::day;
use crate::report::json::{MemoryState, Provider, RootStatus, TrustedProvider};
use crate::report::{CommandResult, Failure, Look, RootResult, TextBlock};
use crate::review::ReleaseOrigin;
use crate::run::command::Command;
use crate::run::options::{Options, RootArgs, examples};
use crate::run::root::{LockText, Root};
use crate::run::session::Session;
use crate::run::typed_addr::{NamedForRun, TypedAddr};
use crate::upstream::{self, Answers, CheckError, Registries};
use crate::world::Replaced;

/// Remember who signs providers and what they are built from
///
/// Writes into the project file which keys signed the locked releases, from which module their programs are
/// built, and how many zh: hashes an entry has, as far as earlier runs of `lock` know. From then on `verify`,
/// `lock`, `update` and `diff` report every step down from that. What differs from the memory is not written,
/// unless --update accepts it.
#[derive(Clone, Debug, Args)]
#[command(before_help = examples(&[
    ("lockctl trust -r", "remember what is known of all roots below"),
    ("lockctl trust --upstream", "ask registries who signs what is locked"),
    ("lockctl trust -r --check", "exit with 1 if anything is new or differs"),
    ("lockctl trust --update acme/box --reason \"new key\"", "accept a change"),
]))]
pub(crate) struct TrustArgs {
    #[command(flatten)]
    pub(crate) roots: RootArgs,
    /// Also ask registries for the signed list of each release
    #[arg(long)]
    pub(crate) upstream: bool,
    /// Write nothing; exit with code 1 if anything is new, or differs from the memory
    #[arg(long, conflicts_with = "update")]
    pub(crate) check: bool,
    /// Accept what differs for this provider (may be repeated)
    #[arg(long, value_name = "ADDR", requires = "reason")]
    pub(crate) update: Vec<TypedAddr>,
    /// The reason for --update, which is written beside the change
    #[arg(long, value_name = "TEXT", requires = "update")]
    pub(crate) reason: Option<String>,
}

impl Command for TrustArgs {
    fn run(&self, session: &Rc<Session<'_>>) -> CommandResult {
        run(session, self)
    }

    fn check(&self, options: &Options) -> Result<(), String> {
        if options.config_at.is_some() && !self.check {
            return Err(
                "--config-at reads a revision, which trust cannot write: add --check".to_owned(),
            );
        }
        if self
            .reason
            .as_ref()
            .is_some_and(|reason| reason.trim().is_empty())
        {
            return Err("--reason needs a text".to_owned());
        }
        options.check_offline("--upstream", self.upstream)
    }

    fn text(&self, result: &CommandResult, look: Look) -> Vec<TextBlock> {
        text::of_all(result.roots(), self.check, look)
    }
}

fn run(session: &Rc<Session<'_>>, args: &TrustArgs) -> CommandResult {
    let mut registries: BTreeMap<Flavor, Registries<'_>> = BTreeMap::new();
    let mut memories: BTreeMap<PathBuf, ProjectMemory> = BTreeMap::new();
    let mut places: BTreeMap<String, PathBuf> = BTreeMap::new();
    let mut updated = NamedForRun::new(args.update.clone());
    let mut all = driver::each(session, &args.roots, |root, texts, result| {
        let Some(text) = root.sound_lock_of(&args.roots, result)? else {
            return Ok(Replaced::Done);
        };
        let lock = &text.document.lock;
        let releases = session.facts.releases(root, lock, session.world);
        let answers = if args.upstream {
            answers(session, root, text, &mut registries, texts, result)
        } else {
            Answers::new()
        };
        let (stated, ends) = (upstream::signers(&answers), upstream::key_ends(&answers));
        let path = root.writable_project_file(session.world, session.options);
        places.insert(result.path.clone(), path.clone());
        // Roots that share a project file add to one memory, which is written once.
        let memory = memories.entry(path).or_default();
        let accepted = updated.of_root(lock.providers.keys(), root.flavor)?;
        let builds = session.facts.builds(root, lock);
        let is_signed = |(provider, _): &(&ProviderAddr, _)| !provider.is_builtin(root.flavor);
        for (provider, entry) in lock.providers.iter().filter(is_signed) {
            let origin = ReleaseOrigin::new(
                entry,
                stated.get(provider).or_else(|| releases.signers(provider)),
                builds.get(provider),
                releases.attested(provider),
            );
            let remembered = root.project().trust.remembered(provider, root.flavor);
            let steps_down = remembered.map_or_else(Vec::new, |known| {
                origin.steps_down(&known.into(), || {
                    session.facts.known_signers(root, provider)
                })
            });
            let known_ends = || Some(&releases.releases.get(provider)?.key_ends);
            let key_ends = ends.get(provider).or_else(known_ends);
            let first_end = key_ends.and_then(|keys| keys.values().min());
            let entry = SeenEntry {
                version: entry.version.clone(),
                remembered: remembered.cloned(),
                steps_down,
                is_accepted: accepted.contains(provider),
                origin,
                key_expires: first_end.map(|end| day(*end)),
            };
            memory.add(result.path.clone(), provider.clone(), entry);
        }
        Ok(Replaced::Done)
    });
    report(session, args, &memories, &mut all.results, &places);
    if let Some(first) = all.results.first_mut() {
        for typed in updated.unmatched() {
            let title = format!("no lock file of this run has an entry for {typed}");
            let help = "write the address as the lock file does, as in example.com/acme/tool";
            first.fail(Failure::new(title).help(help));
        }
    }
    all.into_result("trust")
}

/// Asks registries about the locked releases of a root, and reports what could not be asked.
fn answers<'a>(
    session: &Rc<Session<'a>>,
    root: &Root,
    text: &LockText,
    registries: &mut BTreeMap<Flavor, Registries<'a>>,
    texts: &mut Texts,
    result: &mut RootResult,
) -> Answers {
    let user = session.of(root.flavor);
    result.faults(&user.errors_once(texts));
    let (answers, errors) = if user.is_sound() {
        let registries = registries
            .entry(root.flavor)
            .or_insert_with(|| user.registries());
        let (answers, errors) = registries.ask(root.subject(text, None));
        let errors = errors.into_iter().map(CheckError::Release).collect();
        (answers, errors)
    } else {
        (Answers::new(), vec![CheckError::NotAsked])
    };
    let required = Required::of(root, None, texts);
    for failure in advice::verify::failures(&errors, root.flavor, &required) {
        result.fail(failure);
    }
    answers
}

/// Writes the project files, and adds the rows of each root; `places` has the project file by the path of the root.
fn report(
    session: &Session<'_>,
    args: &TrustArgs,
    memories: &BTreeMap<PathBuf, ProjectMemory>,
    results: &mut [RootResult],
    places: &BTreeMap<String, PathBuf>,
) {
    let mut failures: BTreeMap<&PathBuf, Failure> = BTreeMap::new();
    for (path, memory) in memories.iter().filter(|_| !args.check) {
        if let Err(failure) = memory.write(session, path, args.reason.as_deref()) {
            failures.insert(path, failure);
        }
    }
    for result in results {
        let Some(path) = places.get(&result.path) else {
            continue;
        };
        let rows: Vec<TrustedProvider> = memories[path].rows(&result.path).collect();
        let is_bad = |row: &TrustedProvider| {
            row.state == MemoryState::Changed || args.check && row.state.is_written()
        };
        if rows.iter().any(is_bad) {
            result.status = result.status.max(RootStatus::Findings);
        }
        result.changed = Some(rows.iter().any(|row| row.state.is_written()));
        result
            .providers
            .extend(rows.into_iter().map(Provider::Trusted));
        // The first root of a file has its failure.
        if let Some(failure) = failures.remove(path) {
            result.fail(failure);
        }
    }
}
