//! Functions of points in time, written as in RFC 3339.

use chrono::{DateTime, Datelike as _, FixedOffset, SecondsFormat, TimeDelta};

use super::arguments::{CallArguments, CallFault, CallResult};
use crate::expr::Number;
use crate::expr::typed::Typed;

const NO_TIMESTAMP: &str = "this is no timestamp as in RFC 3339";

/// Formats a time: runs of one letter are its parts, and quotes enclose plain text.
pub(super) fn formatdate(args: &CallArguments<'_>) -> CallResult {
    let time = timestamp(args.text(1))?.ok_or_else(|| CallFault::argument(1, NO_TIMESTAMP))?;
    let mut out = String::new();
    let mut rest = args.text(0);
    while let Some(first) = rest.chars().next() {
        if first == '\'' {
            let (quoted, behind) = quoted(&rest[1..])?;
            out.push_str(&quoted);
            rest = behind;
            continue;
        }
        let end = rest.find(|c: char| c != first).unwrap_or(rest.len());
        let (run, behind) = rest.split_at(end);
        if first.is_ascii_alphabetic() {
            out.push_str(&part(run, &time)?);
        } else {
            out.push_str(run);
        }
        rest = behind;
    }
    Ok(Typed::string(out))
}

pub(super) fn timeadd(args: &CallArguments<'_>) -> CallResult {
    let time = timestamp(args.text(0))?.ok_or_else(|| CallFault::call(NO_TIMESTAMP))?;
    let duration = duration(args.text(1))?.ok_or_else(|| CallFault::call("this is no duration"))?;
    let sum = time
        .checked_add_signed(duration)
        // RFC 3339 has years of four digits.
        .filter(|sum| (0..=9999).contains(&sum.year()))
        .ok_or(CallFault::Uncertain("a year of more than four digits"))?;
    let text = sum.to_rfc3339_opts(SecondsFormat::Secs, true);
    Ok(Typed::string(text))
}

pub(super) fn timecmp(args: &CallArguments<'_>) -> CallResult {
    let time =
        |at: usize| timestamp(args.text(at))?.ok_or_else(|| CallFault::argument(at, NO_TIMESTAMP));
    let order = time(0)?.cmp(&time(1)?) as i8;
    Number::parse(&order.to_string())
        .map(Typed::number)
        .ok_or(CallFault::Uncertain("this order"))
}

/// Reads a timestamp; `None` if it is none. The programs take some that are not quite in form.
fn timestamp(text: &str) -> CallResult<Option<DateTime<FixedOffset>>> {
    let bytes = text.as_bytes();
    let is_digit_or = |(at, b): (usize, &u8)| match at {
        4 | 7 => *b == b'-',
        10 => *b == b'T',
        13 | 16 => *b == b':',
        _ => b.is_ascii_digit(),
    };
    if bytes.len() < 11 || !bytes.iter().enumerate().take(11).all(is_digit_or) {
        return Ok(None);
    }
    // Go and Rust differ in leap seconds and in a small `z`.
    let has_form = bytes.len() >= 20
        && bytes.iter().enumerate().take(19).all(is_digit_or)
        && &bytes[17..19] != b"60"
        && !text.ends_with('z');
    match DateTime::parse_from_rfc3339(text) {
        Ok(time) if has_form => Ok(Some(time)),
        _ => Err(CallFault::Uncertain(
            "a timestamp that is not quite in form",
        )),
    }
}

