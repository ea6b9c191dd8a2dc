//! When a release was published.

use serde::Serialize;

pub use crate::package::DateSource;

use crate::package::ReleaseDates;
use crate::package::calendar::timestamp;

/// A date of a release, and what states it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StatedDate {
    /// The source that states the date.
    pub source: DateSource,
    /// When, as RFC 3339 has it, in UTC.
    #[cfg_attr(test, schemars(extend("format" = "date-time")))]
    pub time: String,
}

/// A release that was not selected, because it is too young.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PassedOverRelease {
    /// The version that is too young.
    pub version: String,
    /// Every date that is known of it; the latest decides.
    pub dates: Vec<StatedDate>,
    /// When it becomes old enough, as RFC 3339 has it, in UTC; null if that is unknown.
    #[cfg_attr(test, schemars(extend("format" = "date-time")))]
    pub old_enough_at: Option<String>,
}

impl StatedDate {
    /// Lists the dates of a release, the most trustworthy source first.
    #[must_use]
    pub fn all(dates: &ReleaseDates) -> Vec<Self> {
        dates
            .iter()
            .map(|date| Self {
                source: date.source,
                time: timestamp(date.time),
            })
            .collect()
    }
}
