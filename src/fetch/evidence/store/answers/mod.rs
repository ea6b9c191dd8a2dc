//! Answers of servers about remote modules and advisories, kept for the next run and for other roots (`modules`
//! rules 4).
//!
//! The question holds everything that an answer depends on; a question is a text, and its hash is the key
//! of the object. So no list is needed to find one, and any number of processes may read and write at once.
//! An object carries its question and a check, which finds damage, not forgery: the cache is as trustworthy
//! as its directory.
//!
//! Nothing here stops a run. An object that cannot be read counts as missing, and a note gives the reason.

mod object;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::io;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::hash::{hex_of_digest, sha256};
use crate::world::{Clock, NotedObjects, ObjectSize, Objects};

/// Directory of all answers. Another format would have another number.
const ANSWERS: &str = "answers-1";

/// Maximum size of an object, in bytes: a package holds little more than the configuration in it.
pub const MAX_OBJECT_BYTES: u64 = 96 << 20;

/// Maximum size of all objects together, in bytes. A large organisation has some thousand versions of
/// modules, each with some 100 kB of configuration.
pub const MAX_CACHE_BYTES: u64 = 1 << 30;

/// Maximum number of objects of one kind with the same first two digits; there are 256 such groups.
pub const MAX_PER_GROUP: usize = 128;

/// Age when an answer is removed. A run that still needs it asks again.
pub const MAX_AGE: Duration = Duration::from_secs(180 * 24 * 60 * 60);

/// Maximum difference between the clocks of machines that share a cache.
const MAX_CLOCK_SKEW: Duration = Duration::from_secs(24 * 60 * 60);

/// The subject of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AnswerKind {
    /// The files of a package that never changes: of a commit, a version, an archive with a checksum.
    Packages,
    /// The location that a registry states for a version.
    Locations,
    Versions,
    /// The commit that a name in a repository points to.
    Refs,
    /// The contents of a release, of which no document changes; they count at any age.
    Releases,
    /// The documents of a database of advisories. They count at any age, because the index of the database states
    /// which of them changed.
    Advisories,
}

impl AnswerKind {
    /// All kinds, in the order of their names.
    pub const ALL: [Self; 6] = [
        Self::Advisories,
        Self::Locations,
        Self::Packages,
        Self::Refs,
        Self::Releases,
        Self::Versions,
    ];

    /// Returns true if an object is of the kind.
    #[must_use]
    pub fn has(self, object: &ObjectSize) -> bool {
        object.key.starts_with(&format!("{}/", self.directory()))
    }

    /// Returns the part of keys that all objects of the kind have.
    fn directory(self) -> String {
        format!("{ANSWERS}/{}", self.word())
    }

    fn word(self) -> &'static str {
        match self {
            Self::Packages => "packages",
            Self::Locations => "locations",
            Self::Versions => "versions",
            Self::Refs => "refs",
            Self::Releases => "releases",
            Self::Advisories => "advisories",
        }
    }
}

/// An answer that was kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptAnswer {
    /// The answer, as it was given to [`AnswerCache::keep`].
    pub answer: Vec<u8>,
    /// The time when it was stored.
    pub since: SystemTime,
}

/// The cache of a user.
pub struct AnswerCache<'a> {
    objects: NotedObjects<'a>,
    clock: &'a dyn Clock,
}

/// The number and size of the objects in a cache.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AnswerInventory {
    /// The objects of each kind.
    pub kinds: BTreeMap<AnswerKind, KindInventory>,
}

/// The number and size of the objects of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KindInventory {
    pub objects: usize,
    pub bytes: u64,
    /// The number of objects that are older than [`MAX_AGE`].
    pub old: usize,
}

impl AnswerInventory {
    /// Returns the objects of a kind.
    #[must_use]
    pub fn of(&self, kind: AnswerKind) -> KindInventory {
        self.kinds.get(&kind).copied().unwrap_or_default()
    }
}

impl<'a> AnswerCache<'a> {
    /// Keeps answers among these objects.
    #[must_use]
    pub fn new(objects: Box<dyn Objects + 'a>, clock: &'a dyn Clock) -> Self {
        Self {
            objects: NotedObjects::new(objects, "the cache"),
            clock,
        }
    }

    /// Returns the answer to a question, if one is kept that is not too old.
    #[must_use]
    pub fn find(&self, kind: AnswerKind, question: &str) -> Option<KeptAnswer> {
        if !self.objects.is_usable() {
            return None;
        }
        let key = key(kind, question);
        let ignored = format!("{key} was ignored");
        let bytes = match self.objects.get(&key, MAX_OBJECT_BYTES) {
            Ok(bytes) => bytes?,
            Err(error) => {
                self.objects.note(&ignored, &error);
                return None;
            }
        };
        let Some(answer) = object::read(&bytes, question) else {
            self.objects
                .note(&ignored, &"it is damaged, or answers another question");
            return None;
        };
        // An old answer stays on the disk until it is removed, so its age is checked here, too.
        let is_lasting = matches!(kind, AnswerKind::Advisories | AnswerKind::Releases);
        (is_lasting || !self.is_old(answer.since)).then_some(answer)
    }

