//! Rows about providers, one kind for each command.

use std::sync::Arc;

use serde::Serialize;

pub use crate::authenticate::Class as SignerClass;

pub use crate::package::Provenance;

use crate::addr::ProviderAddr;
use crate::hash::Hash;
use crate::locker::{ContradictedBy, HashEvidence};
use crate::platform::Platform;
use crate::version::{Constraints, Version};

use super::{
    AuditedProvider, ComparedProvider, ExplainedProvider, MirroredProvider, PastChange,
    RequiredProviderRow, TrustedProvider,
};
use super::{PassedOverRelease, ReleaseBuildRow, StatedDate};

/// A row about a provider; each command has its own kind.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Provider {
    /// Of `lock` and `update`: an entry of the lock file.
    Locked(LockedProvider),
    /// Of `lock` and `update`: an entry that was removed.
    Removed(RemovedProvider),
    /// Of `verify`: an entry of the lock file.
    Checked(CheckedProvider),
    /// Of `show`: an entry of the lock file.
    Shown(ShownProvider),
    /// Of `why`: the provider that was asked for.
    Explained(ExplainedProvider),
    /// Of `tree`: a provider that the root requires.
    Required(RequiredProviderRow),
    /// Of `outdated`: a provider that is required or locked.
    Compared(Box<ComparedProvider>),
    /// Of `log`: one change, the newest first.
    Changed(Box<PastChange>),
    /// Of `mirror`: an entry of the lock file.
    Mirrored(MirroredProvider),
    /// Of `audit`: an entry of the lock file.
    Audited(AuditedProvider),
    /// Of `trust`: an entry of the lock file.
    Trusted(TrustedProvider),
}

/// An entry of the lock file, as `lock` or `update` wrote it or would write it.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LockedProvider {
    /// The provider, with its registry.
    pub provider: ProviderAddr,
    /// The version that is locked.
    pub version: Version,
    /// True if the version was selected in this run, rather than locked before.
    pub selected: bool,
    /// The version that was locked before; null if none was, or the same.
    pub from: Option<Version>,
    /// The newest release that the source offers, even if the constraints exclude it; null where none was
    /// asked.
    pub newest: Option<Version>,
    /// The constraints that are recorded; empty if there are none.
    pub constraints: Constraints,
    /// The hashes that are recorded, in the order of the file.
    pub hashes: Vec<LockedHash>,
    /// The hashes that were recorded before and that `--repair` replaced.
    pub replaced: Vec<ReplacedHash>,
    /// The `h1:` hashes that were recorded before and that `--drop-platform` removed; absent if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub dropped: Vec<DroppedHash>,
    /// Who signed the list of hashes; each once.
    pub signers: Vec<SignerRow>,
    /// Every date that is known of the release; absent unless a least age is stated and it was selected in
    /// this run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub dates: Vec<StatedDate>,
    /// Greater versions that are too young, the greatest first; absent if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub passed_over: Vec<PassedOverRelease>,
    /// Wanted platforms that the release has no package for.
    pub skipped_platforms: Vec<String>,
    /// Wanted platforms whose hash is not known, because no source was asked; as many recorded `h1:` belong
    /// to no known platform. Absent if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unknown_platforms: Vec<String>,
    /// Number of platforms whose package was hashed.
    #[serde(skip)]
    pub hashed_platforms: usize,
}

impl LockedProvider {
    /// Returns true if something happened to the entry in this run.
    pub(crate) fn is_changed(&self) -> bool {
        self.selected
            || self.from.is_some()
            || self.hashes.iter().any(|hash| hash.added)
            || !self.replaced.is_empty()
            || !self.dropped.is_empty()
    }
}

/// A recorded hash, and how it is known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LockedHash {
    /// The hash, as recorded.
    pub hash: Hash,
    /// The evidence for it, in one word.
    pub provenance: Provenance,
    /// The platforms whose package was seen to have it.
    pub platforms: Vec<String>,
    /// True if it came in this run.
    pub added: bool,
    /// The place where it was seen in this run; absent if it was not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Arc<HashEvidence>>,
}

