//! The index of the published layout: modules with the advisories that name them.

use serde::Deserialize;

/// Maximum size of an index, in bytes. The one of the Go vulnerability database has 500 KB.
pub const MAX_INDEX_BYTES: u64 = 32 * 1024 * 1024;

/// Maximum number of files in a directory of advisories.
pub const MAX_ADVISORIES: usize = 200_000;

/// Maximum length of an identifier, in bytes.
const MAX_ID_BYTES: usize = 64;

/// The list of modules with advisories, `index/modules.json`.
#[derive(Clone, Debug, Deserialize)]
#[serde(transparent)]
pub struct ModuleIndex {
    /// The modules, in any order.
    pub modules: Vec<IndexedModule>,
}

/// A module with the advisories that name it.
#[derive(Clone, Debug, Deserialize)]
pub struct IndexedModule {
    /// The path of the module.
    pub path: String,
    /// The advisories about the module.
    #[serde(default)]
    pub vulns: Vec<IndexedAdvisory>,
}

/// An advisory in the index.
#[derive(Clone, Debug, Deserialize)]
pub struct IndexedAdvisory {
    /// The identifier, which is not checked: see [`is_advisory_id`].
    pub id: String,
    /// The time of its last change, as text; empty if it is not stated.
    #[serde(default)]
    pub modified: String,
}

/// The state of the whole database, `index/db.json`.
#[derive(Clone, Debug, Deserialize)]
pub struct DatabaseDate {
    /// The time of the last change of any advisory, as RFC 3339 text.
    pub modified: String,
}

impl ModuleIndex {
    /// Reads the list of modules.
    ///
    /// # Errors
    /// If the bytes are not such a document.
    pub fn parse(bytes: &[u8]) -> Result<Self, serde_json::Error> {
        serde_json::from_slice(bytes)
    }
}

impl DatabaseDate {
    /// Reads the state of the database.
    ///
    /// # Errors
    /// If the bytes are not such a document.
    pub fn parse(bytes: &[u8]) -> Result<Self, serde_json::Error> {
        serde_json::from_slice(bytes)
    }
}

/// Returns true if a text can be an identifier: it becomes part of paths and URLs, so it has letters, digits and
/// dashes only.
pub fn is_advisory_id(text: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    !text.is_empty() && text.len() <= MAX_ID_BYTES && text.bytes().all(is_allowed)
}
