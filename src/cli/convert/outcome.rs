//! What a root comes to that is converted.

use crate::addr::ProviderAddr;
use crate::config::Loaded;
use crate::diag::{Texts, counted_as};
use crate::flavor::{Flavor, FlavorChoice, Program};
use crate::locker::{self, Conversion, LockError, Locked, MovedEntry, Staying};
use crate::report::json::{ConvertedProvider, NotConverted, Provider, RemovedProvider};
use crate::report::{Failure, RootResult, Sentence};
use crate::requirement::{Requirement, RequirementOrigin};
use crate::resolve::SelectError;
use crate::run::root::Root;
use crate::world::Files;

/// How the roots to convert were named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::cli) enum Target {
    /// One by one: each has to have a lock file.
    Named,
    /// They were searched for.
    Found,
}

/// Decides what becomes of the entries of a root; `None` if it has no lock file and need not have one.
///
/// # Errors
/// If it needs one, or if the program has no provider that the configuration names.
pub(in crate::cli) fn start(
    target: Target,
    root: &Root,
    loaded: &Loaded,
    texts: &Texts,
    result: &mut RootResult,
) -> Result<Option<Conversion>, Failure> {
    if root.lock.is_none() {
        if target == Target::Named {
            return Err(root.no_lock());
        }
        result.changed = Some(false);
        result.verdict = Some(Sentence::note(format!(
            "{}: there is no lock file, so there is nothing to convert",
            root.dir.display()
        )));
        return Ok(None);
    }
    let others = other_flavor(root.flavor);
    let required = loaded.requirements.providers.iter();
    let mut required =
        required.filter(|(addr, _)| addr.is_builtin(others) && !addr.is_builtin(root.flavor));
    if let Some((addr, places)) = required.next() {
        return Err(not_built_in(addr, places, root.flavor, texts));
    }
    let lock = &root.document().lock;
    Ok(Some(locker::convert(
        lock,
        &loaded.requirements,
        root.flavor,
    )))
}

/// Returns the newest rules of the program that is converted from.
fn other_flavor(target: Flavor) -> Flavor {
    Flavor::newest(match target.program() {
        Program::Terraform => Program::OpenTofu,
        Program::OpenTofu => Program::Terraform,
    })
}

fn not_built_in(
    addr: &ProviderAddr,
    places: &[Requirement],
    target: Flavor,
    texts: &Texts,
) -> Failure {
    let places = places.iter().map(|one| place(one, texts));
    Failure {
        title: format!("{} has no provider {addr}", target.program()),
        causes: vec![format!(
            "only {} knows it as built in; it is required by {}",
            other_flavor(target).program(),
            places.collect::<Vec<_>>().join(" and ")
        )],
        help: Some(format!(
            "write the source address terraform.io/builtin/{}, which both programs know",
            addr.type_name()
        )),
    }
}

/// Names the line that requires a provider.
fn place(requirement: &Requirement, texts: &Texts) -> String {
    let name = texts.name(requirement.file);
    match requirement.origin {
        RequirementOrigin::State => name.to_owned(),
        _ => {
            let at = texts.position(requirement.file, requirement.span.start);
            format!("{name}:{}", at.line)
        }
    }
}

/// Makes an error of a moved entry that the registry of the program does not have: it has no hashes, and
/// would be trusted on first use.
pub(in crate::cli) fn unfinished(
    conversion: &Conversion,
    locked: Locked,
) -> Result<Locked, Vec<LockError>> {
    let is_moved = |error: &LockError| {
        let moved = conversion.moved.iter();
        let mut moved = moved.map(|one| &one.to);
        error
            .absent()
            .is_some_and(|absent| moved.any(|addr| addr == absent))
    };
    if !locked.unavailable.iter().any(is_moved) {
        return Ok(locked);
    }
    let unavailable = locked.unavailable.into_iter();
    Err(unavailable.filter(is_moved).collect())
}

