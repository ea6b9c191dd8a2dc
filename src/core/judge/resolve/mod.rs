//! One version per required provider, or the reason why there is none (rules 1 and 2).
//!
//! Providers have no dependencies of their own, so one round suffices: [`to_query`] says whom to
//! ask about, the caller asks, [`candidates`] are what may be selected, and [`select`] takes the first
//! of them. This room never asks.

mod conflict;
mod error;
mod goal;
mod outlook;
#[cfg(test)]
mod tests;

pub mod rules {
    #![doc = include_str!("rules.md")]
}

use crate::addr::ProviderAddr;
use crate::flavor::Flavor;
use crate::lockfile::LockFile;
use crate::requirement::{Refusal, Requirements};
use crate::version::{Constraints, Version};

pub use conflict::{ConflictKind, ConflictPlace, ConstraintConflict};
pub use error::SelectError;
pub use goal::{Goal, Goals, Reach};
pub use outlook::Outlook;

/// A provider that needs a version.
#[derive(Clone, Debug, PartialEq)]
pub struct ProviderQuery {
    /// The provider, which is not built in.
    pub provider: ProviderAddr,
    /// All conditions on it that are known.
    pub constraints: Constraints,
    /// The version that the lock file holds.
    pub locked: Option<Version>,
    /// The goal for the locked version.
    pub goal: Goal,
}

impl ProviderQuery {
    /// Checks what needs no request: a version that must be taken must meet the conditions.
    ///
    /// # Errors
    /// If the version that must be taken is not allowed.
    pub fn check(&self) -> Result<(), Box<SelectError>> {
        let (provider, constraints) = (&self.provider, &self.constraints);
        match (&self.goal, &self.locked) {
            // To name a version is no condition of the configuration: it adds none and lifts none (rules 2.5).
            (Goal::Exactly(wanted), _) if !constraints.allows(wanted) => {
                Err(Box::new(SelectError::Forbidden {
                    provider: provider.clone(),
                    wanted: wanted.clone(),
                    constraints: constraints.clone(),
                }))
            }
            // The programs fail before any request, so the offered versions do not matter (rules 1.2).
            (Goal::Keep, Some(locked)) if !constraints.allows(locked) => {
                Err(Box::new(SelectError::LockedConflict {
                    provider: provider.clone(),
                    locked: locked.clone(),
                    constraints: constraints.clone(),
                }))
            }
            _ => Ok(()),
        }
    }

    fn not_offered(&self, only: &Version, newest: Option<Version>) -> SelectError {
        let provider = self.provider.clone();
        match self.goal {
            Goal::Exactly(_) => SelectError::NotOffered {
                provider,
                wanted: only.clone(),
                newest,
            },
            // An error even if the version is installed (rules 2.2).
            Goal::Keep | Goal::Newest(_) => SelectError::LockedGone {
                provider,
                locked: only.clone(),
                newest,
            },
        }
    }
}

/// Returns the providers that must be asked about, sorted, and the requirements that nothing can meet.
///
/// Built-in providers are never locked and so never asked about. The locked versions of entries
/// that OpenTofu reads as its own count (`lockfile` rules 5.1) if `lock` holds the twins.
///
/// While a module cannot be seen, the recorded conditions count beside the visible ones: they are all
/// that is known of that module. Of a version that stays they may name the pre-release, but they do not
/// make it a conflict.
#[must_use]
pub fn to_query(
    requirements: &Requirements,
    lock: &LockFile,
    flavor: Flavor,
    goals: &Goals,
) -> (Vec<ProviderQuery>, Vec<(ProviderAddr, Refusal)>) {
    let mut queries = Vec::new();
    let mut refused = Vec::new();
    for provider in requirements.providers.keys() {
        let Some(goal) = goals.of(provider).cloned() else {
            continue;
        };
        let constraints = requirements.constraints(provider);
        let provider = provider.clone();
        // A refusal comes first: a built-in provider with a constraint is an error (rules 1.1).
        if let Some(refusal) = Refusal::of(&provider, &constraints, flavor) {
            refused.push((provider, refusal));
        } else if !provider.is_builtin(flavor) {
            // Only a goal moves a locked version; `providers lock` never does (rules 2.4).
            let entry = lock.providers.get(&provider);
            // Where a version moves, the recorded conditions of modules that cannot be seen count as well; of one
            // that stays they may only name the pre-release (rules 2.6).
            let constraints = match entry {
                Some(entry) if goal == Goal::Keep => {
                    requirements.on_locked(&provider, &entry.version, &entry.constraints)
                }
                Some(entry) => requirements.to_record(&provider, &entry.constraints),
                None => constraints,
            };
            queries.push(ProviderQuery {
                provider,
                constraints,
                locked: entry.map(|entry| entry.version.clone()),
                goal,
            });
        }
    }
    (queries, refused)
}

