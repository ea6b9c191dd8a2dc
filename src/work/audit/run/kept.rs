//! Documents of a database in the user's cache; each is an object with its own check.
//!
//! ```text
//! lockctl advisory document 1
//! 1795338000
//! "etag"                              empty if the server gave none
//! 2026-08-21T20:38:00Z                the date of the content, as its index states it
//! zh:…                                of what follows
//! the document
//! ```

use std::collections::BTreeMap;
use std::io;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::hash;
use crate::world::{NotedObjects, ObjectSize, Objects};

/// Directory of all documents. Another format would have another number.
const DOCUMENTS: &str = "advisories-1";

const HEADER: &str = "lockctl advisory document 1";

/// Maximum size of an object without its document, in bytes.
const MAX_HEAD_BYTES: u64 = 1024;

/// Number of digits of the name of a database.
const NAME_DIGITS: usize = 16;

/// Age when a database is removed, counted from the last request to its server.
const MAX_AGE: Duration = Duration::from_secs(180 * 24 * 60 * 60);

/// The kept documents of one database.
pub(super) struct KeptDocuments<'a> {
    /// `None` if nothing is kept.
    objects: Option<NotedObjects<'a>>,
    directory: String,
}

/// A kept document, with the data about its last request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct KeptDocument {
    /// The time of the last request to the server.
    pub(super) asked: SystemTime,
    /// The ETag of the document; empty if the server gave none.
    pub(super) etag: String,
    /// The date of the content, as the index states it; empty if there is none.
    pub(super) date: String,
    pub(super) body: Vec<u8>,
}

/// The databases in a cache, for commands about the cache itself.
pub(crate) struct AdvisoryCache<'a> {
    objects: Box<dyn Objects + 'a>,
    now: SystemTime,
}

/// The documents in a cache.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct AdvisoryInventory {
    /// All documents, sorted by key.
    pub(crate) documents: Vec<ObjectSize>,
    /// Those of databases that no run used for a long time, sorted by key.
    pub(crate) old: Vec<ObjectSize>,
}

impl<'a> AdvisoryCache<'a> {
    /// Opens the databases among these objects.
    pub(crate) fn new(objects: Box<dyn Objects + 'a>, now: SystemTime) -> Self {
        Self { objects, now }
    }

    /// Lists the documents of all databases.
    ///
    /// # Errors
    /// If the objects cannot be used or listed.
    pub(crate) fn inventory(&self) -> io::Result<AdvisoryInventory> {
        self.objects.check()?;
        let documents = self.objects.measure(DOCUMENTS)?;
        // Each run that asks writes the index, but an advisory only if it changed: so the newest document of a
        // database shows when the database was used.
        let mut last_use: BTreeMap<&str, SystemTime> = BTreeMap::new();
        for document in &documents {
            let used = last_use
                .entry(database(&document.key))
                .or_insert(UNIX_EPOCH);
            *used = document.written.max(*used);
        }
        let is_old = |document: &&ObjectSize| {
            let used = last_use[database(&document.key)];
            self.now.duration_since(used).unwrap_or_default() > MAX_AGE
        };
        let old = documents.iter().filter(is_old).cloned().collect();
        Ok(AdvisoryInventory { documents, old })
    }

    /// Removes documents from the cache.
    ///
    /// # Errors
    /// If one of them is still there.
    pub(crate) fn remove(&self, documents: &[ObjectSize]) -> io::Result<()> {
        documents
            .iter()
            .try_for_each(|document| self.objects.remove(&document.key))
    }
}

/// Returns the part of a key that all documents of a database share.
fn database(key: &str) -> &str {
    key.rsplit_once('/').map_or(key, |(database, _)| database)
}