    /// Keeps the answer to a question, if that is possible.
    pub fn keep(&self, kind: AnswerKind, question: &str, answer: &[u8]) {
        if !self.objects.is_usable() {
            return;
        }
        let bytes = object::write(question, self.clock.now(), answer);
        let length = bytes.len() as u64;
        let kept = if length > MAX_OBJECT_BYTES {
            Err(io::ErrorKind::FileTooLarge.into())
        } else {
            let key = key(kind, question);
            self.make_room(kind, &key, length)
                .and_then(|()| self.objects.put(&key, &bytes))
        };
        if let Err(error) = kept {
            let what = format!("an answer ({}) could not be kept", kind.word());
            self.objects.note(&what, &error);
        }
    }

    /// Returns notes on objects that could not be used, sorted.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        self.objects.notes()
    }

    /// Counts the objects of each kind.
    ///
    /// # Errors
    /// If the objects cannot be used or listed.
    pub fn inventory(&self) -> io::Result<AnswerInventory> {
        self.objects.check()?;
        let mut inventory = AnswerInventory::default();
        for kind in AnswerKind::ALL {
            let objects = self.objects.measure(&kind.directory())?;
            let is_old = |object: &&ObjectSize| self.is_old(object.written);
            inventory.kinds.insert(
                kind,
                KindInventory {
                    objects: objects.len(),
                    bytes: objects.iter().map(|object| object.bytes).sum(),
                    old: objects.iter().filter(is_old).count(),
                },
            );
        }
        Ok(inventory)
    }

    /// Lists the objects that are too old, or all of them.
    ///
    /// # Errors
    /// If the objects cannot be used or listed.
    pub fn removable(&self, wanted: AnswerRemoval) -> io::Result<Vec<ObjectSize>> {
        self.objects.check()?;
        // Objects of all kinds, and other files in the directory.
        let mut objects = self.objects.measure(ANSWERS)?;
        objects.retain(|object| {
            let is_lasting = AnswerKind::Releases.has(object);
            wanted == AnswerRemoval::Everything || self.is_old(object.written) && !is_lasting
        });
        Ok(objects)
    }

    /// Removes objects from the directory.
    ///
    /// # Errors
    /// If one of them is still there.
    pub fn remove(&self, objects: &[ObjectSize]) -> io::Result<()> {
        objects
            .iter()
            .try_for_each(|object| self.objects.remove(&object.key))
    }

    /// Removes the oldest objects where one more would be too many.
    fn make_room(&self, kind: AnswerKind, key: &str, bytes: u64) -> io::Result<()> {
        let group = self.objects.measure(super::group(key))?;
        if group.len() >= MAX_PER_GROUP {
            // Down to three quarters, so that this is rarely needed.
            self.thin(group, |count, _| count > MAX_PER_GROUP / 4 * 3)?;
        }
        // Only packages are large: answers of another kind, of some hundred bytes each, stay far below the limit.
        if kind != AnswerKind::Packages {
            return Ok(());
        }
        let all = self.objects.measure(ANSWERS)?;
        let with_new = all
            .iter()
            .fold(bytes, |sum, object| sum.saturating_add(object.bytes));
        if with_new > MAX_CACHE_BYTES {
            self.thin(all, |_, left| {
                left.saturating_add(bytes) > MAX_CACHE_BYTES / 4 * 3
            })?;
        }
        Ok(())
    }

    /// Removes objects, the oldest first, as long as there is too much by number or bytes.
    fn thin(
        &self,
        mut objects: Vec<ObjectSize>,
        is_too_much: impl Fn(usize, u64) -> bool,
    ) -> io::Result<()> {
        // The key as well, so that two processes remove the same objects.
        objects.sort_by(|a, b| (a.written, &a.key).cmp(&(b.written, &b.key)));
        let mut bytes: u64 = objects.iter().map(|object| object.bytes).sum();
        let mut count = objects.len();
        for object in objects {
            if !is_too_much(count, bytes) {
                break;
            }
            self.objects.remove(&object.key)?;
            bytes = bytes.saturating_sub(object.bytes);
            count -= 1;
        }
        Ok(())
    }

    /// Returns whether something was kept too long, or since a time to come.
    fn is_old(&self, since: SystemTime) -> bool {
        let now = self.clock.now();
        let age = now.duration_since(since).unwrap_or_default();
        since > now + MAX_CLOCK_SKEW || age > MAX_AGE
    }
}

/// The objects to remove from a cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerRemoval {
    Old,
    Everything,
}

/// Returns the key of a question.
fn key(kind: AnswerKind, question: &str) -> String {
    let digits = hex_of_digest(&sha256(question.as_bytes()));
    format!("{}/{}/{digits}", kind.directory(), &digits[..2])
}

/// Returns a time as seconds since 1970.
fn seconds(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs())
}
