//! Moments as text: dates in UTC, and how long ago something was.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use chrono::{DateTime, NaiveDateTime, SecondsFormat, Utc};

const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;
/// Months and years need not be exact in words.
const MONTH: u64 = 30 * DAY;
const YEAR: u64 = 365 * DAY;

/// Each unit, with the smallest span that uses it: small numbers of a unit say too little.
const UNITS: [(u64, u64, &str); 5] = [
    (2 * YEAR, YEAR, "year"),
    (2 * MONTH, MONTH, "month"),
    (2 * DAY, DAY, "day"),
    (2 * HOUR, HOUR, "hour"),
    (0, MINUTE, "minute"),
];

/// Dates of HTTP: of today, of RFC 850, and of `asctime` in C.
const HTTP_DATES: [&str; 3] = [
    "%a, %d %b %Y %H:%M:%S GMT",
    "%A, %d-%b-%y %H:%M:%S GMT",
    "%a %b %e %H:%M:%S %Y",
];

/// Spells the day of a moment in UTC.
///
/// ```
/// use std::time::{Duration, UNIX_EPOCH};
/// use lockctl_core::package::calendar::day;
///
/// assert_eq!(day(UNIX_EPOCH + Duration::from_secs(1_763_596_799)), "2025-11-19");
/// ```
#[must_use]
pub fn day(moment: SystemTime) -> String {
    utc(moment).format("%Y-%m-%d").to_string()
}

/// Spells a moment as RFC 3339 has it, in UTC and to the second: `2025-11-19T23:59:59Z`.
#[must_use]
pub fn timestamp(moment: SystemTime) -> String {
    utc(moment).to_rfc3339_opts(SecondsFormat::Secs, true)
}

/// Reads an RFC 3339 timestamp in any time zone. Returns `None` for any other text, and for a moment before
/// 1970, because no release is so old.
#[must_use]
pub fn read_timestamp(text: &str) -> Option<SystemTime> {
    let seconds = DateTime::parse_from_rfc3339(text).ok()?.timestamp();
    UNIX_EPOCH.checked_add(Duration::from_secs(seconds.try_into().ok()?))
}

/// Reads a day as its first moment in UTC; `None` for any other text.
///
/// ```
/// use lockctl_core::package::calendar::{day, read_day};
///
/// assert_eq!(read_day("2027-03-01").map(day).as_deref(), Some("2027-03-01"));
/// assert_eq!(read_day("2027-02-30"), None);
/// ```
#[must_use]
pub fn read_day(text: &str) -> Option<SystemTime> {
    // RFC 3339 wants two digits for a month and a day, so `2027-3-1` is no day.
    read_timestamp(&format!("{text}T00:00:00Z"))
}

/// Reads a moment as HTTP has it, in its form of today or in one of the two older ones that RFC 9110 (5.6.7) has
/// a recipient accept; `None` for any other text, for another day of the week, and for a moment before 1970.
///
/// ```
/// use lockctl_core::package::calendar::{read_http_date, timestamp};
///
/// let moment = read_http_date("Wed, 19 Nov 2025 23:59:59 GMT");
/// assert_eq!(moment.map(timestamp).as_deref(), Some("2025-11-19T23:59:59Z"));
/// ```
#[must_use]
pub fn read_http_date(text: &str) -> Option<SystemTime> {
    let moment = HTTP_DATES
        .iter()
        .find_map(|form| NaiveDateTime::parse_from_str(text, form).ok())?;
    let seconds = moment.and_utc().timestamp();
    UNIX_EPOCH.checked_add(Duration::from_secs(seconds.try_into().ok()?))
}

/// Spells the time that has passed since a moment, or that is left until then.
///
/// ```
/// use std::time::{Duration, UNIX_EPOCH};
/// use lockctl_core::package::calendar::ago;
///
/// let hours = |n: u64| UNIX_EPOCH + Duration::from_secs(n * 3600);
/// assert_eq!(ago(hours(0), hours(80)), "3 days ago");
/// assert_eq!(ago(hours(10), hours(0)), "in 10 hours");
/// ```
#[must_use]
pub fn ago(moment: SystemTime, now: SystemTime) -> String {
    match now.duration_since(moment) {
        Ok(past) if past.as_secs() < MINUTE => "just now".to_owned(),
        Ok(past) => format!("{} ago", span(past)),
        Err(future) => format!("in {}", span(future.duration())),
    }
}