impl<'a> KeptDocuments<'a> {
    /// Opens the documents of the database with a URL.
    pub(super) fn new(objects: Option<Box<dyn Objects + 'a>>, url: &str) -> Self {
        let digest = zh(url.as_bytes());
        Self {
            objects: objects.map(|objects| NotedObjects::new(objects, "the cache of advisories")),
            directory: format!("{DOCUMENTS}/{}", &digest[..NAME_DIGITS]),
        }
    }

    /// Returns the document with a name of letters, digits and dashes.
    pub(super) fn get(&self, name: &str, limit: u64) -> Option<KeptDocument> {
        let objects = self
            .objects
            .as_ref()
            .filter(|objects| objects.is_usable())?;
        let key = self.key(name);
        match objects.get(&key, limit + MAX_HEAD_BYTES) {
            Ok(bytes) => {
                let document = parse(&bytes?);
                if document.is_none() {
                    objects.note(&format!("{key} was ignored"), &"it is damaged");
                }
                document
            }
            Err(error) => {
                objects.note(&format!("{key} was ignored"), &error);
                None
            }
        }
    }

    pub(super) fn put(&self, name: &str, document: &KeptDocument) {
        let Some(objects) = self.objects.as_ref().filter(|objects| objects.is_usable()) else {
            return;
        };
        let key = self.key(name);
        if let Err(error) = objects.put(&key, &written(document)) {
            objects.note(&format!("{key} could not be kept"), &error);
        }
    }

    /// Returns remarks on documents that could not be used or kept.
    pub(super) fn notes(&self) -> Vec<String> {
        self.objects
            .as_ref()
            .map(NotedObjects::notes)
            .unwrap_or_default()
    }

    fn key(&self, name: &str) -> String {
        // Keys are in lower case, so the caller compares the identifier in the document with the name.
        format!("{}/{}", self.directory, name.to_ascii_lowercase())
    }
}

fn zh(bytes: &[u8]) -> String {
    let mut stream = hash::Sha256Stream::default();
    stream.update(bytes);
    hash::zh_of_digest(&stream.finish()).value().to_owned()
}

fn written(document: &KeptDocument) -> Vec<u8> {
    let asked = document.asked.duration_since(UNIX_EPOCH);
    let asked = asked.map_or(0, |asked| asked.as_secs());
    let KeptDocument {
        etag, date, body, ..
    } = document;
    let about = format!("{asked}\n{etag}\n{date}\n");
    // The check covers these lines as well: with a damaged date, an old advisory could count as current.
    let check = zh(&[about.as_bytes(), body].concat());
    [format!("{HEADER}\n{about}{check}\n").as_bytes(), body].concat()
}

fn parse(bytes: &[u8]) -> Option<KeptDocument> {
    let mut parts = bytes.splitn(6, |byte| *byte == b'\n');
    let mut line = || std::str::from_utf8(parts.next()?).ok();
    if line()? != HEADER {
        return None;
    }
    let (asked, etag, date, check) = (line()?, line()?, line()?, line()?);
    let body = parts.next()?;
    // The check detects damage: a truncated index would hide advisories.
    let about = format!("{asked}\n{etag}\n{date}\n");
    if check != zh(&[about.as_bytes(), body].concat()) {
        return None;
    }
    Some(KeptDocument {
        asked: UNIX_EPOCH.checked_add(Duration::from_secs(asked.parse().ok()?))?,
        etag: etag.to_owned(),
        date: date.to_owned(),
        body: body.to_vec(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kept_document_is_read_and_damage_is_found() {
        let document = KeptDocument {
            asked: UNIX_EPOCH + Duration::from_secs(1_795_338_000),
            etag: "\"x\"".to_owned(),
            date: String::new(),
            body: b"[]\n\n".to_vec(),
        };
        let bytes = written(&document);
        assert_eq!(parse(&bytes), Some(document));
        for end in 0..bytes.len() {
            assert_eq!(parse(&bytes[..end]), None, "{end}");
        }
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1;
            assert_eq!(parse(&damaged), None, "{at}");
        }
    }
}
