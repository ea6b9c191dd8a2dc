//! `lockctl cache`: the facts that are kept about packages, counted, shared and removed.

mod export;
mod import;
mod shared;
mod text;

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, Subcommand};

use crate::addr::StoreUrl;
use crate::diag::counted;
use crate::package::calendar::timestamp;
use crate::package::{FactKey, MinAge};
use crate::report::json::{
    CachedAdvisories, CachedModules, FactContradiction, IgnoredObjects, RemovedFacts, StoreReport,
    StoreStats,
};
use crate::report::{CLEAN, FAILED, FINDINGS};
use crate::report::{CommandResult, Failure, Look, ResultSubject, TextBlock};
use crate::run::World;
use crate::run::command::Command;
use crate::run::options::{Options, examples};
use crate::run::session::Session;
use crate::run::user::caches::{self, VARIABLE};
use crate::store::answers::{AnswerCache, AnswerInventory, AnswerKind, AnswerRemoval};
use crate::store::{FactOrigin, Inventory, MAX_AGE, Removal, Store, StoredFact};
use crate::world::ObjectSize;

/// The command, as typed.
const NAME: &str = "cache";

/// The path that means standard input, or standard output.
const STANDARD: &str = "-";

/// Show, share and clean what is kept about packages, modules and advisories
#[derive(Clone, Debug, Args)]
#[command(before_help = examples(&[
    ("lockctl cache stats", "what is kept, and where"),
    ("lockctl cache export facts.txt -r", "what the lock files below need, to be committed"),
    ("lockctl cache import facts.txt", "use it on another machine"),
    ("lockctl cache keygen ci.example.com", "a key for a shared store"),
    ("lockctl explain facts", "what facts are, and when they count"),
]))]
pub(crate) struct CacheArgs {
    #[command(subcommand)]
    pub(crate) command: CacheCommand,
}

#[derive(Clone, Debug, Subcommand)]
pub(crate) enum CacheCommand {
    /// Print the directory that holds it
    Dir,
    /// Count what is kept, and say what is ignored and why
    Stats,
    /// Write facts as text: sorted, one per line, fit for version control
    Export(ExportArgs),
    /// Read facts that another machine exported
    ///
    /// They replace downloads only with `trust { imported_facts = true }` in the project file. If one of
    /// them contradicts a fact that is kept, nothing of the file is imported, and the exit code is 1.
    Import(ImportArgs),
    /// Remove what is too old, and files that are no facts
    Clean(CleanArgs),
    /// Make a key that signs facts for a shared store
    ///
    /// Prints the private key, which is a secret of the writer: LOCKCTL_FACT_KEY holds it, or the file that
    /// LOCKCTL_FACT_KEY_FILE names. The public key is for `trust { fact_keys }` of the project file.
    Keygen(KeygenArgs),
    /// Remove objects of a shared store that no machine has added to for long
    Gc(GcArgs),
}

