//! The grammar of a version: numbers, then suffixes (rules 1).

use super::Version;
use super::error::VersionFault;
use super::order::{Metadata, Prerelease};

/// A version at the start of a text.
pub(super) struct Scanned<'a> {
    /// The version, padded with zeros to three numbers.
    pub(super) version: Version,
    /// The number of numbers that were written: 1 to 3.
    pub(super) numbers: usize,
    /// The text behind the numbers.
    pub(super) rest: &'a str,
}

/// Reads the longest version at the start of a text.
///
/// A dot behind the last number is swallowed, and then no suffix can follow. So is an empty
/// suffix, and a `+` behind an empty pre-release remains in the rest.
pub(super) fn version(text: &str) -> Result<Scanned<'_>, VersionFault> {
    let mut numbers = [0; 3];
    let mut count = 0;
    let mut rest = text;
    let ends_in_dot = loop {
        let Some((number, behind)) = number(rest)? else {
            break true;
        };
        // Four numbers are no version (rules 1.3).
        *numbers.get_mut(count).ok_or(VersionFault::TooManyNumbers)? = number;
        count += 1;
        match behind.strip_prefix('.') {
            Some(behind) => rest = behind,
            None => {
                rest = behind;
                break false;
            }
        }
    };
    if count == 0 {
        return Err(VersionFault::NoNumber);
    }
    // One dot at the very end is dropped; before a suffix it is refused (rules 1.2).
    let (prerelease, metadata, rest) = if ends_in_dot {
        ("", "", rest)
    } else {
        // Parts are not checked as in SemVer: `1.2.3-01` and `1.2.3-beta..1` are versions (rules 1.1).
        let is_suffix = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'.' || byte == b'-';
        let (prerelease, behind_prerelease) = match rest.strip_prefix('-') {
            Some(behind) => split_while(behind, is_suffix),
            None => ("", rest),
        };
        let is_cut_short = prerelease.is_empty() && rest.starts_with('-');
        match behind_prerelease.strip_prefix('+') {
            Some(behind) if !is_cut_short => {
                let (metadata, rest) = split_while(behind, is_suffix);
                (prerelease, metadata, rest)
            }
            _ => (prerelease, "", behind_prerelease),
        }
    };
    let version = Version {
        major: numbers[0],
        minor: numbers[1],
        patch: numbers[2],
        prerelease: Prerelease(prerelease.into()),
        metadata: Metadata(metadata.into()),
    };
    Ok(Scanned {
        version,
        numbers: count,
        rest,
    })
}

/// Reads a number of 64 bits, if there is one; leading zeros do not matter.
fn number(text: &str) -> Result<Option<(u64, &str)>, VersionFault> {
    let (digits, behind) = split_while(text, |byte| byte.is_ascii_digit());
    if !digits.is_empty() {
        let number = digits.parse().map_err(|_| VersionFault::TooLarge)?;
        return Ok(Some((number, behind)));
    }
    match text.as_bytes().first() {
        Some(b'*' | b'x' | b'X') => Err(VersionFault::Wildcard),
        Some(b'v' | b'V') => Err(VersionFault::Prefix),
        _ => Ok(None),
    }
}

/// Splits behind the last byte of the leading run of ASCII bytes that are accepted.
pub(super) fn split_while(text: &str, accept: impl Fn(u8) -> bool) -> (&str, &str) {
    let end = text
        .bytes()
        .position(|byte| !accept(byte))
        .unwrap_or(text.len());
    text.split_at(end)
}
