//! What changed in lock files, for `diff` and `log`.

use schemars::JsonSchema;
use serde::Serialize;

use super::{Failure, Finding, Status, text};
use crate::addr::ProviderAddr;
use crate::diag::Texts;
use crate::git::ObjectId;
use crate::report::FileResult;
use crate::review::{ChangeKind, ExplainedChange, FileCause, FileChangeKind, ProviderSide, Risk};
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

impl File {
    /// Describes a file that was compared.
    #[must_use]
    pub fn of(file: &FileResult, texts: &Texts) -> Self {
        let one = &file.comparison;
        let causes = &one.review.causes;
        let sides = one.old.iter().chain(&one.new);
        let findings = sides.flat_map(|side| &side.diagnostics);
        let renamed = causes.iter().find_map(|cause| match cause {
            FileCause::Renamed { from } => Some(from.clone()),
            _ => None,
        });
        let clauses: Vec<String> = causes.iter().map(ToString::to_string).collect();
        Self {
            path: one.path.clone(),
            old_path: renamed,
            flavor: one.flavor().to_string(),
            status: file.status,
            kinds: causes.iter().map(FileCause::kind).collect(),
            cause: clauses.join("; "),
            risk: one.review.risk(),
            findings: findings
                .map(|finding| Finding::new(finding, texts))
                .collect(),
            failures: file.failures.clone(),
            changes: one.review.providers.iter().map(Change::of).collect(),
            unchanged: one.review.unchanged,
        }
    }
}

impl Change {
    fn of(one: &ExplainedChange) -> Self {
        let side = |side: &ProviderSide| {
            let hashes = side.lock.hashes.iter();
            Side {
                provider: side.addr.clone(),
                version: side.lock.version.clone(),
                constraints: side.lock.constraints.clone(),
                hashes: Some(hashes.map(|hash| hash.as_str().to_owned()).collect()),
            }
        };
        let change = &one.change;
        Self {
            provider: change.addr().clone(),
            kinds: change.kinds.iter().copied().collect(),
            cause: one.sentence(),
            follows_from: one.configuration.as_ref().map(ToString::to_string),
            risk: one.explained.risk,
            old: change.before().map(side),
            new: change.now().map(side),
            step: change.upgrade(),
        }
    }
}
