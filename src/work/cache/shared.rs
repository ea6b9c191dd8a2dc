//! `lockctl cache keygen` and `lockctl cache gc`: keys and objects of shared stores.

use super::{GcArgs, KeygenArgs, absolute, result};
use crate::authenticate::{FactSigner, SignerError};
use crate::report::json::{CollectedObjects, NewKey, StoreReport};
use crate::report::{CommandResult, Failure, Sentence};
use crate::run::user::caches;
use crate::run::{World, shared_keys};
use crate::store::shared;

/// Makes a key; the private one is what the command prints.
pub(super) fn keygen(args: &KeygenArgs, world: World<'_>) -> Result<CommandResult, Failure> {
    let (private, signer) = FactSigner::generate(&args.name).map_err(|error| match error {
        SignerError::Form => Failure::new(format!("{:?} cannot be the name of a key", args.name))
            .help("write a word without spaces and plus signs, as in ci.example.com"),
        SignerError::NoRandomNumbers => {
            Failure::new("no key could be made").because(error.to_string())
        }
    })?;
    let public = signer.key().to_string();
    let note =
        format!("the public key, for the project file: trust {{ fact_keys = [\"{public}\"] }}");
    let text = format!("{}\n", private.reveal()).into_bytes();
    let report = StoreReport {
        key: Some(NewKey {
            public,
            private: private.reveal().to_owned(),
        }),
        ..report(world)
    };
    Ok(CommandResult {
        remarks: vec![Sentence::note(note)],
        ..result(report, text)
    })
}

/// Removes old objects of a shared store.
pub(super) fn collect(args: &GcArgs, world: World<'_>) -> Result<CommandResult, Failure> {
    let stated = match &args.store {
        Some(url) => Some(url.clone()),
        None => shared_keys::url(world.env)?,
    };
    let Some(url) = stated else {
        return Err(Failure::new("no shared store is named").help("add --store URL"));
    };
    let age = args.older_than.duration();
    let done = shared::open(&url, world.disk, world.http)
        .and_then(|objects| shared::collect(&*objects, world.clock, age, args.dry_run));
    let done = done.map_err(|error| {
        Failure::new(format!("the objects of {url} could not be removed"))
            .because(error.to_string())
            .help("check the URL, and that the credentials may list and delete")
    })?;
    let report = StoreReport {
        collected: Some(CollectedObjects {
            store: url.to_string(),
            removed: done.removed,
            kept: done.kept,
            dry_run: args.dry_run,
        }),
        ..report(world)
    };
    Ok(result(report, Vec::new()))
}

/// Makes a report; the directory of the user is empty if there is none.
fn report(world: World<'_>) -> StoreReport {
    let dir = caches::directory(world.env);
    StoreReport {
        dir: dir.map_or_else(String::new, |dir| {
            absolute(world, &dir).display().to_string()
        }),
        ..StoreReport::default()
    }
}
