//! Changes of the entries of lock files, for `diff` and `log`.

use serde::Serialize;

use super::ShownHash;
use crate::addr::ProviderAddr;
use crate::git::ObjectId;
use crate::review::{BuildChange, ChangeKind, ExplainedChange, ProviderSide, Risk, StepDown};
use crate::version::{Constraints, Upgrade, Version};

/// The change of one entry.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "Change"))]
pub struct ChangeRow {
    /// The provider, with its registry; of one that switched the new address.
    pub provider: ProviderAddr,
    /// In what the entries differ; never empty.
    pub kinds: Vec<ChangeKind>,
    /// The cause of the change, in one sentence.
    pub cause: String,
    /// The change of the configuration that caused it; null if that is not known.
    pub follows_from: Option<String>,
    /// The risk of the change.
    pub risk: Risk,
    /// The entry before; null if there was none.
    pub old: Option<EntrySide>,
    /// The entry now; null if there is none.
    pub new: Option<EntrySide>,
    /// The size of the step; only of upgrades.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<Upgrade>,
    /// The hashes of one side alone whose platforms are known from facts of earlier runs; absent if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hash_platforms: Vec<ShownHash>,
    /// The changes of the builds, if contents of packages of both sides are known; absent if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub builds: Vec<BuildChange>,
    /// The steps down in who signs the release and where it comes from; absent if there are none, or nothing is known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub trust: Vec<StepDown>,
    /// Advisories about the new version in the database that the cache has; absent if there are none. That there are
    /// none proves nothing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub advisories: Vec<String>,
}

/// The change of one entry by one commit.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PastChange {
    /// The provider, with its registry; of one that switched the new address.
    pub provider: ProviderAddr,
    /// The full name of the commit.
    pub commit: ObjectId,
    /// When it was made, as its author says (ISO 8601).
    pub date: String,
    /// The name of its author.
    pub author: String,
    /// The first line of its message.
    pub subject: String,
    /// The path of the lock file in that commit, from the top of the repository on.
    pub path: String,
    /// In what the entries differ; never empty.
    pub kinds: Vec<ChangeKind>,
    /// The cause of the change, in one sentence.
    pub cause: String,
    /// The risk of the change.
    pub risk: Risk,
    /// The entry before; null if there was none.
    pub old: Option<EntrySide>,
    /// The entry after; null if there is none.
    pub new: Option<EntrySide>,
    /// The size of the step; only of upgrades.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<Upgrade>,
    /// Number of commits of the history that are newer: the order of changes in several lock files.
    #[serde(skip)]
    pub newer_commits: usize,
}

/// One version of an entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "Side"))]
pub struct EntrySide {
    /// The provider, with its registry.
    pub provider: ProviderAddr,
    /// The version that is locked.
    pub version: Version,
    /// The constraints that are recorded; empty if there are none.
    pub constraints: Constraints,
    /// The hashes that are recorded, sorted; only of `diff`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hashes: Option<Vec<String>>,
}

impl ChangeRow {
    /// Describes a change with its explanation.
    #[must_use]
    pub fn of(explained: &ExplainedChange) -> Self {
        // Both sides with their addresses: a provider that moved has two.
        let side = |side: &ProviderSide| {
            let hashes = side.lock.hashes.iter();
            EntrySide {
                provider: side.addr.clone(),
                version: side.lock.version.clone(),
                constraints: side.lock.constraints.clone(),
                hashes: Some(hashes.map(|hash| hash.as_str().to_owned()).collect()),
            }
        };
        let hash_platforms = explained.owners.iter().map(|(hash, owners)| ShownHash {
            beside: None,
            hash: hash.clone(),
            platforms: owners.iter().map(ToString::to_string).collect(),
        });
        let change = &explained.change;
        Self {
            provider: change.addr().clone(),
            kinds: change.kinds.iter().copied().collect(),
            cause: explained.sentence(),
            follows_from: explained.configuration.as_ref().map(ToString::to_string),
            risk: explained.explained.risk,
            old: change.before().map(side),
            new: change.now().map(side),
            step: change.upgrade(),
            hash_platforms: hash_platforms.collect(),
            builds: explained.builds.clone(),
            trust: explained.trust.clone(),
            advisories: explained.advisories.clone(),
        }
    }
}
