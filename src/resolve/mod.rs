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
use crate::version::{self, Constraints, Version};

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
    #[error("the locked version {locked} of {provider} {}", conflict(.locked, .constraints))]
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
    #[error("no offered version of {provider} {}", no_match(.constraints))]
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

/// Says why constraints do not allow a locked version.
fn conflict(locked: &Version, constraints: &Constraints) -> String {
    match constraints.why_not(locked) {
        Some(version::Refusal::PrereleaseNotNamed) => {
            "is a pre-release, and no constraint names it exactly".to_owned()
        }
        Some(version::Refusal::Unspecified) => "can never be selected".to_owned(),
        Some(version::Refusal::Term(_)) | None => {
            format!("does not meet the constraints \"{constraints}\"")
        }
    }
}

/// Says why no version was found.
fn no_match(constraints: &Constraints) -> String {
    if constraints.is_empty() {
        "is a release, and no constraint names a pre-release exactly".to_owned()
    } else {
        format!("meets the constraints \"{constraints}\"")
    }
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
    /// Checks the locked version against the conditions, which needs no request.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(constraints: &str, locked: Option<&str>, wanted: &str) {
        let query = Query {
            provider: ProviderAddr::parse("a/x", Flavor::Terraform1_16).expect("an address"),
            constraints: Constraints::parse_lock(constraints).expect("constraints"),
            locked: locked.map(|version| version.parse().expect("a version")),
        };
        let error = select(&query, &[]).expect_err("nothing is offered");
        let wanted = wanted.replace("X", "registry.terraform.io/a/x");
        assert_eq!(error.to_string(), wanted);
    }

    #[test]
    fn an_error_names_what_keeps_a_version_out() {
        check(
            "",
            Some("1.0.0-beta1"),
            "the locked version 1.0.0-beta1 of X is a pre-release, and no constraint names it exactly",
        );
        check(
            ">= 0.9.0",
            Some("1.0.0-beta1"),
            "the locked version 1.0.0-beta1 of X is a pre-release, and no constraint names it exactly",
        );
        check(
            "> 1.0.0",
            Some("1.0.0"),
            "the locked version 1.0.0 of X does not meet the constraints \"> 1.0.0\"",
        );
        check(
            "",
            None,
            "no offered version of X is a release, and no constraint names a pre-release exactly",
        );
        check(
            "> 1.0.0",
            None,
            "no offered version of X meets the constraints \"> 1.0.0\"",
        );
    }
}