/// Reads a duration such as `1h30m` or `-1.5s`; `None` if it is none.
fn duration(text: &str) -> CallResult<Option<TimeDelta>> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    // Only zero may have no unit.
    if unsigned == "0" {
        return Ok(Some(TimeDelta::zero()));
    }
    let (mut rest, mut nanoseconds) = (unsigned, 0_i128);
    while !rest.is_empty() {
        let is_unit = |c: char| !c.is_ascii_digit() && c != '.';
        let Some((number, behind)) = rest.find(is_unit).map(|at| rest.split_at(at)) else {
            return Ok(None);
        };
        let end = behind.find(|c: char| !is_unit(c)).unwrap_or(behind.len());
        let (unit, behind) = behind.split_at(end);
        let nanoseconds_each = match unit {
            "ns" => 1,
            // The micro sign and the Greek letter look alike; Go takes both.
            "us" | "µs" | "μs" => 1_000,
            "ms" => 1_000_000,
            "s" => 1_000_000_000,
            "m" => 60_000_000_000,
            "h" => 3_600_000_000_000,
            _ => return Ok(None),
        };
        match measured(number, nanoseconds_each)? {
            Some(part) => nanoseconds = nanoseconds.saturating_add(part),
            None => return Ok(None),
        }
        rest = behind;
    }
    let sign = if text.starts_with('-') { -1 } else { 1 };
    Ok(i64::try_from(sign * nanoseconds)
        .ok()
        .filter(|nanoseconds| *nanoseconds != i64::MIN && !unsigned.is_empty())
        .map(TimeDelta::nanoseconds))
}

/// Multiplies a decimal number by a unit.
fn measured(number: &str, unit: i128) -> CallResult<Option<i128>> {
    const ROUNDED: CallFault = CallFault::Uncertain("the duration may be rounded");
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if fraction.contains('.') || (whole.is_empty() && fraction.is_empty()) {
        return Ok(None);
    }
    let digits = |digits: &str| match digits {
        "" => Ok(0),
        some => some.parse::<i64>().map(i128::from).map_err(|_| ROUNDED),
    };
    let places = u32::try_from(fraction.len()).map_err(|_| ROUNDED)?;
    let scale = 10_i128.checked_pow(places).ok_or(ROUNDED)?;
    // A fraction of a nanosecond is rounded by the program in its own way.
    if unit % scale != 0 {
        return Err(ROUNDED);
    }
    Ok(Some(
        digits(whole)? * unit + digits(fraction)? * (unit / scale),
    ))
}

/// Reads the text behind a quote, up to the next single one; two quotes are one of the text.
fn quoted(rest: &str) -> CallResult<(String, &str)> {
    if let Some(behind) = rest.strip_prefix('\'') {
        return Ok(("'".to_owned(), behind));
    }
    let (mut out, mut rest) = (String::new(), rest);
    loop {
        let Some((before, behind)) = rest.split_once('\'') else {
            if out.ends_with('\'') && rest.is_empty() {
                return Err(CallFault::Uncertain("a quote that ends twice"));
            }
            return Err(CallFault::argument(0, "a quote is not closed"));
        };
        out.push_str(before);
        match behind.strip_prefix('\'') {
            Some(further) => {
                out.push('\'');
                rest = further;
            }
            None => return Ok((out, behind)),
        }
    }
}

/// Formats the part of a time that a run of one letter means.
fn part(run: &str, time: &DateTime<FixedOffset>) -> CallResult<String> {
    let is_utc = time.offset().local_minus_utc() == 0;
    let form = match run {
        "YYYY" => "%Y",
        "YY" => "%y",
        "MMMM" => "%B",
        "MMM" => "%b",
        "MM" => "%m",
        "M" => "%-m",
        "DD" => "%d",
        "D" => "%-d",
        "EEEE" => "%A",
        "EEE" => "%a",
        "hh" => "%H",
        "h" => "%-H",
        "HH" => "%I",
        "H" => "%-I",
        "AA" => "%p",
        "aa" => "%P",
        "mm" => "%M",
        "m" => "%-M",
        "ss" => "%S",
        "s" => "%-S",
        // Only these two forms have a name for UTC.
        "Z" if is_utc => "Z",
        "ZZZ" if is_utc => "UTC",
        "Z" | "ZZZZZ" => "%:z",
        "ZZZ" | "ZZZZ" => "%z",
        _ => {
            let reason = format!("invalid date format verb {run:?}");
            return Err(CallFault::Argument(0, reason));
        }
    };
    Ok(time.format(form).to_string())
}
