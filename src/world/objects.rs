//! Small objects under keys, shared by any number of processes.

use std::io;
use std::time::SystemTime;

/// Small objects under keys, shared by any number of processes.
///
/// A key is some words of lower-case letters, digits and `-`, with slashes between them. To use
/// objects no list is needed, so a service that keeps objects by key will do as well as a directory.
pub trait Objects: Sync {
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
    /// Whatever has a name that no key has is left out.
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

    /// Removes an object, if there is one, whatever it is.
    ///
    /// # Errors
    /// If it is still there.
    fn remove(&self, key: &str) -> io::Result<()>;
}

/// An object that is there.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ObjectSize {
    /// The key under which it was put.
    pub key: String,
    /// Its length in bytes.
    pub bytes: u64,
    /// When it was put.
    pub written: SystemTime,
}

/// Returns whether a text can be one word of a key.
#[must_use]
pub fn is_key_word(word: &str) -> bool {
    // Keys become paths: no `..` may come of them, nor two names that differ in case alone, which are one file
    // on macOS and Windows.
    let is_plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
    !word.is_empty() && word.bytes().all(is_plain)
}