/// Explains the errors about moved entries that the registry of the program does not have, and returns the
/// others beside.
pub(in crate::cli) fn missing(
    conversion: &Conversion,
    errors: Vec<LockError>,
    root: &Root,
) -> (Vec<Failure>, Vec<LockError>) {
    let (mut missing, mut others) = (Vec::new(), Vec::new());
    for error in errors {
        let is_of_platform = matches!(
            error,
            LockError::NoPlatform { .. } | LockError::PackagesNotAsked { .. }
        );
        let absent = error.absent().filter(|_| !is_of_platform);
        let mut moved = conversion.moved.iter();
        match moved.find(|one| absent == Some(&one.to)) {
            Some(moved) => missing.push(not_there(moved, &error, root)),
            None => others.push(error),
        }
    }
    (missing, others)
}

/// Says that a registry does not have what was locked on the other one.
fn not_there(moved: &MovedEntry, error: &LockError, root: &Root) -> Failure {
    let short = moved.to.short(root.flavor);
    let (host, version) = (moved.to.hostname(), &moved.version);
    let is_locked = format!("{} {version} is locked", moved.from);
    if let LockError::Select(error) = error
        && let SelectError::LockedGone { newest, .. } = &**error
    {
        let newest = newest.as_ref();
        let newest = newest.map_or_else(String::new, |newest| format!(", as {newest} may be"));
        return Failure {
            title: format!("{host} does not offer {short} {version}"),
            causes: vec![is_locked],
            help: Some(format!(
                "lock a version that both registries have{newest}, with `lockctl update \
                 {short}@VERSION`; then convert again"
            )),
        };
    }
    Failure {
        title: format!("{host} does not offer the provider {short}"),
        causes: vec![is_locked, error.to_string()],
        help: Some(format!(
            "write the source address in full, as {:?}, to keep it where it is",
            moved.from.to_string()
        )),
    }
}

/// Reports what became of each entry, and what else keeps the root with the other program.
pub(in crate::cli) fn report(
    result: &mut RootResult,
    conversion: &Conversion,
    root: &Root,
    loaded: &Loaded,
    texts: &Texts,
    files: &dyn Files,
) {
    let moved = conversion.moved.iter().map(|one| ConvertedProvider {
        provider: one.from.clone(),
        version: one.version.clone(),
        to: Some(one.to.clone()),
        reason: None,
        places: Vec::new(),
    });
    let staying = conversion.staying.iter();
    let staying = staying.filter(|(addr, _)| conversion.lock.providers.contains_key(addr));
    let staying = staying.map(|(addr, why)| {
        let required = loaded.requirements.providers.get(addr);
        let places = required.into_iter().flatten();
        let places = places.filter(|_| *why != Staying::OtherHost);
        ConvertedProvider {
            provider: addr.clone(),
            version: conversion.lock.providers[addr].version.clone(),
            to: None,
            reason: Some(match why {
                Staying::OtherHost => NotConverted::OtherHost,
                Staying::Named => NotConverted::Named,
                Staying::State => NotConverted::State,
            }),
            places: places.map(|one| place(one, texts)).collect(),
        }
    });
    result.lock_mut().converted = Some(moved.chain(staying).collect());
    for one in &conversion.superseded {
        let removed = RemovedProvider {
            provider: one.from.to_string(),
            removed: true,
        };
        result.providers.push(Provider::Removed(removed));
        result.remark(format!(
            "the entry of {} {} is left out: the lock file has {} {} already",
            one.from, one.version, one.to, one.own
        ));
    }
    let program = root.flavor.program();
    if let FlavorChoice::Stated(stated) = root.project().flavor
        && stated.flavor.program() != program
    {
        result.warn(format!(
            "{} states flavor = \"{}\": change that, else the other commands read this root as before",
            root.project_name(),
            stated.flavor
        ));
    }
    if program == Program::Terraform && root.has_tofu_files(files) {
        result.warn("Terraform does not read the `.tofu` files beside the lock file");
    }
}

/// Says how a root ended whose lock file changes; `None` where no entry was converted.
pub(in crate::cli) fn done(
    conversion: &Conversion,
    root: &Root,
    is_written: bool,
) -> Option<String> {
    let count = match conversion.moved.len() {
        0 => return None,
        count => count,
    };
    let path = root.lock_path.display();
    let program = root.flavor.program();
    Some(if is_written {
        let entries = counted_as(count, "entry converted", "entries converted");
        format!("updated {path} for {program}; {entries}")
    } else {
        let entries = counted_as(count, "entry to convert", "entries to convert");
        format!("{path} would change for {program}, {entries}; nothing was written")
    })
}