/// A hash that was recorded and is not any more, and the evidence against it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ReplacedHash {
    /// The hash, as it was recorded.
    pub hash: Hash,
    /// The evidence against the hash.
    pub contradicted_by: ContradictedBy,
    /// The 64-bit IDs of the keys that signed the checksum list of the release.
    pub key_ids: Vec<String>,
    /// The hashes that the packages were computed to have; empty where the list alone contradicts it.
    pub computed: Vec<ComputedHash>,
}

/// A hash that was recorded and is not any more, because only dropped platforms have it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct DroppedHash {
    /// The hash, as it was recorded.
    pub hash: Hash,
    /// The platforms whose package has it.
    pub platforms: Vec<String>,
}

/// The hash of a package, as it was computed in this run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ComputedHash {
    /// The platform of the package.
    pub platform: String,
    /// The `h1:` of the package.
    pub hash: Hash,
}

/// A key that signed a list of checksums.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "Signer"))]
pub struct SignerRow {
    /// The kind of signer, as the program calls it.
    pub class: SignerClass,
    /// The 64-bit ID of the primary key, 16 upper-case hexadecimal digits.
    pub key_id: String,
}

impl SignerRow {
    /// Returns the words of the program about the signature, without the key.
    #[must_use]
    pub fn words(&self) -> &'static str {
        match self.class {
            SignerClass::HashiCorp => "signed by HashiCorp",
            SignerClass::Partner => "signed by a HashiCorp partner",
            SignerClass::SelfSigned => "self-signed",
            SignerClass::Signed => "signed",
        }
    }
}

/// An entry that neither configuration nor state needs any more.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RemovedProvider {
    /// The provider, with its registry.
    pub provider: String,
    /// Always true: it distinguishes these rows.
    #[cfg_attr(test, schemars(extend("const" = true)))]
    pub removed: bool,
}

/// An entry of the lock file, as `verify` found it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CheckedProvider {
    /// The provider, with its registry.
    pub provider: String,
    /// The version that is locked.
    pub version: String,
    /// The constraints that are recorded; empty if there are none.
    pub constraints: String,
    /// Number of recorded `h1:` hashes.
    pub h1_count: usize,
    /// Number of recorded `zh:` hashes.
    pub zh_count: usize,
}

/// An entry of the lock file, as `show` found it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ShownProvider {
    /// The provider, with its registry.
    pub provider: ProviderAddr,
    /// The version that is locked.
    pub version: Version,
    /// The constraints that are recorded; empty if there are none.
    pub constraints: Constraints,
    /// The number of recorded `h1:`.
    pub h1_count: usize,
    /// The number of recorded `zh:`.
    pub zh_count: usize,
    /// The title of the fault of the entry that makes the programs refuse the file; absent without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
    /// The hashes that are recorded, in the order of the file.
    pub hashes: Vec<ShownHash>,
    /// Every date that is known of the release; absent unless registries were asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dates: Option<Vec<StatedDate>>,
    /// The latest of these dates, in words.
    #[serde(skip)]
    pub latest_date: Option<String>,
    /// All of them, in words.
    #[serde(skip)]
    pub dates_in_words: Vec<String>,
    /// The platforms whose `h1:` is recorded, as far as installed packages and facts show it; null where they
    /// show none, which does not mean that there are none.
    pub platforms: Option<Vec<Platform>>,
    /// The builds of its packages; absent unless they were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub build: Option<ReleaseBuildRow>,
}

/// A recorded hash with its platforms.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ShownHash {
    /// The hash, as recorded.
    pub hash: Hash,
    /// The platforms whose package has it, as far as installed packages, facts and, with `--upstream`, signed lists
    /// show it.
    pub platforms: Vec<String>,
    /// The file of the signed list that it belongs to, if that is no package; absent unless registries were asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub beside: Option<BesidePackages>,
}

/// The subject of a recorded hash that belongs to no package.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum BesidePackages {
    /// A file that is signed with the packages, as the manifest of the release is.
    Manifest,
    /// Nothing that the signed list names.
    NotListed,
}

impl BesidePackages {
    /// Returns it in words.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Manifest => "manifest",
            Self::NotListed => "not in the signed list",
        }
    }
}
