//! The search for a release that is old enough (rules 3.3), as it is reported.

use std::time::SystemTime;

use crate::package::{AgePolicy, ReleaseDates, Youth};
use crate::version::Version;

/// Maximum number of releases of a provider that are asked about in one search. A provider with more
/// that are too young is released daily, and a team that waits for weeks should state a constraint.
pub const MAX_DATED_RELEASES: usize = 30;

/// The course of a search for a release that is old enough.
#[derive(Clone, Debug, PartialEq)]
pub struct AgeSearch {
    /// The least age that the root demands.
    pub policy: AgePolicy,
    /// The time that ages are computed from.
    pub now: SystemTime,
    /// The releases that are too young, the greatest version first.
    pub passed_over: Vec<PassedOver>,
    /// The dates of the selected release; `None` if there is none, or if it was locked before, and so was
    /// not asked about.
    pub dates: Option<ReleaseDates>,
    /// The number of versions that were not asked about when the search was given up.
    pub not_asked: usize,
}

/// A release that is too young.
#[derive(Clone, Debug, PartialEq)]
pub struct PassedOver {
    /// The version that would have been selected without a least age.
    pub version: Version,
    /// Every date that is known of it.
    pub dates: ReleaseDates,
    /// The reason why it is too young.
    pub youth: Youth,
}
