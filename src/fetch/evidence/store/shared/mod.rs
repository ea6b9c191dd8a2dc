//! Facts that machines share: one object for each release, in a store of objects (rules 7).
//!
//! A fact of another machine counts only under the signature of a key that the project file names. The object of a
//! release is read once in a run, beside those of other releases; what the run computed is added at its end, if the
//! object has not changed meanwhile, else after it was read again. Objects only grow.
//!
//! A store that fails once is not asked again in the run, and nothing here stops a run.

mod object;
mod places;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use std::{io, process};

use self::object::{Learned, SharedRelease};
use super::{FactOrigin, Facts, StoredContents, StoredFact, StoredRelease, lock, releases};
use crate::addr::ProviderAddr;
use crate::authenticate::FactSigner;
use crate::contents::ProgramContents;
use crate::diag::counted_as;
use crate::hash::Hash;
use crate::package::{Fact, FactKey, ReleaseFact};
use crate::parallel;
use crate::version::Version;
use crate::world::{Clock, SHARED_TIME_LIMIT, SharedObjects, VersionedObject};

pub use object::{FactConflict, note};
pub use places::open;

/// Maximum size of an object, in bytes. The note of a key has about 5 KB.
pub const MAX_SHARED_BYTES: u64 = 256 * 1024;

/// Maximum number of requests to a shared store at once.
const REQUESTS: NonZeroUsize = NonZeroUsize::new(16).expect("positive");

/// Maximum number of attempts to add to an object that others change at the same time.
const ATTEMPTS: u32 = 12;

/// The first pause between two such attempts, at most; each later one is twice as long.
const PAUSE: Duration = Duration::from_millis(20);

/// A store of facts that machines share.
pub struct SharedStore<'a> {
    /// `None` if only facts that were imported are looked at.
    pub objects: Option<Box<dyn SharedObjects + 'a>>,
    pub clock: &'a dyn Clock,
    /// The keys whose facts count.
    pub keys: Vec<FactKey>,
    /// The key that signs what is added; `None` if nothing is.
    pub signer: Option<FactSigner>,
}

/// The facts of a user with those of a shared store.
pub struct SharedFacts<'a> {
    own: Arc<dyn Facts + Send + 'a>,
    store: SharedStore<'a>,
    state: Mutex<SharedState>,
}

#[derive(Default)]
struct SharedState {
    /// The objects that were read, by their keys.
    read: BTreeMap<String, Arc<ReadObject>>,
    /// The facts in them, by their `zh:`.
    facts: BTreeMap<Hash, Arc<StoredFact>>,
    conflicts: BTreeMap<String, Vec<FactConflict>>,
    /// The facts that this run found out about releases, by their keys.
    learned: BTreeMap<String, (ProviderAddr, Version, Learned)>,
    /// The reason why the store is not asked any more.
    failure: Option<String>,
    notes: Vec<String>,
}

#[derive(Default)]
struct ReadObject {
    object: Option<VersionedObject>,
    release: SharedRelease,
    is_too_large: bool,
}

/// Returns the key of the object about a release.
#[must_use]
pub fn key(provider: &ProviderAddr, version: &Version) -> String {
    releases::key(provider, version)
}

/// The end of an attempt to add to the object of a release.
enum Addition {
    Added,
    NothingNew,
    /// Others changed the object at each attempt.
    Outrun,
    TooLarge,
    Conflict,
}

impl<'a> SharedFacts<'a> {
    /// Adds a shared store to the facts of a user.
    #[must_use]
    pub fn new(own: Arc<dyn Facts + Send + 'a>, store: SharedStore<'a>) -> Self {
        Self {
            own,
            store,
            state: Mutex::default(),
        }
    }

