//! Facts that outlive a run: the content of the zip with a `zh:` hash.
//!
//! An `h1:` is a function of the zip that a `zh:` names, so a fact is true for ever, and replaces another
//! download of that zip. Each fact is one small object under a key that its `zh:` gives: there is no index and
//! nothing needs a list, so any number of processes may read and write at once, and any storage of objects by
//! key will do. An object carries a check, which finds damage, not forgery: the store is as trustworthy as its
//! directory.
//!
//! Beside the facts there is one object for each release, under a key that its provider and version give: the
//! files of its signed lists, its signers and its dates. The build information of a package's program is an
//! object of its own, too, since few commands need it.
//!
//! Nothing here stops a run. An object that cannot be read counts as missing, and a note gives the reason.

pub mod answers;
mod contents;
mod export;
mod export_contents;
mod release_text;
mod releases;
pub mod shared;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_contents;
#[cfg(test)]
mod tests_releases;
mod text;
mod upkeep;

pub mod rules {
    #![doc = include_str!("rules.md")]
}

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::addr::ProviderAddr;
use crate::contents::ProgramContents;
use crate::hash::{Hash, Scheme};
use crate::package::{Fact, ReleaseFact};
use crate::version::Version;
use crate::world::{Clock, NotedObjects, Objects};

use self::shared::FactConflict;

pub use contents::{MAX_CONTENTS_BYTES, MAX_CONTENTS_PER_GROUP, StoredContents};
pub use export::{Export, MAX_EXPORT_BYTES, export, import};
pub use text::{FactError, name_of_import};
pub use upkeep::{Contradiction, ImportCounts, Inventory, Removal, RemovalCounts};

/// Maximum size of an object, in bytes.
pub const MAX_OBJECT_BYTES: u64 = 16 * 1024;

/// Maximum number of facts with the same first two digits of their `zh:`; there are 256 such groups.
pub const MAX_PER_GROUP: usize = 128;

/// Age when a fact is removed. A run that still needs the package computes it again.
pub const MAX_AGE: Duration = Duration::from_secs(2 * 365 * 24 * 60 * 60);

/// Maximum difference between the clocks of machines that share a store, in seconds.
const MAX_CLOCK_SKEW: u64 = 24 * 60 * 60;

/// Maximum number of answers that are remembered within one run.
const MAX_REMEMBERED: usize = 20_000;

/// Directory of all facts. Another format would have another number.
const FACTS: &str = "facts-1";

/// A fact in the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredFact {
    pub fact: Fact,
    /// The run or the import that it comes from.
    pub origin: FactOrigin,
    /// The time of its storage, in seconds since 1970.
    pub since: u64,
}

/// A release in the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredRelease {
    pub release: Arc<ReleaseFact>,
    /// The runs or the import that it comes from.
    pub origin: FactOrigin,
    /// The time of its last change, in seconds since 1970.
    pub since: u64,
}

/// Who computed a fact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FactOrigin {
    /// This program, for the user of the store.
    Computed,
    /// Another user or machine, by the name of the import.
    Imported(String),
    /// Another machine, by the name and ID of the key that signed it.
    Signed(String),
}

/// A source of facts about packages.
pub trait Facts: Sync {
    /// Returns the fact about the zip of a `zh:` hash, if there is one.
    fn find(&self, _zh: &Hash) -> Option<Arc<StoredFact>> {
        None
    }

    /// Keeps a fact that this run computed, if that is possible.
    fn keep(&self, _fact: &Fact) {}

    /// Returns what is known of a release, if anything is; one read.
    fn release(&self, _: &ProviderAddr, _: &Version) -> Option<Arc<StoredRelease>> {
        None
    }

    /// Adds what this run found out about a release, if that is possible.
    fn keep_release(&self, _release: &ReleaseFact) {}

    /// Returns the contents of the program in the zip of a `zh:` hash, if they were read; one read.
    fn contents(&self, _zh: &Hash) -> Option<StoredContents> {
        None
    }

    /// Keeps contents that this run read, if that is possible.
    fn keep_contents(&self, _zh: &Hash, _contents: &ProgramContents) {}

    /// Reads what other machines share about releases, side by side; each release once in a run.
    fn read_ahead(&self, _releases: &[(ProviderAddr, Version)]) {}

    /// Returns the facts about a release that contradict each other, if a signed one is among them.
    fn conflicts(&self, _: &ProviderAddr, _: &Version) -> Vec<FactConflict> {
        Vec::new()
    }
}

/// A store without facts that keeps none.
#[derive(Clone, Copy, Debug)]
pub struct NoFacts;

/// Keeps computed facts and finds none: for runs that prove everything again.
#[derive(Clone, Copy)]
pub struct KeepOnly<'a>(pub &'a dyn Facts);

