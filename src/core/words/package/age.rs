//! Dates of releases, and the age that a release must have.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::time::{Duration, SystemTime};

use super::calendar::{ago, counted, day};

/// The source of a date of a release, the most trustworthy first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum DateSource {
    /// The valid signature over the checksum list says when it was made.
    Signature,
    /// The registry says when the release was published.
    Registry,
    /// The server says when the checksum list was changed last.
    ChecksumList,
    /// The server says when a package was changed last.
    Package,
}

/// A date of a release, with what states it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ReleaseDate {
    pub time: SystemTime,
    pub source: DateSource,
}

/// Every date of a release that is known: of each source the latest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReleaseDates {
    times: BTreeMap<DateSource, SystemTime>,
}

/// The age that a release must have to be locked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AgePolicy {
    pub min_age: MinAge,
    /// The verdict on a release without any date.
    pub undated: Undated,
}

/// The verdict on a release without any date.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Undated {
    /// The release counts as old enough.
    #[default]
    Accept,
    /// The release counts as too young.
    Refuse,
}

/// The reason why a release is not old enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Youth {
    /// Its latest date is too recent.
    Recent {
        date: ReleaseDate,
        /// When the release becomes old enough; `None` if no clock reaches that.
        until: Option<SystemTime>,
    },
    /// Nothing states a date of it, and such a release is refused.
    Undated,
}

/// The least age of a release, as a project file or an option states it: `12h`, `7d`, `2w`, `1y`.
///
/// Displayed in words, e.g. `7 days`.
///
/// ```
/// use lockctl_core::package::MinAge;
///
/// let age: MinAge = "7d".parse().expect("valid");
/// assert_eq!(age.to_string(), "7 days");
/// assert!("7".parse::<MinAge>().is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MinAge {
    count: u64, // Invariant: together with the unit at most `MAX_AGE`.
    unit: &'static str,
    hours_of_unit: u64,
}

/// The letter of each unit, with its name and its hours.
const UNITS: [(char, &str, u64); 4] = [
    ('h', "hour", 1),
    ('d', "day", 24),
    ('w', "week", 7 * 24),
    ('y', "year", 365 * 24),
];

/// The longest age, in hours. A longer one is a slip: no provider is as old.
const MAX_AGE: u64 = 100 * 365 * 24;

/// A text that is no age.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{text:?} is no age: it must be a whole number with a unit (h, d, w or y), at most 100 years"
)]
pub struct MinAgeError {
    text: String,
}

impl DateSource {
    /// Returns the event of the date, as in `signed 2025-11-19`.
    #[must_use]
    pub fn event(self) -> &'static str {
        match self {
            Self::Signature => "signed",
            Self::Registry => "published",
            Self::ChecksumList => "checksum list changed",
            Self::Package => "package changed",
        }
    }
}

impl ReleaseDate {
    /// Describes the date in words, as in `signed 2025-11-19, 3 days ago`.
    #[must_use]
    pub fn seen_at(&self, now: SystemTime) -> String {
        let Self { time, source } = *self;
        format!("{} {}, {}", source.event(), day(time), ago(time, now))
    }
}

impl ReleaseDates {
    /// Returns an iterator over the dates, the most trustworthy source first.
    pub fn iter(&self) -> impl Iterator<Item = ReleaseDate> {
        self.times
            .iter()
            .map(|(&source, &time)| ReleaseDate { time, source })
    }

    /// Returns the latest date: nothing can have been published before it was signed, and a server
    /// may state any date in the past.
    #[must_use]
    pub fn latest(&self) -> Option<ReleaseDate> {
        // Of equal times the first one has the most trustworthy source.
        self.iter()
            .reduce(|a, b| if b.time > a.time { b } else { a })
    }
}

impl Extend<ReleaseDate> for ReleaseDates {
    /// Adds dates; of one source the latest stays.
    fn extend<I: IntoIterator<Item = ReleaseDate>>(&mut self, dates: I) {
        for date in dates {
            let known = self.times.entry(date.source).or_insert(date.time);
            *known = date.time.max(*known);
        }
    }
}

impl FromIterator<ReleaseDate> for ReleaseDates {
    fn from_iter<I: IntoIterator<Item = ReleaseDate>>(dates: I) -> Self {
        let mut all = Self::default();
        all.extend(dates);
        all
    }
}

impl AgePolicy {
    /// Makes a policy; `None` if every release is old enough.
    #[must_use]
    pub fn new(min_age: MinAge, undated: Undated) -> Option<Self> {
        (!min_age.is_zero()).then_some(Self { min_age, undated })
    }

    /// Returns the reason why a release with these dates is not old enough; `None` if it is.
    ///
    /// The latest date counts. One in the future makes a release too young.
    #[must_use]
    pub fn youth(&self, dates: &ReleaseDates, now: SystemTime) -> Option<Youth> {
        let Some(date) = dates.latest() else {
            return (self.undated == Undated::Refuse).then_some(Youth::Undated);
        };
        let until = date.time.checked_add(self.min_age.duration());
        // A sum beyond the clock is never over: such a date is in the far future.
        let is_over = until.is_some_and(|until| until <= now);
        (!is_over).then_some(Youth::Recent { date, until })
    }
}

