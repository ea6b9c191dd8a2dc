//! Why a provider gets no version.

use super::Reach;
use crate::addr::ProviderAddr;
use crate::flavor::Flavor;
use crate::requirement::Refusal;
use crate::version::{self, Constraints, Version};

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
        /// Everything that is offered.
        offered: Vec<Version>,
    },
    /// No allowed version is as near to the locked one as asked for.
    #[error(
        "no offered version {} of {provider} {}",
        reach.series(locked),
        out_of_reach(.locked, .constraints)
    )]
    OutOfReach {
        /// Which provider.
        provider: ProviderAddr,
        /// What the lock file holds.
        locked: Version,
        /// How far was searched.
        reach: Reach,
        /// What the configuration wants; empty if any release would do.
        constraints: Constraints,
        /// The newest version that is allowed, however far it is.
        newest_allowed: Version,
    },
    /// The version that was asked for is not allowed by the configuration.
    #[error("{provider} {wanted} {}", conflict(.wanted, .constraints))]
    Forbidden {
        /// Which provider.
        provider: ProviderAddr,
        /// What was asked for.
        wanted: Version,
        /// What the configuration wants.
        constraints: Constraints,
    },
    /// The source does not offer the version that was asked for.
    #[error("{provider} {wanted} is not offered")]
    NotOffered {
        /// Which provider.
        provider: ProviderAddr,
        /// What was asked for.
        wanted: Version,
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
            format!("does not meet the constraints \"{}\"", shown(constraints))
        }
    }
}

/// Says what no version near the locked one does.
fn out_of_reach(locked: &Version, constraints: &Constraints) -> String {
    if constraints.allows(locked) {
        format!("is {locked} or newer")
    } else {
        no_match(constraints)
    }
}

/// Says why no version was found.
fn no_match(constraints: &Constraints) -> String {
    if constraints.is_empty() {
        "is a release, and no constraint names a pre-release exactly".to_owned()
    } else {
        format!("meets the constraints \"{}\"", shown(constraints))
    }
}

/// How many constraints a message repeats; a few more are, too.
const MAX_SHOWN: usize = 8;

/// Writes constraints as a lock file does; of very many the first ones.
fn shown(constraints: &Constraints) -> String {
    let all = constraints.iter().len();
    if all <= MAX_SHOWN + 2 {
        return constraints.to_string();
    }
    let first: Constraints = constraints.iter().take(MAX_SHOWN).cloned().collect();
    format!("{first}, and {} more", all - MAX_SHOWN)
}

impl SelectError {
    /// Returns the provider that gets no version.
    #[must_use]
    pub fn provider(&self) -> &ProviderAddr {
        match self {
            Self::LockedConflict { provider, .. }
            | Self::LockedGone { provider, .. }
            | Self::NoMatch { provider, .. }
            | Self::OutOfReach { provider, .. }
            | Self::Forbidden { provider, .. }
            | Self::NotOffered { provider, .. }
            | Self::Refused { provider, .. } => provider,
        }
    }

    /// Returns the title that the program of the flavor prints (rules 3.1).
    #[must_use]
    pub fn title(&self, flavor: Flavor) -> &'static str {
        match self {
            Self::LockedConflict { .. }
            | Self::LockedGone { .. }
            | Self::NoMatch { .. }
            | Self::OutOfReach { .. }
            | Self::Forbidden { .. }
            | Self::NotOffered { .. } => flavor.no_version_title(),
            Self::Refused { refusal, .. } => refusal.title(),
        }
    }
}