    /// Adds what this run found out to the store.
    pub fn share(&self) {
        let learned: Vec<_> = std::mem::take(&mut lock(&self.state).learned)
            .into_iter()
            .collect();
        let (Some(signer), Some(objects)) = (&self.store.signer, &self.store.objects) else {
            return;
        };
        let ends = parallel::map(REQUESTS, &learned, |(key, (provider, version, learned))| {
            // A service that failed once is not asked for every other release: each attempt may take a minute.
            if lock(&self.state).failure.is_some() {
                return None;
            }
            let end = self.add(&**objects, key, (provider, version), learned, signer);
            end.map_err(|error| self.fail(&error)).ok()
        });
        for (end, (key, (provider, version, _))) in ends.into_iter().zip(&learned) {
            let why = match end {
                Some(Addition::Outrun) => "other machines changed it all the time".to_owned(),
                Some(Addition::Conflict) => {
                    let conflicts = self.conflicts(provider, version);
                    let sides = conflicts
                        .iter()
                        .map(ToString::to_string)
                        .collect::<Vec<_>>()
                        .join("; ");
                    format!("it contradicts them: {sides}")
                }
                Some(Addition::TooLarge) => {
                    format!("it would have more than {MAX_SHARED_BYTES} bytes")
                }
                _ => continue,
            };
            let note = format!("facts of {provider} {version} were not added to {key}: {why}");
            lock(&self.state).notes.push(note);
        }
    }

    /// Returns notes on what could not be used, sorted.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        let state = lock(&self.state);
        let mut notes = state.notes.clone();
        let releases = || state.read.values().map(|read| &read.release);
        let unsigned: usize = releases().map(|release| release.unsigned).sum();
        let misplaced: usize = releases().map(|release| release.misplaced).sum();
        if unsigned > 0 {
            notes.push(format!(
                "{} ignored: no key of trust.fact_keys signed {}",
                counted_as(unsigned, "fact was", "facts were"),
                if unsigned == 1 { "it" } else { "them" }
            ));
        }
        if misplaced > 0 {
            let facts = counted_as(misplaced, "fact was", "facts were");
            notes.push(format!(
                "{facts} ignored: the object is that of another release"
            ));
        }
        if let Some(failure) = &state.failure {
            notes.push(format!("the run went on without it: {failure}"));
        }
        notes.sort();
        notes
    }

    /// Turns to the store no more in this run.
    fn fail(&self, error: &io::Error) {
        lock(&self.state)
            .failure
            .get_or_insert_with(|| error.to_string());
    }

    fn read(
        &self,
        key: &str,
        provider: &ProviderAddr,
        version: &Version,
    ) -> io::Result<ReadObject> {
        let Some(objects) = &self.store.objects else {
            return Ok(ReadObject::default());
        };
        let object = match objects.get(key, MAX_SHARED_BYTES) {
            // The store is shared, and anybody with write access may put a large object there: it must not fail the
            // run.
            Err(error) if error.kind() == io::ErrorKind::FileTooLarge => {
                let note = format!("{key} was ignored: it has more than {MAX_SHARED_BYTES} bytes");
                lock(&self.state).notes.push(note);
                return Ok(ReadObject {
                    is_too_large: true,
                    ..ReadObject::default()
                });
            }
            object => object?,
        };
        let release = object
            .as_ref()
            .map(|object| object::read(&object.bytes, provider, version, &self.store.keys))
            .unwrap_or_default();
        Ok(ReadObject {
            object,
            release,
            is_too_large: false,
        })
    }

    /// Returns the contradictions within a shared release, and those with own facts that were computed or signed.
    fn conflicts_with_own(&self, release: &SharedRelease) -> Vec<FactConflict> {
        let mut conflicts = release.conflicts.clone();
        for shared in release.facts.values() {
            if let Some(own) = self.own.find(&shared.fact.zh)
                && self.is_witness(&own.origin)
                && own.fact.contradicts(&shared.fact)
            {
                conflicts.push(FactConflict {
                    first: StoredFact::clone(&own),
                    second: shared.clone(),
                });
            }
        }
        conflicts
    }

    /// Returns true if a fact of this origin was computed here, or signed by a trusted key.
    fn is_witness(&self, origin: &FactOrigin) -> bool {
        match origin {
            FactOrigin::Computed => true,
            // A key that is not trusted any more may have signed what was imported.
            FactOrigin::Signed(key) => self.store.keys.iter().any(|known| known.shown() == *key),
            FactOrigin::Imported(_) => false,
        }
    }

    /// Adds to the object of a release, again and again while others change it at the same time.
    fn add(
        &self,
        objects: &dyn SharedObjects,
        key: &str,
        (provider, version): (&ProviderAddr, &Version),
        learned: &Learned,
        signer: &FactSigner,
    ) -> io::Result<Addition> {
        let mut pause = PAUSE;
        let mut read = lock(&self.state).read.get(key).cloned();
        for attempt in 0..ATTEMPTS {
            let current = match read.take() {
                Some(current) => current,
                None => Arc::new(self.read(key, provider, version)?),
            };
            if current.is_too_large {
                return Ok(Addition::TooLarge);
            }
            let conflicts = self.conflicts_with_own(&current.release);
            if !conflicts.is_empty() {
                lock(&self.state)
                    .conflicts
                    .insert(key.to_owned(), conflicts);
                return Ok(Addition::Conflict);
            }
            // Of many jobs that computed the same fact, one adds it and the others find it here.
            let Some(new) = learned.beyond(&current.release) else {
                return Ok(Addition::NothingNew);
            };
            let before = current.object.as_ref();
            let bytes = before.map_or(&[][..], |object| &object.bytes);
            let text = new.object(bytes, signer, self.store.clock.now());
            if text.len() as u64 > MAX_SHARED_BYTES {
                return Ok(Addition::TooLarge);
            }
            if objects.put(key, text.as_bytes(), before)? {
                return Ok(Addition::Added);
            }
            // Machines that lost at the same moment must not meet again at the next one.
            let share = process::id().wrapping_mul(attempt + 1) % 100;
            self.store.clock.sleep(pause * share / 100);
            pause = (pause * 2).min(SHARED_TIME_LIMIT / 4);
        }
        Ok(Addition::Outrun)
    }

    fn learn(&self, provider: &ProviderAddr, version: &Version, add: impl FnOnce(&mut Learned)) {
        let key = releases::key(provider, version);
        let mut state = lock(&self.state);
        let (_, _, learned) = state
            .learned
            .entry(key)
            .or_insert_with(|| (provider.clone(), version.clone(), Learned::default()));
        add(learned);
    }
}