/// The store of a user.
pub struct Store<'a> {
    objects: NotedObjects<'a>,
    clock: &'a dyn Clock,
    /// The answers so far, by `zh:`.
    answers: Mutex<BTreeMap<Hash, Option<Arc<StoredFact>>>>,
    /// The releases that were asked about, by their keys.
    releases: Mutex<BTreeMap<String, Option<Arc<StoredRelease>>>>,
}

impl Facts for NoFacts {}

impl Facts for KeepOnly<'_> {
    fn keep(&self, fact: &Fact) {
        self.0.keep(fact);
    }

    fn keep_release(&self, release: &ReleaseFact) {
        self.0.keep_release(release);
    }

    fn keep_contents(&self, zh: &Hash, contents: &ProgramContents) {
        self.0.keep_contents(zh, contents);
    }

    // What is computed now is compared with signed facts, which replace nothing.
    fn read_ahead(&self, releases: &[(ProviderAddr, Version)]) {
        self.0.read_ahead(releases);
    }

    fn conflicts(&self, provider: &ProviderAddr, version: &Version) -> Vec<FactConflict> {
        self.0.conflicts(provider, version)
    }
}

impl Facts for Store<'_> {
    fn find(&self, zh: &Hash) -> Option<Arc<StoredFact>> {
        if let Some(answer) = lock(&self.answers).get(zh) {
            return answer.clone();
        }
        let answer = self
            .read(&key(zh)?)
            .filter(|stored| !self.is_old(stored))
            .map(Arc::new);
        let mut answers = lock(&self.answers);
        // A run over thousands of roots must not keep every answer in memory; the object is read again
        // then.
        if answers.len() < MAX_REMEMBERED {
            answers.insert(zh.clone(), answer.clone());
        }
        answer
    }

    fn keep(&self, fact: &Fact) {
        if let Err(error) = self.put(fact, FactOrigin::Computed) {
            self.objects.note("facts could not be kept", &error);
        }
    }

    fn release(&self, provider: &ProviderAddr, version: &Version) -> Option<Arc<StoredRelease>> {
        let key = releases::key(provider, version);
        if let Some(answer) = lock(&self.releases).get(&key) {
            return answer.clone();
        }
        let answer = self.read_release(&key).map(Arc::new);
        let mut releases = lock(&self.releases);
        if releases.len() < MAX_REMEMBERED {
            releases.insert(key, answer.clone());
        }
        answer
    }

    fn keep_release(&self, release: &ReleaseFact) {
        if let Err(error) = self.put_release(release, FactOrigin::Computed) {
            self.objects.note("facts could not be kept", &error);
        }
    }

    fn contents(&self, zh: &Hash) -> Option<StoredContents> {
        self.read_contents(&key_in(contents::CONTENTS, zh)?)
    }

    fn keep_contents(&self, zh: &Hash, contents: &ProgramContents) {
        if let Err(error) = self.put_contents(zh, contents, FactOrigin::Computed) {
            self.objects.note("facts could not be kept", &error);
        }
    }
}

impl StoredFact {
    /// Returns the time of its storage.
    #[must_use]
    pub fn since(&self) -> SystemTime {
        UNIX_EPOCH
            .checked_add(Duration::from_secs(self.since))
            .unwrap_or(UNIX_EPOCH)
    }
}

impl<'a> Store<'a> {
    /// Keeps facts among these objects.
    #[must_use]
    pub fn new(objects: Box<dyn Objects + 'a>, clock: &'a dyn Clock) -> Self {
        Self {
            objects: NotedObjects::new(objects, "the store"),
            clock,
            answers: Mutex::default(),
            releases: Mutex::default(),
        }
    }

