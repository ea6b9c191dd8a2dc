//! One version per required provider, or why there is none (rules 1 and 2).
//!
//! Providers have no dependencies of their own, so one round suffices: [`to_query`] says whom to
//! ask about, somebody asks, [`select`] decides. This room never asks.

pub mod rules {
    #![doc = include_str!("rules.md")]
}

use crate::addr::ProviderAddr;
use crate::flavor::Flavor;
use crate::lockfile::LockFile;
use crate::requirement::{Refusal, Requirements};
use crate::version::{Constraints, Version};

/// A provider that needs a version.
#[derive(Clone, Debug, PartialEq)]
pub struct Query {
    /// Which provider.
    pub provider: ProviderAddr,
    /// All conditions on it that are known.
    pub constraints: Constraints,
    /// The version that the lock file holds, which then is the only candidate.
    pub locked: Option<Version>,
}

/// Why a provider gets no version.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SelectError {
    /// The locked version is not allowed by the configuration any more.
    #[error(
        "the locked version {locked} of {provider} does not meet the constraints \"{constraints}\""
    )]
    LockedConflict {
        /// Which provider.
        provider: ProviderAddr,
        /// What the lock file holds.
        locked: Version,
        /// What the configuration wants.
        constraints: Constraints,
    },
    /// The source does not offer the locked version.
    #[error("the locked version {locked} of {provider} is not offered any more")]
    LockedGone {
        /// Which provider.
        provider: ProviderAddr,
        /// What the lock file holds.
        locked: Version,
        /// The newest release that is offered, if there is any.
        newest: Option<Version>,
    },
    /// No offered version is allowed.
    #[error("no offered version of {provider} meets the constraints \"{constraints}\"")]
    NoMatch {
        /// Which provider.
        provider: ProviderAddr,
        /// What the configuration wants; empty if any release would do.
        constraints: Constraints,
        /// The newest release that is offered, if there is any.
        newest: Option<Version>,
    },
    /// Nothing that a source offers could meet the requirement.
    #[error("{provider} cannot be locked: {refusal}")]
    Refused {
        /// Which provider.
        provider: ProviderAddr,
        /// Why.
        refusal: Refusal,
    },
}

impl SelectError {
    /// Returns the provider that gets no version.
    #[must_use]
    pub fn provider(&self) -> &ProviderAddr {
        match self {
            Self::LockedConflict { provider, .. }
            | Self::LockedGone { provider, .. }
            | Self::NoMatch { provider, .. }
            | Self::Refused { provider, .. } => provider,
        }
    }

    /// Returns the title that the program of the flavor prints (rules 3.1).
    #[must_use]
    pub fn title(&self, flavor: Flavor) -> &'static str {
        match self {
            Self::LockedConflict { .. } | Self::LockedGone { .. } | Self::NoMatch { .. } => {
                flavor.no_version_title()
            }
            Self::Refused { refusal, .. } => refusal.title(),
        }
    }
}

impl Query {
    /// Checks the locked version against the conditions, which needs nobody to be asked.
    ///
    /// # Errors
    /// If the locked version is not allowed.
    pub fn check_locked(&self) -> Result<(), Box<SelectError>> {
        match &self.locked {
            Some(locked) if !self.constraints.allows(locked) => {
                Err(Box::new(SelectError::LockedConflict {
                    provider: self.provider.clone(),
                    locked: locked.clone(),
                    constraints: self.constraints.clone(),
                }))
            }
            _ => Ok(()),
        }
    }
}

/// Returns what must be asked about, sorted, and the requirements that nothing can meet.
///
/// Built-in providers are never locked and so never asked about. The locked versions of entries
/// that OpenTofu reads as its own count (`lockfile` rules 5.1) if `lock` holds the twins.
#[must_use]
pub fn to_query(
    requirements: &Requirements,
    lock: &LockFile,
    flavor: Flavor,
) -> (Vec<Query>, Vec<(ProviderAddr, Refusal)>) {
    let mut queries = Vec::new();
    let mut refused = Vec::new();
    for provider in requirements.providers.keys() {
        let constraints = requirements.constraints(provider);
        let provider = provider.clone();
        if let Some(refusal) = Refusal::of(&provider, &constraints, flavor) {
            refused.push((provider, refusal));
        } else if !provider.is_builtin(flavor) {
            let locked = lock
                .providers
                .get(&provider)
                .map(|entry| entry.version.clone());
            queries.push(Query {
                provider,
                constraints,
                locked,
            });
        }
    }
    (queries, refused)
}

/// Chooses among the offered versions.
///
/// A locked version is kept or nothing; else the newest that meets every condition is taken.
/// Platforms play no part: no older version is tried where the newest lacks one.
///
/// # Errors
/// If no version may be chosen.
pub fn select(query: &Query, offered: &[Version]) -> Result<Version, Box<SelectError>> {
    let newest = || Constraints::default().newest(offered.iter()).cloned();
    query.check_locked()?;
    if let Some(locked) = query.locked.clone() {
        return if offered.contains(&locked) {
            Ok(locked)
        } else {
            let (provider, newest) = (query.provider.clone(), newest());
            Err(Box::new(SelectError::LockedGone {
                provider,
                locked,
                newest,
            }))
        };
    }
    match query.constraints.newest(offered.iter()) {
        Some(version) => Ok(version.clone()),
        None => Err(Box::new(SelectError::NoMatch {
            provider: query.provider.clone(),
            constraints: query.constraints.clone(),
            newest: newest(),
        })),
    }
}
