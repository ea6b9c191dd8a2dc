//! What became of the facts that are kept about packages, for `cache`.

use serde::Serialize;

use super::text;
use crate::hash::Hash;
use crate::report::Failure;

/// What a command did with the facts that are kept about packages, or found among them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StoreReport {
    /// The directory that holds them.
    pub dir: String,
    /// What is in there; only of `cache stats`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stats: Option<StoreStats>,
    /// What was exported; only of `cache export`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exported: Option<ExportedFacts>,
    /// One for each file that was to be imported, in the order given; only of `cache import`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub imported: Vec<ImportedFile>,
    /// What was removed; only of `cache clean`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub removed: Option<RemovedFacts>,
}

/// What is in the store of facts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StoreStats {
    /// How many facts count: one for each package.
    pub facts: usize,
    /// How many of these were computed on this machine.
    pub computed: usize,
    /// How many of these were imported.
    pub imported: usize,
    /// How many providers they are about.
    pub providers: usize,
    /// The length of all files that hold facts, in bytes.
    pub bytes: u64,
    /// Since when the oldest of the facts that count has been kept, in RFC 3339 and UTC; absent if there
    /// is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub oldest: Option<String>,
    /// What is there and does not count, by reason.
    pub ignored: Vec<IgnoredObjects>,
    /// What is kept about remote modules.
    pub modules: CachedModules,
}

/// What is kept about remote modules, in objects.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CachedModules {
    /// How many packages.
    pub packages: usize,
    /// How many places of versions in registries.
    pub locations: usize,
    /// How many lists of versions.
    pub versions: usize,
    /// How many commits that names in repositories mean.
    pub refs: usize,
    /// The length of all of them, in bytes.
    pub bytes: u64,
    /// How many of them are too old to be used.
    pub old: usize,
}

/// Files of the store that do not count.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct IgnoredObjects {
    /// Why.
    pub reason: String,
    /// How many files.
    pub count: usize,
}

/// Facts that were exported.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ExportedFacts {
    /// The file that they were written to; absent if they go to standard output.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// How many facts it holds.
    pub facts: usize,
    /// Whether the file was written; it is not if it would be the same. Absent without a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changed: Option<bool>,
    /// The export; absent if it went to a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// What of the file contradicts the store; then it was not written.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub contradictions: Vec<FactContradiction>,
    /// Why it was not written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
}

/// A file of facts that was to be imported: all of it, or nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ImportedFile {
    /// The file, as typed; `-` is standard input.
    pub path: String,
    /// What the facts are marked with.
    pub imported_from: String,
    /// How many facts were not known.
    pub new: usize,
    /// How many facts were known already.
    pub known: usize,
    /// How many facts were not kept because the store has no room for them.
    pub left_out: usize,
    /// What of the file contradicts the store; then nothing was imported.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub contradictions: Vec<FactContradiction>,
    /// Why nothing was imported.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
}

/// A fact in a file and one in the store that cannot both be true.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FactContradiction {
    /// The address of the provider, as the store has it.
    pub provider: String,
    /// The version of the package.
    pub version: String,
    /// The platform of the package.
    pub platform: String,
    /// The `zh:` of the zip.
    #[serde(serialize_with = "text")]
    #[cfg_attr(test, schemars(with = "String"))]
    pub zh: Hash,
    /// The `h1:` that the file states.
    #[serde(serialize_with = "text")]
    #[cfg_attr(test, schemars(with = "String"))]
    pub stated_h1: Hash,
    /// The size of the zip that the file states, in bytes.
    pub stated_size: u64,
    /// The `h1:` that the store has.
    #[serde(serialize_with = "text")]
    #[cfg_attr(test, schemars(with = "String"))]
    pub kept_h1: Hash,
    /// The size of the zip that the store has, in bytes.
    pub kept_size: u64,
    /// What the fact in the store was imported from; absent if it was computed on this machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kept_from: Option<String>,
}

/// Files of the store that were removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RemovedFacts {
    /// How many facts that had been kept for too long.
    pub old: usize,
    /// How many files that were no facts.
    pub broken: usize,
    /// How many other facts that were imported.
    pub imported: usize,
    /// How many other facts that were computed on this machine.
    pub computed: usize,
    /// How many facts are left.
    pub kept: usize,
    /// How many objects about remote modules.
    pub modules: usize,
    /// Whether they were only counted.
    pub dry_run: bool,
}

impl StoreReport {
    /// Returns what kept files from being imported or written.
    pub fn failures(&self) -> impl Iterator<Item = &Failure> {
        let imported = self.imported.iter().map(|file| &file.failure);
        let exported = self.exported.iter().map(|export| &export.failure);
        imported.chain(exported).flatten()
    }
}
