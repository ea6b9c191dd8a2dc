//! Documents of a database in the user's cache: the ETag and the date, on a line each, then the document.

use std::time::SystemTime;

use crate::store::answers::{AnswerCache, AnswerKind};

/// The kept documents of one database.
pub(super) struct KeptDocuments<'a> {
    /// `None` if nothing is kept.
    pub(super) cache: Option<&'a AnswerCache<'a>>,
    /// The URL of the database.
    pub(super) url: String,
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

impl KeptDocuments<'_> {
    /// Returns the document with a name.
    pub(super) fn get(&self, name: &str) -> Option<KeptDocument> {
        let cache = self.cache?;
        let kept = cache.find(AnswerKind::Advisories, &self.question(name))?;
        let parts: Vec<&[u8]> = kept.answer.splitn(3, |byte| *byte == b'\n').collect();
        let [etag, date, body] = parts[..] else {
            return None;
        };
        Some(KeptDocument {
            asked: kept.since,
            etag: String::from_utf8(etag.to_vec()).ok()?,
            date: String::from_utf8(date.to_vec()).ok()?,
            body: body.to_vec(),
        })
    }

    /// Keeps a document, if that is possible.
    pub(super) fn put(&self, name: &str, document: &KeptDocument) {
        if let Some(cache) = self.cache {
            let head = format!("{}\n{}\n", document.etag, document.date);
            let answer = [head.as_bytes(), &document.body].concat();
            cache.keep(AnswerKind::Advisories, &self.question(name), &answer);
        }
    }

    /// Returns remarks on documents that could not be used or kept.
    pub(super) fn notes(&self) -> Vec<String> {
        self.cache.map(AnswerCache::notes).unwrap_or_default()
    }

    fn question(&self, name: &str) -> String {
        format!("{} {name}", self.url)
    }
}