#[derive(Clone, Debug, Args)]
pub(crate) struct ExportArgs {
    /// Write to this file [default: standard output]
    ///
    /// The file is not touched if it would stay the same. A file that is no export is not replaced.
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// Only what the lock file of this root needs; may be repeated
    ///
    /// What FILE already holds and a lock file still needs stays in it.
    #[arg(long = "for", value_name = "ROOT")]
    pub(crate) roots: Vec<PathBuf>,
    /// Only what lock files need, in each ROOT and below [default: below the working directory]
    #[arg(short, long)]
    pub(crate) recursive: bool,
    /// Also facts that were imported
    #[arg(long)]
    pub(crate) imported: bool,
    /// Sign the text with the key in LOCKCTL_FACT_KEY
    #[arg(long)]
    pub(crate) signed: bool,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct KeygenArgs {
    /// The name of the key, as in ci.example.com
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct GcArgs {
    /// The store, as in s3://bucket/lockctl [default: LOCKCTL_STORE]
    #[arg(long, value_name = "URL")]
    pub(crate) store: Option<StoreUrl>,
    /// Remove objects that no machine has added to for so long, as in 90d or 2y
    #[arg(long, value_name = "AGE")]
    pub(crate) older_than: MinAge,
    /// Remove nothing; count what would be removed
    #[arg(long)]
    pub(crate) dry_run: bool,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct ImportArgs {
    /// Files that `lockctl cache export` wrote; - is standard input
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Where the facts come from, as results will name it [default: FILE]
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) from: Option<String>,
    /// Accept only files that this public key signed (may be repeated)
    ///
    /// Their facts count where the project file names the key in `trust { fact_keys }`.
    #[arg(long = "key", value_name = "KEY", conflicts_with = "from")]
    pub(crate) keys: Vec<FactKey>,
}

#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct CleanArgs {
    /// Also remove facts that were imported
    #[arg(long)]
    pub(crate) imported: bool,
    /// Remove everything
    #[arg(long, conflicts_with = "imported")]
    pub(crate) all: bool,
    /// Remove nothing; count what would be removed
    #[arg(long)]
    pub(crate) dry_run: bool,
}

impl Command for CacheArgs {
    fn run(&self, session: &Rc<Session<'_>>) -> CommandResult {
        let world = session.world;
        let opened = || UserStore::open(world);
        let done = match &self.command {
            CacheCommand::Dir => opened().map(dir),
            CacheCommand::Stats => opened().and_then(stats),
            CacheCommand::Export(args) => {
                opened().and_then(|found| export::run(session, args, found))
            }
            CacheCommand::Import(args) => {
                opened().and_then(|found| import::run(session.options, args, found))
            }
            CacheCommand::Clean(args) => opened().and_then(|found| clean(*args, found)),
            // A job that makes a key or cleans a shared store may have no directory for caches.
            CacheCommand::Keygen(args) => shared::keygen(args, world),
            CacheCommand::Gc(args) => shared::collect(args, world),
        };
        done.unwrap_or_else(|failure| CommandResult::failed(NAME, [failure]))
    }

    fn check(&self, options: &Options) -> Result<(), String> {
        if options.no_cache {
            return Err("'lockctl cache' is about what '--no-cache' leaves alone".to_owned());
        }
        Ok(())
    }

    fn text(&self, result: &CommandResult, _: Look) -> Vec<TextBlock> {
        match &result.subject {
            ResultSubject::Store(report, _) => text::blocks(report),
            _ => Vec::new(),
        }
    }
}

/// The store of the user, and where it is.
struct UserStore<'a> {
    world: World<'a>,
    /// The directory, as an absolute path where that is known.
    dir: PathBuf,
    store: Store<'a>,
    answers: AnswerCache<'a>,
}

impl<'a> UserStore<'a> {
    fn open(world: World<'a>) -> Result<Self, Failure> {
        let Some(stated) = caches::directory(world.env) else {
            return Err(
                Failure::new("there is no directory for facts about packages")
                    .because("the environment names no directory for caches")
                    .help(format!("set {VARIABLE} to a directory that is yours alone")),
            );
        };
        Ok(Self {
            world,
            dir: absolute(world, &stated),
            store: caches::open_store(world, &stated),
            answers: caches::open_answers(world, &stated),
        })
    }

    /// Returns the failure of a directory that cannot be used.
    fn unusable(&self, error: &io::Error) -> Failure {
        Failure::new(format!(
            "the facts in {} cannot be used",
            self.dir.display()
        ))
        .because(error.to_string())
        .help(format!(
            "correct that, or name another directory with {VARIABLE}"
        ))
    }

    fn inventory(&self) -> Result<Inventory, Failure> {
        self.store
            .inventory()
            .map_err(|error| self.unusable(&error))
    }

    fn report(&self) -> StoreReport {
        StoreReport {
            dir: self.dir.display().to_string(),
            ..StoreReport::default()
        }
    }
}

fn absolute(world: World<'_>, dir: &Path) -> PathBuf {
    world.env.current_dir().unwrap_or_default().join(dir)
}

/// Makes the result of a command that is about the store.
fn result(report: StoreReport, text: Vec<u8>) -> CommandResult {
    CommandResult::of(NAME, ResultSubject::Store(Box::new(report), text))
}

