//! The facts that are kept about packages, for `cache`.

use serde::Serialize;

use crate::hash::Hash;
use crate::report::Failure;
use crate::store::RemovalCounts;

/// The state of the store of facts, or the outcome of a command on it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StoreReport {
    /// The directory that holds them.
    pub dir: String,
    /// The content of the store; only of `cache stats`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stats: Option<StoreStats>,
    /// The facts that were exported; only of `cache export`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exported: Option<ExportedFacts>,
    /// One for each file that was to be imported, in the order given; only of `cache import`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub imported: Vec<ImportedFile>,
    /// The facts that were removed; only of `cache clean`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub removed: Option<RemovedFacts>,
    /// The key that was made; only of `cache keygen`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<NewKey>,
    /// The objects that were removed from a shared store; only of `cache gc`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub collected: Option<CollectedObjects>,
}

/// A key that signs facts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct NewKey {
    /// The public key, as `trust { fact_keys }` takes it.
    pub public: String,
    /// The private key, which is a secret.
    pub private: String,
}

/// The objects of a shared store after old ones were removed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CollectedObjects {
    /// The URL of the store.
    pub store: String,
    /// Number of objects that no machine had added to for the stated time.
    pub removed: usize,
    /// Number of objects that are left.
    pub kept: usize,
    /// True if they were only counted.
    pub dry_run: bool,
}

/// The content of the store of facts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StoreStats {
    /// Number of facts that count: one for each package.
    pub facts: usize,
    /// Number of these that were computed on this machine.
    pub computed: usize,
    /// Number of these that were imported.
    pub imported: usize,
    /// Number of providers that they are about.
    pub providers: usize,
    /// Number of releases whose signed lists are known.
    pub releases: usize,
    /// The length of all files that hold facts, in bytes.
    pub bytes: u64,
    /// Since when the oldest of the facts that count has been kept, in RFC 3339 and UTC; absent if there
    /// is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub oldest: Option<String>,
    /// The files that do not count, by reason.
    pub ignored: Vec<IgnoredObjects>,
    /// Number of packages whose contents were read.
    pub contents: usize,
    /// The objects about remote modules.
    pub modules: CachedModules,
    /// The documents of databases of advisories.
    pub advisories: CachedAdvisories,
}

/// The documents that are kept of databases of advisories.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CachedAdvisories {
    /// Number of documents: advisories, and an index for each database.
    pub documents: usize,
    /// The length of all of them, in bytes.
    pub bytes: u64,
    /// Number of documents of databases that no run used for a long time.
    pub old: usize,
}

/// The objects that are kept about remote modules.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CachedModules {
    /// Number of packages of modules.
    pub packages: usize,
    /// Number of places of versions in registries.
    pub locations: usize,
    /// Number of lists of versions.
    pub versions: usize,
    /// Number of commits that names in repositories mean.
    pub refs: usize,
    /// The length of all of them, in bytes.
    pub bytes: u64,
    /// Number of objects that are too old to be used.
    pub old: usize,
}

/// Files of the store that do not count.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct IgnoredObjects {
    /// The reason, in words.
    pub reason: String,
    /// Number of files with that reason.
    pub count: usize,
}

/// Facts that were exported.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ExportedFacts {
    /// The file that they were written to; absent if they go to standard output.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Number of facts in the export.
    pub facts: usize,
    /// True if the file was written; it is not if it would be the same. Absent without a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changed: Option<bool>,
    /// The export; absent if it went to a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The facts of the file that contradict the store; if there are any, it was not written.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub contradictions: Vec<FactContradiction>,
    /// The reason why it was not written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
}

/// A file of facts that was to be imported: all of it, or nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ImportedFile {
    /// The file, as typed; `-` is standard input.
    pub path: String,
    /// The origin that the facts are marked with.
    pub imported_from: String,
    /// Number of facts that were not known.
    pub new: usize,
    /// Number of facts that were known already.
    pub known: usize,
    /// Number of facts that were not kept because the store has no room for them.
    pub left_out: usize,
    /// The facts of the file that contradict the store; if there are any, nothing was imported.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub contradictions: Vec<FactContradiction>,
    /// The reason why nothing was imported.
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
    pub zh: Hash,
    /// The `h1:` that the file states.
    pub stated_h1: Hash,
    /// The size of the zip that the file states, in bytes.
    pub stated_size: u64,
    /// The `h1:` that the store has.
    pub kept_h1: Hash,
    /// The size of the zip that the store has, in bytes.
    pub kept_size: u64,
    /// The origin of the fact in the store, if it was imported; absent if it was computed on this machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kept_from: Option<String>,
}

/// Files of the store that were removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RemovedFacts {
    /// The facts and the other files, by the reason for their removal.
    #[serde(flatten)]
    pub counts: RemovalCounts,
    /// Number of objects about remote modules.
    pub modules: usize,
    /// Number of documents of databases of advisories.
    pub advisories: usize,
    /// True if they were only counted.
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