    /// Returns notes on objects that could not be used, sorted.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        self.objects.notes()
    }

    /// Returns true if a fact has been kept for more than [`MAX_AGE`], or since a time in the future.
    #[must_use]
    pub fn is_old(&self, stored: &StoredFact) -> bool {
        self.is_out_of_date(stored.since)
    }

    /// Returns true for a time that is too long ago, or in the future.
    fn is_out_of_date(&self, since: u64) -> bool {
        let now = self.now();
        let age = now.saturating_sub(since);
        // A time in the future would keep the fact for ever (rules 2.3); clocks of machines that share a
        // directory may differ a little.
        since > now + MAX_CLOCK_SKEW || age > MAX_AGE.as_secs()
    }

    /// Puts a fact into the store; one that was computed here is not replaced by an imported one.
    ///
    /// # Errors
    /// If the object cannot be written.
    pub fn put(&self, fact: &Fact, origin: FactOrigin) -> io::Result<()> {
        let Some(key) = key(&fact.zh).filter(|_| self.objects.is_usable()) else {
            return Ok(());
        };
        let existing = self.read(&key).filter(|stored| !self.is_old(stored));
        if let Some(existing) = existing
            && existing.origin == FactOrigin::Computed
        {
            if existing.fact.h1 == fact.h1 || origin != FactOrigin::Computed {
                return Ok(());
            }
            // The zip was hashed again in this run, and the check of an object detects damage only: so
            // the object is the one that is wrong.
            self.objects.note(
                &format!("{key} was replaced"),
                &"its h1: is not that of the package",
            );
        }
        self.make_room(group(&key), MAX_PER_GROUP, |key| {
            Some(self.read(key)?.since)
        })?;
        let stored = StoredFact {
            fact: fact.clone(),
            origin,
            since: self.now(),
        };
        // One atomic step, so that two processes may write at once (rules 2.2).
        self.objects.put(&key, text::object(&stored).as_bytes())?;
        lock(&self.answers).remove(&fact.zh);
        Ok(())
    }

    /// Removes the older half of a group that is full.
    fn make_room(
        &self,
        group: &str,
        limit: usize,
        since: impl Fn(&str) -> Option<u64>,
    ) -> io::Result<()> {
        let keys = self.objects.list(group)?;
        if keys.len() < limit {
            return Ok(());
        }
        // Objects that cannot be read have no time and go first.
        let mut keys: Vec<(Option<u64>, String)> =
            keys.into_iter().map(|key| (since(&key), key)).collect();
        keys.sort();
        // Half of them at once, so that this is rarely needed.
        for (_, key) in &keys[..keys.len() / 2] {
            self.objects.remove(key)?;
        }
        Ok(())
    }

    fn read(&self, key: &str) -> Option<StoredFact> {
        let (fact, _) = self.noted(key, self.load(key))?;
        Some(fact)
    }

    /// Returns what was loaded; an object that cannot be used counts as missing, and a note gives the reason.
    fn noted<T>(&self, key: &str, loaded: Result<Option<T>, ObjectError>) -> Option<T> {
        loaded.unwrap_or_else(|why| {
            self.objects.note(&format!("{key} was ignored"), &why);
            None
        })
    }

    /// Reads the fact of a key, if there is one; returns the length of its object in bytes as well.
    fn load(&self, key: &str) -> Result<Option<(StoredFact, u64)>, ObjectError> {
        let key_of = |stored: &StoredFact| self::key(&stored.fact.zh);
        self.load_as(key, MAX_OBJECT_BYTES, text::parse_object, key_of)
    }

    fn load_as<T>(
        &self,
        key: &str,
        limit: u64,
        parse: impl Fn(&[u8]) -> Result<T, FactError>,
        key_of: impl Fn(&T) -> Option<String>,
    ) -> Result<Option<(T, u64)>, ObjectError> {
        if !self.objects.is_usable() {
            return Ok(None);
        }
        let Some(bytes) = self.objects.get(key, limit)? else {
            return Ok(None);
        };
        let stored = parse(&bytes)?;
        // A file that was copied to another name would make one package or release pass for another.
        if key_of(&stored).as_deref() != Some(key) {
            return Err(ObjectError::Misplaced);
        }
        Ok(Some((stored, bytes.len() as u64)))
    }

    fn now(&self) -> u64 {
        self.clock
            .now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |now| now.as_secs())
    }
}

/// An object that is not used.
#[derive(Debug, thiserror::Error)]
enum ObjectError {
    #[error(transparent)]
    Unreadable(#[from] io::Error),
    #[error(transparent)]
    NoFact(#[from] FactError),
    #[error("it is about another package or release")]
    Misplaced,
}

/// Returns the key of the fact about a `zh:` hash, if it is one.
fn key(zh: &Hash) -> Option<String> {
    key_in(FACTS, zh)
}

/// Returns the key of an object of a kind about a `zh:` hash, if it is one.
fn key_in(kind: &str, zh: &Hash) -> Option<String> {
    let digits = zh.value();
    // The digits become a file name, so nothing but 64 hexadecimal digits may be there.
    let is_sound = zh.scheme() == Scheme::Zh && zh.is_well_formed();
    is_sound.then(|| format!("{kind}/{}/{digits}", &digits[..2]))
}

/// Returns the group of a key.
fn group(key: &str) -> &str {
    key.rsplit_once('/').map_or(FACTS, |(group, _)| group)
}

/// Locks a value that is whole at any moment.
fn lock<T>(value: &Mutex<T>) -> MutexGuard<'_, T> {
    value.lock().unwrap_or_else(PoisonError::into_inner)
}
