//! Small objects under keys, shared by any number of processes.

use std::fmt;
use std::io;
use std::ops::Deref;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, SystemTime};

/// Maximum number of notes in one run.
const MAX_NOTES: usize = 20;

/// Small objects under keys, shared by any number of processes.
///
/// A key is some words of lower-case letters, digits and `-`, with slashes between them. To use
/// objects no list is needed, so a service that keeps objects by key will do as well as a directory.
pub trait Objects: Send + Sync {
    /// Makes sure that objects can be used, if there are any.
    ///
    /// # Errors
    /// If nothing here can be trusted.
    fn check(&self) -> io::Result<()>;

    /// Returns an object, if there is one.
    ///
    /// # Errors
    /// `FileTooLarge` if it has more than `limit` bytes; else if it cannot be read or trusted.
    fn get(&self, key: &str, limit: u64) -> io::Result<Option<Vec<u8>>>;

    /// Puts an object under a key, in one atomic step; one that is there is replaced.
    ///
    /// It may be lost or damaged if the machine stops soon after, so it must carry its own check.
    ///
    /// # Errors
    /// If it cannot be written; then what was there is as it was.
    fn put(&self, key: &str, bytes: &[u8]) -> io::Result<()>;

    /// Returns what is below `above`, which is a key or a part of one that ends before a slash, sorted by key.
    ///
    /// An entry whose name is no valid key is left out.
    ///
    /// # Errors
    /// If that cannot be listed.
    fn measure(&self, above: &str) -> io::Result<Vec<ObjectSize>>;

    /// Returns the keys below `above`, as [`measure`](Self::measure) does.
    ///
    /// # Errors
    /// If they cannot be listed.
    fn list(&self, above: &str) -> io::Result<Vec<String>> {
        let objects = self.measure(above)?;
        Ok(objects.into_iter().map(|object| object.key).collect())
    }

    /// Removes an object of any kind, if there is one.
    ///
    /// # Errors
    /// If it is still there.
    fn remove(&self, key: &str) -> io::Result<()>;
}

/// Time limit of an operation on objects that other machines change.
///
/// A run waits for it once: after the first operation that takes longer it goes on without them.
pub const SHARED_TIME_LIMIT: Duration = Duration::from_secs(2);

/// Objects that other machines change at the same time.
///
/// Keys are those of [`Objects`]. Every operation ends within [`SHARED_TIME_LIMIT`], and so does each part of a list.
pub trait SharedObjects: Send + Sync {
    /// Returns an object with its version, if there is one.
    ///
    /// # Errors
    /// `FileTooLarge` if it has more than `limit` bytes; else if it cannot be read in time.
    fn get(&self, key: &str, limit: u64) -> io::Result<Option<VersionedObject>>;

    /// Puts an object if it still has the version `over`, or if there still is none; else returns false.
    ///
    /// # Errors
    /// If it cannot be written in time. It may have been written even so.
    fn put(&self, key: &str, bytes: &[u8], over: Option<&VersionedObject>) -> io::Result<bool>;

    /// Returns the keys below `above`, sorted.
    ///
    /// # Errors
    /// If they cannot be listed.
    fn list(&self, above: &str) -> io::Result<Vec<String>>;

    /// Removes an object; `None` if it is too large to be read. Returns false if it was changed since it was read,
    /// and stays: in a bucket that is not compared.
    ///
    /// # Errors
    /// If it cannot be removed.
    fn remove(&self, key: &str, read: Option<&VersionedObject>) -> io::Result<bool>;
}

/// An object as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VersionedObject {
    pub bytes: Vec<u8>,
    /// The version that the store states; empty if it states none.
    pub tag: String,
}

/// An object that is there.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ObjectSize {
    /// The key of the object.
    pub key: String,
    /// Its length in bytes.
    pub bytes: u64,
    /// When it was put.
    pub written: SystemTime,
}

/// Objects without which a run goes on where they cannot be used; notes give the reasons.
pub struct NotedObjects<'a> {
    objects: Box<dyn Objects + 'a>,
    /// The name of all of them in a note.
    name: &'static str,
    /// The objects can be read and written. Determined by the first request.
    usable: OnceLock<bool>,
    /// The objects that could not be used, each once.
    notes: Mutex<Vec<String>>,
}

impl<'a> NotedObjects<'a> {
    /// Takes objects that notes call by this name, as in `the store`.
    #[must_use]
    pub fn new(objects: Box<dyn Objects + 'a>, name: &'static str) -> Self {
        Self {
            objects,
            name,
            usable: OnceLock::new(),
            notes: Mutex::default(),
        }
    }

    /// Returns true if the objects can be used at all; the first time a note gives the reason if not.
    #[must_use]
    pub fn is_usable(&self) -> bool {
        *self.usable.get_or_init(|| match self.objects.check() {
            Ok(()) => true,
            Err(error) => {
                self.note(&format!("{} was ignored", self.name), &error);
                false
            }
        })
    }

    /// Notes what could not be done, and why.
    pub fn note(&self, what: &str, why: &dyn fmt::Display) {
        let note = format!("{what}: {why}");
        let mut notes = self.locked_notes();
        // Thousands of roots may meet the same damage.
        if notes.len() < MAX_NOTES && !notes.contains(&note) {
            notes.push(note);
        }
    }

    /// Returns the notes, sorted.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        let mut notes = self.locked_notes().clone();
        notes.sort();
        notes
    }

    fn locked_notes(&self) -> MutexGuard<'_, Vec<String>> {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<'a> Deref for NotedObjects<'a> {
    type Target = dyn Objects + 'a;

    fn deref(&self) -> &Self::Target {
        &*self.objects
    }
}

/// Returns whether a text can be one word of a key.
#[must_use]
pub fn is_key_word(word: &str) -> bool {
    // Keys become paths: no `..` may come of them, nor two names that differ in case alone, which are one file
    // on macOS and Windows.
    let is_plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
    !word.is_empty() && word.bytes().all(is_plain)
}
