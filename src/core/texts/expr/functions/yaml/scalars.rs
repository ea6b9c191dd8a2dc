//! Scalars of YAML without quotes: special cases, or strings.

use chrono::NaiveDate;

use super::{CallFault, CallResult, FORM};
use crate::expr::Number;
use crate::expr::convert::convert;
use crate::expr::typed::Typed;
use crate::expr::types::Type;

/// Makes a value of a plain text, one without quotes.
pub(super) fn plain(text: &str) -> CallResult {
    // In brackets, YAML 1.2 allows more in such a text than YAML 1.1.
    if text.starts_with([':', '|', '>', '%', '@', '`']) || text.contains('?') {
        return Err(FORM);
    }
    resolved(text)
}

/// Makes a value of the text of a block, which the programs read like a plain text before they make a
/// string of its value.
pub(super) fn block(text: &str) -> CallResult {
    Ok(convert(resolved(text)?, &Type::String)?)
}

fn resolved(text: &str) -> CallResult {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Ok(Typed::null(Type::Any)),
        ".nan" | ".NaN" | ".NAN" => {
            return Err(CallFault::call("floating point NaN is not supported"));
        }
        ".inf" | ".Inf" | ".INF" => return Err(FORM),
        _ => {}
    }
    if let Some(truth) = truth(text) {
        return Ok(Typed::bool(truth));
    }
    match text.as_bytes() {
        [b'.', ..] if is_decimal(text) => decimal(text),
        // The programs take other exponents here than elsewhere.
        [b'.', b'0'..=b'9', ..] => Err(FORM),
        [b'+' | b'-' | b'0'..=b'9', ..] => number(text),
        _ => Ok(Typed::string(text)),
    }
}

/// Reads a truth value; the programs have all words of YAML 1.1 for them.
fn truth(text: &str) -> Option<bool> {
    Some(match text {
        "y" | "Y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => true,
        "n" | "N" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => {
            false
        }
        _ => return None,
    })
}

/// Reads what begins with a sign or a digit: a number, or a string.
fn number(text: &str) -> CallResult {
    let unsigned = text.trim_start_matches(['+', '-']);
    if matches!(unsigned, ".inf" | ".Inf" | ".INF") && text.len() - unsigned.len() == 1 {
        return Err(FORM);
    }
    if is_decimal(text) {
        return decimal(text);
    }
    // A date becomes a timestamp (rules 6.6).
    let is_same = |date: NaiveDate| date.to_string() == text;
    if text.len() == "2001-12-14".len() && text.parse().is_ok_and(is_same) {
        return Ok(Typed::string(format!("{text}T00:00:00Z")));
    }
    // Further forms become other timestamps, and these prefixes begin numbers of other bases.
    let is_of_date = |c: char| c.is_ascii_digit() || "-+:.,tTZ ".contains(c);
    let may_be_date = text.as_bytes().get(4) == Some(&b'-') && text.chars().all(is_of_date);
    if may_be_date || text.starts_with("0o") || text.starts_with("0x") {
        return Err(FORM);
    }
    Ok(Typed::string(text))
}

/// Returns true for a decimal number: a sign, digits, a fraction and an exponent, with at least one digit.
fn is_decimal(text: &str) -> bool {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (digits, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((digits, exponent)) => (
            digits,
            exponent.strip_prefix(['+', '-']).unwrap_or(exponent),
        ),
        None => (unsigned, "0"),
    };
    let is_digits = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
    let is_mantissa = match digits.split_once('.') {
        Some(("", fraction)) => !fraction.is_empty() && is_digits(fraction),
        Some((whole, fraction)) => is_digits(whole) && is_digits(fraction),
        None => !digits.is_empty() && is_digits(digits),
    };
    is_mantissa && !exponent.is_empty() && is_digits(exponent)
}

fn decimal(text: &str) -> CallResult {
    let (sign, unsigned) = match text.strip_prefix('-') {
        Some(unsigned) => ("-", unsigned),
        None => ("", text.strip_prefix('+').unwrap_or(text)),
    };
    // Digits before the dot may be missing in YAML only.
    let zero = if unsigned.starts_with('.') { "0" } else { "" };
    let number = Number::parse(&format!("{sign}{zero}{unsigned}"));
    number.map(Typed::number).ok_or(FORM)
}

/// Returns true if YAML 1.1 and 1.2 read the same lines, white space, directives, escapes and names of anchors in a
/// text.
pub(super) fn is_portable(text: &str) -> bool {
    // YAML 1.1 has more line breaks, and refuses control characters everywhere.
    let is_portable_char = |c: char| match c {
        '\n' | ' '..='~' => true,
        '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}' => false,
        c => c >= '\u{a0}',
    };
    let is_special = |line: &str| line.starts_with('%') || line.starts_with("...");
    // Only in YAML 1.2 a `:` ends a key before these characters, in brackets.
    let ends_key_in_brackets = |(at, _): (usize, &str)| {
        text[at + 1..].starts_with([',', '[', ']', '{', '}']) && !text[..at].ends_with(['"', '\''])
    };
    // Versions differ in the names of anchors, which `&` and `*` begin where nothing is before them.
    let has_simple_name = |(at, _): (usize, &str)| {
        let is_inside =
            text[..at].ends_with(|c: char| !c.is_whitespace() && !"[]{},:-?\"'".contains(c));
        let is_end = |b: &u8| b.is_ascii_whitespace() || b",]}".contains(b);
        let mut name = text[at + 1..].bytes().take_while(|b| !is_end(b));
        is_inside || name.all(|b| b.is_ascii_alphanumeric() || b"_-".contains(&b))
    };
    text.chars().all(is_portable_char)
        && !text.lines().any(is_special)
        && !text.contains("\\/")
        && !text.match_indices(':').any(ends_key_in_brackets)
        && text.match_indices(['&', '*']).all(has_simple_name)
}
