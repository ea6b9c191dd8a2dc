//! Locked versions beside those that are offered, for `outdated`.

use serde::Serialize;

use super::{FilePosition, StatedDate};
use crate::addr::ProviderAddr;
use crate::version::{Constraints, Upgrade, Version, VersionStep, step};

/// A provider whose locked version was compared with those that are offered.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ComparedProvider {
    /// The provider, with its registry.
    pub provider: ProviderAddr,
    /// The comparison in one word.
    pub state: VersionState,
    /// The version that is locked; null if none is.
    pub version: Option<Version>,
    /// The same version, by its name of old.
    pub locked: Option<Version>,
    /// True if the source still offers the locked version; null if none is locked or it was not asked.
    pub locked_is_offered: Option<bool>,
    /// The newest version that the constraints allow; `update` moves to it. Null if there is none or the source
    /// was not asked.
    pub newest_allowed: Option<Version>,
    /// The version that `update` moves to, where the newest allowed one is younger than the least age of the
    /// project file; null if there is none or it is not needed.
    pub old_enough: Option<Version>,
    /// The newest release that is offered, or a newer pre-release that a constraint names exactly; null
    /// if there is neither or the source was not asked.
    pub newest: Option<Version>,
    /// The step from the locked version to the newest allowed one; null if that is not newer.
    pub allowed_step: Option<Upgrade>,
    /// The step from the locked version to the newest one, which `--fail-on` looks at; null if that is
    /// not newer.
    pub step: Option<Upgrade>,
    /// Every date that is known of the newest allowed version; empty if it is not newer than the locked one.
    pub allowed_dates: Vec<StatedDate>,
    /// Every date that is known of the newest version; empty if it is not newer than the locked one.
    pub dates: Vec<StatedDate>,
    /// The age of the newest allowed version.
    #[serde(skip)]
    pub allowed_age: Option<String>,
    /// The age of the version that is old enough.
    #[serde(skip)]
    pub old_enough_age: Option<String>,
    /// The age of the newest version.
    #[serde(skip)]
    pub age: Option<String>,
    /// Advisories about the locked version in the database that the cache has; absent if there are none. That
    /// there are none proves nothing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub advisories: Vec<String>,
    /// All constraints that count; empty if any version is allowed.
    pub constraints: Constraints,
    /// Every requirement whose constraints exclude the newest version.
    pub held_by: Vec<HoldingPlace>,
    /// Places that leave none of the offered versions together, as few as possible; empty unless the state
    /// is `conflict`.
    pub conflict: Vec<ConflictingPlace>,
}

/// The comparison of a locked version with those that are offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum VersionState {
    /// No newer version is offered.
    UpToDate,
    /// `update` moves it to a newer version.
    Behind,
    /// Every newer version that is allowed is younger than the least age of the project file, so that `update`
    /// moves to none.
    TooYoung,
    /// A newer version is offered, but constraints do not allow any.
    HeldBack,
    /// The locked version is not allowed any more; `update` moves it to one that is.
    NotAllowed,
    /// No offered version is allowed.
    Conflict,
    /// Required, but not locked; `lock` selects the newest allowed version.
    NotLocked,
    /// Only what cannot be seen may require it; `update` moves it if it is named.
    NotVisible,
    /// Locked, but nothing requires it; nothing was asked.
    NotRequired,
    /// Part of the program and never locked; nothing was asked.
    BuiltIn,
    /// Run from a directory of `dev_overrides`; nothing was asked.
    Overridden,
    /// Its source gave no answer, or the requirement cannot be met by any source.
    Failed,
}

/// A requirement that excludes the newest version.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct HoldingPlace {
    /// The file, the line and the column.
    #[serde(flatten)]
    pub place: FilePosition,
    /// The constraints that are written there.
    pub constraints: String,
    /// The address of the module that it is in, as in `module.network`; empty for the root module; null for
    /// the constraints of the lock file, which count where modules cannot be seen.
    pub module: Option<String>,
}

/// A requirement of those that leave no version together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ConflictingPlace {
    /// The requirement in words.
    #[serde(flatten)]
    pub place: HoldingPlace,
    /// The newest offered version that it allows by itself; null if there is none.
    pub allows: Option<Version>,
    /// The newest version that could be selected if its constraints were not written anywhere; null if
    /// there is none.
    pub without: Option<Version>,
}

impl ComparedProvider {
    /// Returns what leads from one version to another, if that is an upgrade.
    #[must_use]
    pub fn upgrade(from: Option<&Version>, to: Option<&Version>) -> Option<Upgrade> {
        match step(from?, to?) {
            VersionStep::Up(upgrade) => Some(upgrade),
            VersionStep::Same | VersionStep::Down => None,
        }
    }
}
