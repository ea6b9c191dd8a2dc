//! `lockctl cache export`: facts as text.

use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;
use std::path::Path;

use super::{NAME, UserStore, exit, is_standard, result};
use crate::addr::ProviderAddr;
use crate::authenticate::{FactSigner, Note};
use crate::cache::ExportArgs;
use crate::contents::BuildInfo;
use crate::driver;
use crate::hash::Hash;
use crate::package::{Fact, ReleaseFact};
use crate::report::json::{ExportedFacts, StoreReport};
use crate::report::{CLEAN, CommandResult, Failure};
use crate::run::World;
use crate::run::contradiction;
use crate::run::options::RootArgs;
use crate::run::session::Session;
use crate::run::shared_keys;
use crate::store::{
    self, Contradiction, Export, FactOrigin, Inventory, MAX_EXPORT_BYTES, StoredFact,
};
use crate::version::Version;
use crate::world::Replaced;

/// The hashes and releases of lock files.
#[derive(Default)]
struct RecordedHashes {
    hashes: BTreeSet<Hash>,
    releases: BTreeSet<(ProviderAddr, Version)>,
}

/// A file that may hold an export already.
struct ExportFile {
    /// Its bytes, if there is one.
    bytes: Option<Vec<u8>>,
    /// The facts and releases that it states.
    stated: Export,
}

/// The facts that are written, each once, in the order of the file.
struct ExportParts<'s> {
    facts: BTreeMap<&'s Hash, &'s Fact>,
    releases: BTreeMap<(&'s ProviderAddr, &'s Version), &'s ReleaseFact>,
    contents: BTreeMap<Hash, BuildInfo>,
}

impl RecordedHashes {
    /// Returns whether a lock file records the package of a fact.
    fn needs(&self, fact: &Fact) -> bool {
        self.hashes.contains(&fact.zh) || self.hashes.contains(&fact.h1)
    }

    /// Returns whether a lock file records a release.
    fn locks(&self, release: &ReleaseFact) -> bool {
        self.releases
            .contains(&(release.provider.clone(), release.version.clone()))
    }
}

pub(super) fn run(
    session: &Session<'_>,
    args: &ExportArgs,
    found: UserStore<'_>,
) -> Result<CommandResult, Failure> {
    let recorded = match recorded(session, args) {
        Ok(recorded) => recorded,
        Err(failed) => return Ok(*failed),
    };
    let signer = signer(args, found.world)?;
    let inventory = found.inventory()?;
    let parts = ExportParts::new(&found, &inventory, recorded.as_ref(), args.imported);
    let (exported, text) = match args.file.as_deref().filter(|path| !is_standard(path)) {
        None => {
            let text = parts.text(signer.as_ref());
            let exported = ExportedFacts {
                facts: parts.facts.len(),
                text: Some(text.clone()),
                ..ExportedFacts::default()
            };
            (exported, text.into_bytes())
        }
        Some(file) => {
            let path = session.options.below(file);
            let written = to_file(
                found.world,
                &path,
                &inventory,
                recorded.as_ref(),
                parts,
                signer.as_ref(),
            );
            let exported = written.unwrap_or_else(|failure| ExportedFacts {
                failure: Some(failure),
                ..ExportedFacts::default()
            });
            let file = Some(path.display().to_string());
            (ExportedFacts { file, ..exported }, Vec::new())
        }
    };
    let exit = exit(exported.failure.as_ref(), &exported.contradictions);
    let report = StoreReport {
        exported: Some(exported),
        ..found.report()
    };
    Ok(CommandResult {
        exit,
        ..result(report, text)
    })
}

/// Returns the key that `--signed` signs with.
fn signer(args: &ExportArgs, world: World<'_>) -> Result<Option<FactSigner>, Failure> {
    if !args.signed {
        return Ok(None);
    }
    let signer = shared_keys::signer(world)?.ok_or_else(|| {
        Failure::new("there is no key to sign with")
            .help("set LOCKCTL_FACT_KEY; `lockctl cache keygen NAME` prints a key")
    })?;
    Ok(Some(signer))
}

/// Reads what the lock files of roots record; `None` if none is named.
///
/// # Errors
/// With the result of a run that cannot read one of them: without it, facts would be lost.
fn recorded(
    session: &Session<'_>,
    args: &ExportArgs,
) -> Result<Option<RecordedHashes>, Box<CommandResult>> {
    if !args.recursive && args.roots.is_empty() {
        return Ok(None);
    }
    let mut recorded = RecordedHashes::default();
    let roots = RootArgs {
        roots: args.roots.clone(),
        recursive: args.recursive,
        ..RootArgs::default()
    };
    let all = driver::each(session, &roots, |root, _, output| {
        // A root that is found may have no lock file yet.
        if args.recursive && root.lock.is_none() {
            return Ok(Replaced::Done);
        }
        if let Some(lock) = root.sound_lock(output)? {
            for (provider, entry) in &lock.document.lock.providers {
                recorded.hashes.extend(entry.hashes.iter().cloned());
                let release = (provider.clone(), entry.version.clone());
                recorded.releases.insert(release);
            }
        }
        Ok(Replaced::Done)
    });
    let read = all.into_result(NAME);
    if read.exit == CLEAN {
        Ok(Some(recorded))
    } else {
        Err(Box::new(read))
    }
}