/// Chooses among the offered versions: the first of the [`candidates`].
///
/// # Errors
/// If no version may be chosen.
pub fn select(query: &ProviderQuery, offered: &[Version]) -> Result<Version, Box<SelectError>> {
    let candidates = candidates(query, offered)?;
    // If it lacks the platform or the protocol, the programs fail and try no older one (rules 2.3).
    Ok(candidates[0].clone())
}

/// Returns the versions that may be selected, the greatest first; at least one.
///
/// A version that stays or is named is the only one; else there are all that meet every condition
/// (rules 1.2 and 1.3). Within a limited [`Reach`] a lower version than the locked one counts only if
/// that one is not allowed any more. Platforms play no part: no older version is tried where the newest
/// lacks one (rules 2.3).
///
/// # Errors
/// If no version may be chosen.
pub fn candidates<'v>(
    query: &ProviderQuery,
    offered: &'v [Version],
) -> Result<Vec<&'v Version>, Box<SelectError>> {
    // Of a release that does not exist it does not matter if it is allowed (rules 2.5).
    let is_absent = matches!(&query.goal, Goal::Exactly(wanted) if !offered.contains(wanted));
    if !is_absent {
        query.check()?;
    }
    let provider = &query.provider;
    // A version that stays or is named is the only candidate (rules 1.2, 2.5): it is offered, or the provider
    // fails.
    let only = match (&query.goal, &query.locked) {
        (Goal::Exactly(wanted), _) => Some(wanted),
        (Goal::Keep, locked) => locked.as_ref(),
        (Goal::Newest(_), _) => None,
    };
    if let Some(only) = only {
        return match offered.iter().find(|version| *version == only) {
            Some(version) => Ok(vec![version]),
            None => Err(Box::new(query.not_offered(only, newest_release(offered)))),
        };
    }
    let mut allowed: Vec<&Version> = offered
        .iter()
        .filter(|version| query.constraints.allows(version))
        .collect();
    // Of versions that differ in metadata only, the greatest metadata comes first (`version` rules 2.5).
    allowed.sort_by(|a, b| b.cmp(a));
    let Some(newest_allowed) = allowed.first().copied() else {
        return Err(Box::new(SelectError::NoMatch {
            provider: provider.clone(),
            constraints: query.constraints.clone(),
            newest: newest_release(offered),
            offered: offered.to_vec(),
        }));
    };
    let (Goal::Newest(reach @ (Reach::SameMajor | Reach::SameMinor)), Some(locked)) =
        (&query.goal, &query.locked)
    else {
        return Ok(allowed);
    };
    // Within a series a lower version is taken only if the configuration excludes the locked one (rules 2.5).
    let may_go_down = !query.constraints.allows(locked);
    allowed
        .retain(|version| reach.includes(locked, version) && (may_go_down || *version >= locked));
    if allowed.is_empty() {
        return Err(Box::new(SelectError::OutOfReach {
            provider: provider.clone(),
            locked: locked.clone(),
            reach: *reach,
            constraints: query.constraints.clone(),
            newest_allowed: newest_allowed.clone(),
        }));
    }
    Ok(allowed)
}

fn newest_release(offered: &[Version]) -> Option<Version> {
    Constraints::default().newest(offered.iter()).cloned()
}
