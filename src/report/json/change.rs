//! What changed in lock files, for `diff` and `log`.

use schemars::JsonSchema;
use serde::Serialize;

use super::{Failure, Finding, Status, text};
use crate::addr::ProviderAddr;
use crate::git::ObjectId;
use crate::review::{ChangeKind, FileChangeKind, Risk};
use crate::version::{Constraints, Upgrade, Version};

/// A lock file of which two versions were compared.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct File {
    /// Where it is, or was if it is gone.
    pub path: String,
    /// Where it was before; null unless it was renamed.
    pub old_path: Option<String>,
    /// Whose rules applied, as in `terraform@1.11`.
    pub flavor: String,
    /// Whether it could be compared, and is no worse than `--fail-on` allows.
    pub status: Status,
    /// What changed about the file as a whole.
    pub kinds: Vec<FileChangeKind>,
    /// What that follows from, in one sentence; empty if the file as a whole did not change.
    pub cause: String,
    /// How much the worst of its changes matters.
    pub risk: Risk,
    /// What is wrong with either version.
    pub findings: Vec<Finding>,
    /// Operations that failed.
    pub failures: Vec<Failure>,
    /// What changed in its entries, what matters most first, then by address.
    pub changes: Vec<Change>,
    /// How many entries are the same in both versions.
    pub unchanged: usize,
}

/// What changed in one entry.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Change {
    /// The provider, with its registry; of one that switched the new address.
    #[serde(serialize_with = "text")]
    #[schemars(with = "String")]
    pub provider: ProviderAddr,
    /// In what the entries differ; never empty.
    pub kinds: Vec<ChangeKind>,
    /// What that follows from, in one sentence.
    pub cause: String,
    /// What in the configuration it follows from; null if that is not known.
    pub follows_from: Option<String>,
    /// How much it matters.
    pub risk: Risk,
    /// The entry before; null if there was none.
    pub old: Option<Side>,
    /// The entry now; null if there is none.
    pub new: Option<Side>,
    /// How far an upgrade goes; only of upgrades.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<Upgrade>,
}

/// What one commit changed in one entry.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PastChange {
    /// The provider, with its registry; of one that switched the new address.
    #[serde(serialize_with = "text")]
    #[schemars(with = "String")]
    pub provider: ProviderAddr,
    /// The full name of the commit.
    #[serde(serialize_with = "text")]
    #[schemars(with = "String")]
    pub commit: ObjectId,
    /// When it was made, as its author says (ISO 8601).
    pub date: String,
    /// The name of its author.
    pub author: String,
    /// The first line of its message.
    pub subject: String,
    /// Where the lock file was, from the top of the repository on.
    pub path: String,
    /// In what the entries differ; never empty.
    pub kinds: Vec<ChangeKind>,
    /// What that follows from, in one sentence.
    pub cause: String,
    /// How much it matters.
    pub risk: Risk,
    /// The entry before; null if there was none.
    pub old: Option<Side>,
    /// The entry after; null if there is none.
    pub new: Option<Side>,
    /// How far an upgrade goes; only of upgrades.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<Upgrade>,
}

/// One version of an entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Side {
    /// The provider, with its registry.
    #[serde(serialize_with = "text")]
    #[schemars(with = "String")]
    pub provider: ProviderAddr,
    /// The version.
    #[serde(serialize_with = "text")]
    #[schemars(with = "String")]
    pub version: Version,
    /// The constraints that are recorded; empty if there are none.
    #[serde(serialize_with = "text")]
    #[schemars(with = "String")]
    pub constraints: Constraints,
    /// The hashes that are recorded, sorted; only of `diff`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hashes: Option<Vec<String>>,
}

/// What to think of changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Verdict {
    /// How much the worst of them matters.
    pub risk: Risk,
    /// What happened, in one sentence.
    pub text: String,
}