impl<'s> ExportParts<'s> {
    /// Selects what is wanted of the store.
    fn new(
        found: &UserStore<'_>,
        inventory: &'s Inventory,
        recorded: Option<&RecordedHashes>,
        with_imported: bool,
    ) -> Self {
        let is_own = |origin: &FactOrigin| with_imported || *origin == FactOrigin::Computed;
        // What a lock file needs is wanted however old it is: age bounds the store, and makes no fact false.
        let old = inventory.old.iter().filter(|_| recorded.is_some());
        let facts: BTreeMap<&Hash, &Fact> = inventory
            .facts
            .iter()
            .chain(old)
            .filter(|stored| is_own(&stored.origin))
            .map(|stored| (&stored.fact.zh, &stored.fact))
            .filter(|(_, fact)| recorded.is_none_or(|recorded| recorded.needs(fact)))
            .collect();
        let releases = inventory
            .releases
            .iter()
            .filter(|stored| is_own(&stored.origin))
            .map(|stored| &*stored.release)
            .filter(|release| recorded.is_none_or(|recorded| recorded.locks(release)))
            .map(|release| ((&release.provider, &release.version), release))
            .collect();
        let contents = found
            .store
            .build_infos(facts.keys().copied(), with_imported);
        Self {
            facts,
            releases,
            contents,
        }
    }

    /// Returns the text, with a signature if one is wanted; the same text has the same signature.
    fn text(&self, signer: Option<&FactSigner>) -> String {
        let facts = self.facts.values().copied();
        let text = store::export(facts, self.releases.values().copied(), &self.contents);
        match signer {
            Some(signer) => signer.sign(&text),
            None => text,
        }
    }
}

/// Writes facts to a file. Where lock files say what is needed, what the file holds of that stays.
///
/// # Errors
/// If the file cannot be read or written, or holds something else.
fn to_file(
    world: World<'_>,
    path: &Path,
    inventory: &Inventory,
    recorded: Option<&RecordedHashes>,
    parts: ExportParts<'_>,
    signer: Option<&FactSigner>,
) -> Result<ExportedFacts, Failure> {
    let target = target(world, path, signer)?;
    let contradictions = contradictions(&target.stated.facts, inventory);
    if !contradictions.is_empty() {
        let file = path.display().to_string();
        return Ok(ExportedFacts {
            contradictions: contradiction::rows(&contradictions),
            failure: Some(contradiction::alarm(&file, &contradictions, "written")),
            ..ExportedFacts::default()
        });
    }
    // The parameter cannot borrow from `target`.
    let mut parts = parts;
    if let Some(recorded) = recorded {
        // What the file states and lock files need stays as it is (`store` rules 4.4), so that all machines write the
        // same file: one zip may be known under several names.
        let stated = &target.stated;
        let needed_facts = stated
            .facts
            .iter()
            .filter(|fact| recorded.needs(fact))
            .map(|fact| (&fact.zh, fact));
        parts.facts.extend(needed_facts);
        let locked_releases = stated
            .releases
            .iter()
            .filter(|release| recorded.locks(release))
            .map(|release| ((&release.provider, &release.version), release));
        parts.releases.extend(locked_releases);
        for (zh, info) in &stated.contents {
            if parts.facts.contains_key(zh) {
                parts.contents.insert(zh.clone(), info.clone());
            }
        }
    }
    let text = parts.text(signer);
    // An unchanged file keeps its time, so that build tools see no change.
    let is_new = target.bytes.as_deref() != Some(text.as_bytes());
    if is_new {
        let replaced = world
            .disk
            .replace(path, target.bytes.as_deref(), text.as_bytes())
            .map_err(|error| unwritten(path, error.to_string()))?;
        if replaced == Replaced::Changed {
            return Err(unwritten(path, "another program changed it".to_owned()));
        }
    }
    Ok(ExportedFacts {
        facts: parts.facts.len(),
        changed: Some(is_new),
        ..ExportedFacts::default()
    })
}

/// Reads the file that is to be written.
///
/// # Errors
/// If it cannot be read, or holds something else.
fn target(
    world: World<'_>,
    path: &Path,
    signer: Option<&FactSigner>,
) -> Result<ExportFile, Failure> {
    let bytes = match world.disk.read(path, MAX_EXPORT_BYTES) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Ok(ExportFile {
                bytes: None,
                stated: Export::default(),
            });
        }
        Err(error) => return Err(unwritten(path, error.to_string())),
    };
    let text = std::str::from_utf8(&bytes).map_err(|_| "it is not UTF-8 text".to_owned());
    let stated = text.and_then(|text| {
        let notes = Note::split(text);
        let note = match &notes[..] {
            [note] => Some(note),
            _ => None,
        };
        // What somebody else wrote there must not get a signature.
        let is_signed_by =
            |signer: &FactSigner| note.is_some_and(|note| note.signer([signer.key()]).is_some());
        if signer.is_some_and(|signer| !is_signed_by(signer)) {
            return Ok(Export::default());
        }
        let text = note.map_or(text, |note| note.text);
        store::import(text).map_err(|error| error.to_string())
    });
    let stated = stated.map_err(|cause| {
        Failure::new(format!("{} is no export of facts", path.display()))
            .because(cause)
            .help("name another file; only an export is replaced")
    })?;
    Ok(ExportFile {
        bytes: Some(bytes),
        stated,
    })
}

/// Returns what facts of a file contradict the store.
fn contradictions(stated: &[Fact], inventory: &Inventory) -> Vec<Contradiction> {
    let kept: BTreeMap<&Hash, &StoredFact> = inventory
        .facts
        .iter()
        .chain(&inventory.old)
        .map(|stored| (&stored.fact.zh, stored))
        .collect();
    stated
        .iter()
        .filter_map(|stated| {
            let kept = kept.get(&stated.zh)?;
            kept.fact.contradicts(stated).then(|| Contradiction {
                stated: stated.clone(),
                kept: (*kept).clone(),
            })
        })
        .collect()
}

fn unwritten(path: &Path, cause: String) -> Failure {
    Failure::new(format!("{} could not be written", path.display()))
        .because(cause)
        .help("make sure that its directory exists and is writable")
}