impl Facts for SharedFacts<'_> {
    fn find(&self, zh: &Hash) -> Option<Arc<StoredFact>> {
        let own = self.own.find(zh);
        match &own {
            Some(stored) if stored.origin == FactOrigin::Computed => own,
            _ => {
                let shared = lock(&self.state).facts.get(zh).cloned();
                let is_imported =
                    |stored: &Arc<StoredFact>| matches!(stored.origin, FactOrigin::Imported(_));
                shared.or(own.filter(|own| is_imported(own) || self.is_witness(&own.origin)))
            }
        }
    }

    fn keep(&self, fact: &Fact) {
        self.own.keep(fact);
        let shared = lock(&self.state).facts.get(&fact.zh).cloned();
        if let Some(shared) = shared.filter(|shared| shared.fact.contradicts(fact)) {
            let conflict = FactConflict {
                first: StoredFact {
                    fact: fact.clone(),
                    origin: FactOrigin::Computed,
                    since: shared.since,
                },
                second: StoredFact::clone(&shared),
            };
            let key = releases::key(&fact.id.provider, &fact.id.version);
            lock(&self.state)
                .conflicts
                .entry(key)
                .or_default()
                .push(conflict);
        }
        self.learn(&fact.id.provider, &fact.id.version, |learned| {
            learned.facts.insert(fact.zh.clone(), fact.clone());
        });
    }

    fn release(&self, provider: &ProviderAddr, version: &Version) -> Option<Arc<StoredRelease>> {
        let own = self.own.release(provider, version);
        let state = lock(&self.state);
        let shared = state.read.get(&releases::key(provider, version));
        let shared = shared.and_then(|read| read.release.release.as_ref());
        match (own, shared) {
            (Some(own), Some(shared)) if own.release.unseen() > shared.release.unseen() => {
                Some(Arc::new(shared.clone()))
            }
            (None, Some(shared)) => Some(Arc::new(shared.clone())),
            (own, _) => own,
        }
    }

    fn keep_release(&self, release: &ReleaseFact) {
        self.own.keep_release(release);
        self.learn(&release.provider, &release.version, |learned| {
            learned.release = Some(release.clone());
        });
    }

    fn contents(&self, zh: &Hash) -> Option<StoredContents> {
        self.own.contents(zh)
    }

    fn keep_contents(&self, zh: &Hash, contents: &ProgramContents) {
        self.own.keep_contents(zh, contents);
    }

    fn read_ahead(&self, wanted: &[(ProviderAddr, Version)]) {
        let mut missing = Vec::new();
        for (provider, version) in wanted {
            let key = releases::key(provider, version);
            // What this machine has computed itself needs no other witness.
            let is_complete = |stored: Arc<StoredRelease>| {
                stored.origin == FactOrigin::Computed
                    && stored.release.lists_release
                    && stored.release.unseen() == 0
            };
            let state = lock(&self.state);
            if state.failure.is_some() || state.read.contains_key(&key) {
                continue;
            }
            drop(state);
            if !self.own.release(provider, version).is_some_and(is_complete) {
                missing.push((key, provider, version));
            }
        }
        missing.dedup();
        let objects = parallel::map(REQUESTS, &missing, |(key, provider, version)| {
            if lock(&self.state).failure.is_some() {
                return None;
            }
            let read = self.read(key, provider, version);
            read.map_err(|error| self.fail(&error)).ok()
        });
        for (read, (key, _, _)) in objects.into_iter().zip(missing) {
            let Some(read) = read else { continue };
            let conflicts = self.conflicts_with_own(&read.release);
            let mut state = lock(&self.state);
            // A fact that is contradicted must not replace a download before the alarm is raised.
            for (zh, fact) in &read.release.facts {
                if conflicts
                    .iter()
                    .all(|conflict| conflict.first.fact.zh != *zh)
                {
                    state.facts.insert(zh.clone(), Arc::new(fact.clone()));
                }
            }
            if !conflicts.is_empty() {
                state.conflicts.insert(key.clone(), conflicts);
            }
            state.read.insert(key, Arc::new(read));
        }
    }

    fn conflicts(&self, provider: &ProviderAddr, version: &Version) -> Vec<FactConflict> {
        let key = releases::key(provider, version);
        let state = lock(&self.state);
        state.conflicts.get(&key).cloned().unwrap_or_default()
    }
}

