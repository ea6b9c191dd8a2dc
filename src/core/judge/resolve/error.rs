//! The reasons why a provider gets no version.

use super::Reach;
use crate::addr::ProviderAddr;
use crate::flavor::Flavor;
use crate::requirement::Refusal;
use crate::version::{self, Constraints, Version};

/// A reason why a provider gets no version.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SelectError {
    /// The locked version is not allowed by the configuration any more.
    #[error("the locked version {locked} of {provider} {}", conflict(.locked, .constraints))]
    LockedConflict {
        provider: ProviderAddr,
        /// The version in the lock file.
        locked: Version,
        /// All conditions of the configuration.
        constraints: Constraints,
    },
    /// The source does not offer the locked version.
    #[error("the locked version {locked} of {provider} is not offered any more")]
    LockedGone {
        provider: ProviderAddr,
        /// The version in the lock file.
        locked: Version,
        /// The newest release that is offered, if there is any.
        newest: Option<Version>,
    },
    /// No offered version is allowed.
    #[error("no offered version of {provider} {}", no_match(.constraints))]
    NoMatch {
        provider: ProviderAddr,
        /// All conditions of the configuration; empty if any release would do.
        constraints: Constraints,
        /// The newest release that is offered, if there is any.
        newest: Option<Version>,
        /// Every version that is offered.
        offered: Vec<Version>,
    },
    /// No allowed version is as near to the locked one as asked for.
    #[error(
        "no offered version {} of {provider} {}",
        reach.series(locked),
        if constraints.allows(locked) { format!("is {locked} or newer") } else { no_match(constraints) }
    )]
    OutOfReach {
        provider: ProviderAddr,
        /// The version in the lock file.
        locked: Version,
        /// The distance within which a version was searched.
        reach: Reach,
        /// All conditions of the configuration; empty if any release would do.
        constraints: Constraints,
        /// The newest version that is allowed, at any distance.
        newest_allowed: Version,
    },
    /// The version that was asked for is not allowed by the configuration.
    #[error("{provider} {wanted} {}", conflict(.wanted, .constraints))]
    Forbidden {
        provider: ProviderAddr,
        /// The version that was asked for.
        wanted: Version,
        /// All conditions of the configuration.
        constraints: Constraints,
    },
    /// The source does not offer the version that was asked for.
    #[error("{provider} {wanted} is not offered")]
    NotOffered {
        provider: ProviderAddr,
        /// The version that was asked for.
        wanted: Version,
        /// The newest release that is offered, if there is any.
        newest: Option<Version>,
    },
    /// Nothing that a source offers could meet the requirement.
    #[error("{provider} cannot be locked: {refusal}")]
    Refused {
        provider: ProviderAddr,
        /// The reason why nothing could meet the requirement.
        refusal: Refusal,
    },
}

fn conflict(locked: &Version, constraints: &Constraints) -> String {
    match constraints.why_not(locked) {
        Some(version::VersionRefusal::PrereleaseNotNamed) => {
            "is a pre-release, and no constraint names it exactly".to_owned()
        }
        Some(version::VersionRefusal::Unspecified) => "can never be selected".to_owned(),
        Some(version::VersionRefusal::Term(_)) | None => {
            format!("does not meet the constraints \"{}\"", shown(constraints))
        }
    }
}

fn no_match(constraints: &Constraints) -> String {
    if constraints.is_empty() {
        "is a release, and no constraint names a pre-release exactly".to_owned()
    } else {
        format!("meets the constraints \"{}\"", shown(constraints))
    }
}

/// Maximum number of constraints that a message repeats. Up to two more are shown as well: "and 2 more" would
/// hardly be shorter.
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