impl Youth {
    /// Describes the date of the release in words, as in `signed 2025-11-19, 3 days ago`.
    #[must_use]
    pub fn seen_at(&self, now: SystemTime) -> String {
        match self {
            Self::Recent { date, .. } => date.seen_at(now),
            Self::Undated => "of unknown date".to_owned(),
        }
    }
}

impl MinAge {
    #[must_use]
    pub fn duration(&self) -> Duration {
        // No overflow: count and unit make at most `MAX_AGE`.
        Duration::from_secs(self.count * self.hours_of_unit * 60 * 60)
    }

    /// Returns true if every release is old enough.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        self.count == 0
    }
}

impl FromStr for MinAge {
    type Err = MinAgeError;

    fn from_str(text: &str) -> Result<Self, MinAgeError> {
        let read = || {
            let (letter, unit, hours_of_unit) =
                *UNITS.iter().find(|(letter, ..)| text.ends_with(*letter))?;
            let digits = text.strip_suffix(letter)?;
            // `parse` would accept a sign, `+7d`.
            let are_digits = digits.bytes().all(|byte| byte.is_ascii_digit());
            let count = digits.parse().ok().filter(|_| are_digits)?;
            (count <= MAX_AGE / hours_of_unit).then_some(Self {
                count,
                unit,
                hours_of_unit,
            })
        };
        read().ok_or_else(|| MinAgeError {
            text: text.to_owned(),
        })
    }
}

impl fmt::Display for MinAge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&counted(self.count, self.unit))
    }
}

#[cfg(test)]
mod tests {
    use std::time::UNIX_EPOCH;

    use super::*;

    const NOW: u64 = 1_000;

    fn at(days: u64) -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(days * 24 * 60 * 60)
    }

    fn dates(days: &[(DateSource, u64)]) -> ReleaseDates {
        let dates = days.iter().map(|(source, day)| ReleaseDate {
            time: at(*day),
            source: *source,
        });
        dates.collect()
    }

    #[track_caller]
    fn check(days: &[(DateSource, u64)], undated: Undated, wanted: Option<&str>) {
        let policy = AgePolicy {
            min_age: "7d".parse().expect("valid"),
            undated,
        };
        let youth = policy.youth(&dates(days), at(NOW));
        let text = youth.map(|youth| youth.seen_at(at(NOW)));
        assert_eq!(text.as_deref(), wanted, "{days:?}");
    }

    #[test]
    fn the_latest_date_decides() {
        use DateSource::{ChecksumList, Package, Registry, Signature};
        let accept = Undated::Accept;
        check(&[(Signature, NOW - 7)], accept, None);
        check(
            &[(Signature, NOW - 6)],
            accept,
            Some("signed 1972-09-21, 6 days ago"),
        );
        check(
            &[(ChecksumList, 3), (Signature, NOW - 3)],
            accept,
            Some("signed 1972-09-24, 3 days ago"),
        );
        check(
            &[(Signature, 3), (Registry, NOW - 1), (Package, 5)],
            accept,
            Some("published 1972-09-26, 24 hours ago"),
        );
        check(&[(Signature, 3), (Registry, 4), (Package, 5)], accept, None);
        check(
            &[(Package, NOW + 30), (Signature, 3)],
            accept,
            Some("package changed 1972-10-27, in 30 days"),
        );
        // Of lists for single platforms the latest counts.
        check(
            &[(Signature, NOW - 2), (Signature, 3)],
            accept,
            Some("signed 1972-09-25, 2 days ago"),
        );
    }

    #[test]
    fn an_undated_release_is_old_enough_unless_it_is_refused() {
        check(&[], Undated::Accept, None);
        check(&[], Undated::Refuse, Some("of unknown date"));
        check(&[(DateSource::Package, 3)], Undated::Refuse, None);
    }

    #[test]
    fn a_date_at_the_end_of_time_is_young() {
        let mut last = UNIX_EPOCH;
        for shift in (0..63).rev() {
            last = last
                .checked_add(Duration::from_secs(1 << shift))
                .unwrap_or(last);
        }
        let source = DateSource::Registry;
        let dates = ReleaseDates::from_iter([ReleaseDate { time: last, source }]);
        let policy = AgePolicy {
            min_age: "7d".parse().expect("valid"),
            undated: Undated::Accept,
        };
        let youth = policy.youth(&dates, at(NOW));
        assert!(
            matches!(youth, Some(Youth::Recent { until: None, .. })),
            "{youth:?}"
        );
    }

    #[test]
    fn an_age_is_a_number_with_a_unit() {
        for (text, words, hours) in [
            ("0d", "0 days", 0),
            ("1h", "1 hour", 1),
            ("36h", "36 hours", 36),
            ("7d", "7 days", 168),
            ("2w", "2 weeks", 336),
        ] {
            let age: MinAge = text.parse().expect(text);
            assert_eq!(age.to_string(), words);
            assert_eq!(age.duration(), Duration::from_secs(hours * 3600));
        }
        for text in [
            "",
            "7",
            "d",
            "-7d",
            "+7d",
            "1.5d",
            "7 d",
            "7m",
            "7days",
            "7D",
            "36501d",
            "99999999999999999999999w",
        ] {
            assert!(text.parse::<MinAge>().is_err(), "{text}");
        }
    }
}