/// The objects that `cache gc` removed and kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CollectionCounts {
    pub removed: usize,
    pub kept: usize,
}

/// Removes the objects that no machine has added to for so long, or counts them.
///
/// # Errors
/// If the store fails; some objects may have been removed.
pub fn collect(
    objects: &dyn SharedObjects,
    clock: &dyn Clock,
    older_than: Duration,
    is_dry: bool,
) -> io::Result<CollectionCounts> {
    let keys = objects.list(releases::RELEASES)?;
    let since = clock.now() - older_than;
    let since = since
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap_or_default();
    let removed = parallel::map(REQUESTS, &keys, |key| {
        let object = match objects.get(key, MAX_SHARED_BYTES) {
            // It is above the limit: readers refuse it, and writers cannot add to it.
            Err(error) if error.kind() == io::ErrorKind::FileTooLarge => None,
            object => match object? {
                Some(object) => Some(object),
                None => return Ok::<_, io::Error>(false),
            },
        };
        let is_young = |object: &VersionedObject| object::latest(&object.bytes) >= since.as_secs();
        if object.as_ref().is_some_and(is_young) {
            return Ok(false);
        }
        Ok(is_dry || objects.remove(key, object.as_ref())?)
    });
    let mut counts = CollectionCounts::default();
    for removed in removed {
        if removed? {
            counts.removed += 1;
        } else {
            counts.kept += 1;
        }
    }
    Ok(counts)
}
