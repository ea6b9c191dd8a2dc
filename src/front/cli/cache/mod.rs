//! `lockctl cache`: the facts that are kept about packages, counted, shared and removed.

pub(super) mod args;
mod export;
mod import;
mod text;

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use crate::cli::args::Common;
use crate::cli::cache::args::{CacheArgs, CacheCommand, CleanArgs};
use crate::cli::{Command, Look, Stderr, World};
use crate::diag::counted;
use crate::modules::cache::{CacheKind, CacheRemoval, ModuleCache};
use crate::package::calendar::timestamp;
use crate::report::json::{
    CachedAdvisories, CachedModules, IgnoredObjects, RemovedFacts, StoreReport, StoreStats,
};
use crate::report::{CommandResult, Failure, ResultSubject, TextBlock};
use crate::run::audit::AdvisoryCache;
use crate::run::user::caches::{self, VARIABLE};
use crate::store::{FactOrigin, Inventory, MAX_AGE, Removal, Store, StoredFact};

/// The command, as typed.
const NAME: &str = "cache";

/// The path that means standard input, or standard output.
const STANDARD: &str = "-";

impl Command for CacheArgs {
    fn run(&self, common: &Common, world: World<'_>, _: &mut Stderr<'_>) -> CommandResult {
        let Some(stated) = caches::directory(world.env) else {
            let failure = Failure {
                title: "there is no directory for facts about packages".to_owned(),
                causes: vec!["the environment names no directory for caches".to_owned()],
                help: Some(format!("set {VARIABLE} to a directory that is yours alone")),
            };
            return CommandResult::failed(NAME, [failure]);
        };
        let current = world.env.current_dir().unwrap_or_default();
        let found = UserStore {
            world,
            dir: current.join(&stated),
            store: caches::open_store(world, &stated),
            modules: caches::open_modules(world, &stated),
            advisories: caches::open_advisories(world, &stated),
        };
        let done = match &self.command {
            CacheCommand::Dir => Ok(dir(found)),
            CacheCommand::Stats => stats(found),
            CacheCommand::Export(args) => export::run(common, args, found),
            CacheCommand::Import(args) => import::run(common, args, found),
            CacheCommand::Clean(args) => clean(*args, found),
        };
        done.unwrap_or_else(|failure| CommandResult::failed(NAME, [failure]))
    }

    fn check(&self, common: &Common) -> Result<(), String> {
        if common.no_cache {
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
    modules: ModuleCache<'a>,
    advisories: AdvisoryCache<'a>,
}

impl UserStore<'_> {
    /// Returns the failure of a directory that cannot be used.
    fn unusable(&self, error: &io::Error) -> Failure {
        Failure {
            title: format!("the facts in {} cannot be used", self.dir.display()),
            causes: vec![error.to_string()],
            help: Some(format!(
                "correct that, or name another directory with {VARIABLE}"
            )),
        }
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

/// Makes the result of a command that is about the store.
fn result(report: StoreReport, text: Vec<u8>) -> CommandResult {
    CommandResult::of(NAME, ResultSubject::Store(Box::new(report), text))
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
        modules: modules(&found)?,
        advisories: advisories(&found)?,
    };
    let report = StoreReport {
        stats: Some(stats),
        ..found.report()
    };
    Ok(result(report, Vec::new()))
}

/// Counts what is kept about modules.
fn modules(found: &UserStore<'_>) -> Result<CachedModules, Failure> {
    let inventory = found
        .modules
        .inventory()
        .map_err(|error| found.unusable(&error))?;
    let count = |kind| inventory.kinds.get(&kind).map_or(0, |(count, _)| *count);
    Ok(CachedModules {
        packages: count(CacheKind::Packages),
        locations: count(CacheKind::Locations),
        versions: count(CacheKind::Versions),
        refs: count(CacheKind::Refs),
        bytes: inventory.kinds.values().map(|(_, bytes)| bytes).sum(),
        old: inventory.old,
    })
}

/// Counts what is kept of databases of advisories.
fn advisories(found: &UserStore<'_>) -> Result<CachedAdvisories, Failure> {
    let inventory = found
        .advisories
        .inventory()
        .map_err(|error| found.unusable(&error))?;
    Ok(CachedAdvisories {
        documents: inventory.documents.len(),
        bytes: inventory.documents.iter().map(|object| object.bytes).sum(),
        old: inventory.old.len(),
    })
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
        CacheRemoval::Everything
    } else {
        CacheRemoval::Old
    };
    let modules = found.modules.removable(wanted);
    let modules = modules.and_then(|modules| {
        if !args.dry_run {
            found.modules.remove(&modules)?;
        }
        Ok(modules.len())
    });
    let advisories = found.advisories.inventory().and_then(|inventory| {
        let wanted = if args.all {
            inventory.documents
        } else {
            inventory.old
        };
        if !args.dry_run {
            found.advisories.remove(&wanted)?;
        }
        Ok(wanted.len())
    });
    let report = StoreReport {
        removed: Some(RemovedFacts {
            old: removed.old,
            broken: removed.broken,
            imported: removed.imported,
            computed: removed.computed,
            kept: removed.kept,
            modules: modules.map_err(|error| found.unusable(&error))?,
            advisories: advisories.map_err(|error| found.unusable(&error))?,
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