/// Counts the units of a span that say most; what is left over is cut off.
#[must_use]
pub fn span(span: Duration) -> String {
    let seconds = span.as_secs();
    let (_, length, name) = UNITS
        .iter()
        .find(|(from, ..)| seconds >= *from)
        .expect("the last unit begins at 0");
    counted(seconds / length, name)
}

pub(super) fn counted(count: u64, name: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {name}{plural}")
}

/// Returns a moment as a calendar has it; one that is beyond all calendars is the last of them.
fn utc(moment: SystemTime) -> DateTime<Utc> {
    let since = moment.duration_since(UNIX_EPOCH).unwrap_or_default();
    let seconds = i64::try_from(since.as_secs()).unwrap_or(i64::MAX);
    DateTime::from_timestamp(seconds, 0).unwrap_or(DateTime::<Utc>::MAX_UTC)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(seconds)
    }

    #[test]
    fn a_moment_is_read_in_any_time_zone_and_written_in_utc() {
        for (text, day_of_it) in [
            ("2025-11-19T23:59:59Z", "2025-11-19"),
            ("2025-11-19T23:59:59.999999Z", "2025-11-19"),
            ("2025-11-19T23:59:59-07:00", "2025-11-20"),
            ("2024-02-29T00:30:00+01:00", "2024-02-28"),
        ] {
            let moment = read_timestamp(text).expect(text);
            assert_eq!(day(moment), day_of_it, "{text}");
            assert_eq!(read_timestamp(&timestamp(moment)), Some(moment), "{text}");
        }
        for text in [
            "",
            "2025-11-19",
            "soon",
            "1969-12-31T23:59:59Z",
            "2025-13-01T00:00:00Z",
        ] {
            assert_eq!(read_timestamp(text), None, "{text}");
        }
    }

    #[test]
    fn dates_of_http_have_three_forms() {
        for text in [
            "Sun, 06 Nov 1994 08:49:37 GMT",
            "Sunday, 06-Nov-94 08:49:37 GMT",
            "Sun Nov  6 08:49:37 1994",
        ] {
            assert_eq!(read_http_date(text), Some(at(784_111_777)), "{text}");
        }
        for text in [
            "",
            "soon",
            "1994-11-06T08:49:37Z",
            "Mon, 06 Nov 1994 08:49:37 GMT",
            "Sun, 06 Nov 1994 08:49:37 CET",
            "Sun, 31 Nov 1994 08:49:37 GMT",
            "Wed, 31 Dec 1969 23:59:59 GMT",
        ] {
            assert_eq!(read_http_date(text), None, "{text}");
        }
    }

    // The clock of Windows ends in the year 60055.
    #[cfg(not(windows))]
    #[test]
    fn a_moment_beyond_all_calendars_is_written() {
        let far = at(u64::try_from(i64::MAX).expect("positive"));
        assert!(day(far).starts_with("+262142"), "{}", day(far));
    }

    #[test]
    fn spans_are_in_the_unit_that_says_most() {
        let now = 4 * YEAR;
        for (past, words) in [
            (0, "just now"),
            (59, "just now"),
            (MINUTE, "1 minute ago"),
            (2 * HOUR - 1, "119 minutes ago"),
            (2 * HOUR, "2 hours ago"),
            (2 * DAY - 1, "47 hours ago"),
            (3 * DAY + 5, "3 days ago"),
            (2 * MONTH, "2 months ago"),
            (3 * YEAR, "3 years ago"),
        ] {
            assert_eq!(ago(at(now - past), at(now)), words);
        }
        assert_eq!(ago(at(now + 10 * DAY), at(now)), "in 10 days");
    }
}