/// Returns the exit code of what was done with a file: a contradiction is an answer about it; after any other failure
/// there is none.
fn exit(failure: Option<&Failure>, contradictions: &[FactContradiction]) -> u8 {
    match failure {
        None => CLEAN,
        Some(_) if !contradictions.is_empty() => FINDINGS,
        Some(_) => FAILED,
    }
}

fn dir(found: UserStore<'_>) -> CommandResult {
    // The name may be any bytes: a shell takes them as they are.
    let name = found.dir.as_os_str().as_encoded_bytes();
    result(found.report(), [name, b"\n"].concat())
}

fn stats(found: UserStore<'_>) -> Result<CommandResult, Failure> {
    let Inventory {
        facts,
        old,
        releases,
        contents,
        broken,
        bytes,
    } = found.inventory()?;
    let is_computed = |stored: &&StoredFact| stored.origin == FactOrigin::Computed;
    let providers: BTreeSet<_> = facts
        .iter()
        .map(|stored| &stored.fact.id.provider)
        .collect();
    let days = MAX_AGE.as_secs() / (24 * 60 * 60);
    // A fact that is too old counts as unknown, but its object stays until `clean` (`store` rules 2.3).
    let too_old = Some(IgnoredObjects {
        reason: format!("it is older than {}", counted(days as usize, "day")),
        count: old.len(),
    });
    let too_old = too_old.filter(|ignored| ignored.count > 0);
    let broken = broken
        .into_iter()
        .map(|(reason, count)| IgnoredObjects { reason, count });
    let computed = facts.iter().filter(is_computed).count();
    let answers = found
        .answers
        .inventory()
        .map_err(|error| found.unusable(&error))?;
    let advisories = answers.of(AnswerKind::Advisories);
    let stats = StoreStats {
        facts: facts.len(),
        computed,
        imported: facts.len() - computed,
        providers: providers.len(),
        releases: releases.len(),
        bytes,
        oldest: facts.iter().map(StoredFact::since).min().map(timestamp),
        ignored: too_old.into_iter().chain(broken).collect(),
        contents,
        modules: modules(&answers),
        advisories: CachedAdvisories {
            documents: advisories.objects,
            bytes: advisories.bytes,
            old: advisories.old,
        },
    };
    let report = StoreReport {
        stats: Some(stats),
        ..found.report()
    };
    Ok(result(report, Vec::new()))
}

/// Counts what is kept about modules.
fn modules(answers: &AnswerInventory) -> CachedModules {
    let [packages, locations, versions, refs] = [
        AnswerKind::Packages,
        AnswerKind::Locations,
        AnswerKind::Versions,
        AnswerKind::Refs,
    ]
    .map(|kind| answers.of(kind));
    let all = [packages, locations, versions, refs];
    CachedModules {
        packages: packages.objects,
        locations: locations.objects,
        versions: versions.objects,
        refs: refs.objects,
        bytes: all.iter().map(|kind| kind.bytes).sum(),
        old: all.iter().map(|kind| kind.old).sum(),
    }
}

fn clean(args: CleanArgs, found: UserStore<'_>) -> Result<CommandResult, Failure> {
    let removal = if args.all {
        Removal::Everything
    } else if args.imported {
        Removal::UselessAndImported
    } else {
        Removal::Useless
    };
    let removed = found
        .store
        .clean(removal, args.dry_run)
        .map_err(|error| found.unusable(&error))?;
    let wanted = if args.all {
        AnswerRemoval::Everything
    } else {
        AnswerRemoval::Old
    };
    let remove = || {
        let answers = found.answers.removable(wanted)?;
        if !args.dry_run {
            found.answers.remove(&answers)?;
        }
        let is_advisory = |object: &&ObjectSize| AnswerKind::Advisories.has(object);
        let advisories = answers.iter().filter(is_advisory).count();
        Ok((answers.len() - advisories, advisories))
    };
    let (modules, advisories) = remove().map_err(|error: io::Error| found.unusable(&error))?;
    let report = StoreReport {
        removed: Some(RemovedFacts {
            counts: removed,
            modules,
            advisories,
            dry_run: args.dry_run,
        }),
        ..found.report()
    };
    Ok(result(report, Vec::new()))
}

/// Returns whether a path means a standard stream.
fn is_standard(path: &Path) -> bool {
    path == Path::new(STANDARD)
}
