//! Goals for locked versions: keep them, or move them and how far.

use std::collections::BTreeMap;

use crate::addr::ProviderAddr;
use crate::version::Version;

/// The goal for the version of a provider.
///
/// A provider that is not locked gets the newest version that meets its conditions, unless the goal names a
/// version.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Goal {
    /// A locked version stays, or the provider fails.
    #[default]
    Keep,
    /// The newest version that meets the conditions is taken, not too far from the locked one.
    Newest(Reach),
    /// This version is taken, if it meets the conditions, or the provider fails.
    Exactly(Version),
}

/// The distance from the locked version within which the newest one is searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Anywhere, also below the locked version, as `init -upgrade` does.
    Any,
    /// Among versions with the same first number.
    SameMajor,
    /// Among versions with the same first two numbers.
    SameMinor,
}

/// The goals of all providers of a root. By default every locked version stays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Goals {
    /// The goal of every provider that has none of its own; `None` if the run leaves these providers alone:
    /// nothing is asked about them, and their entries stay as they are.
    pub others: Option<Goal>,
    /// The goals of single providers.
    pub named: BTreeMap<ProviderAddr, Goal>,
}

impl Default for Goals {
    fn default() -> Self {
        Self {
            others: Some(Goal::Keep),
            named: BTreeMap::new(),
        }
    }
}

impl Goals {
    /// Returns the goal of a provider; `None` if the run leaves it alone.
    #[must_use]
    pub fn of(&self, provider: &ProviderAddr) -> Option<&Goal> {
        self.named.get(provider).or(self.others.as_ref())
    }
}

impl Reach {
    /// Returns true if a version is near enough to the locked one.
    #[must_use]
    pub fn includes(self, locked: &Version, version: &Version) -> bool {
        let same_major = locked.major == version.major;
        match self {
            Self::Any => true,
            Self::SameMajor => same_major,
            Self::SameMinor => same_major && locked.minor == version.minor,
        }
    }

    /// Returns the series of a locked version as people write it, e.g. `1.x` or `1.2.x`.
    #[must_use]
    pub fn series(self, locked: &Version) -> String {
        match self {
            Self::Any => "any version".to_owned(),
            Self::SameMajor => format!("{}.x", locked.major),
            Self::SameMinor => format!("{}.{}.x", locked.major, locked.minor),
        }
    }
}
