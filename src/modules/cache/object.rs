//! One kept answer as bytes:
//!
//! ```text
//! lockctl module answer 1
//! 1795338000 41
//! sha256 of everything but this line
//! the question, 41 bytes, and a line feed
//! the answer, up to the end
//! ```

use std::io;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::{CachedAnswer, hex_digest, seconds};

/// The first line of every object. Another format would have another one, and another key.
const HEADER: &[u8] = b"lockctl module answer 1\n";

/// An object that is not used.
#[derive(Debug, thiserror::Error)]
pub enum ObjectError {
    /// The object cannot be read or trusted.
    #[error(transparent)]
    Unreadable(#[from] io::Error),
    /// The object does not have the form of an answer.
    #[error("it is no answer about modules")]
    Form,
    /// Its check does not match.
    #[error("it is damaged: its check does not match")]
    Damaged,
    /// The object answers another question.
    #[error("it answers another question")]
    Misplaced,
}

/// Writes an object as [`read`] expects it.
pub(super) fn write(question: &str, since: SystemTime, answer: &[u8]) -> Vec<u8> {
    let about = format!("{} {}\n", seconds(since), question.len());
    let rest = [question.as_bytes(), b"\n", answer].concat();
    let check = check(about.as_bytes(), &rest);
    [HEADER, about.as_bytes(), check.as_bytes(), b"\n", &rest].concat()
}

/// Reads an object that answers a question.
///
/// # Errors
/// If it does not.
pub(super) fn read(bytes: &[u8], question: &str) -> Result<CachedAnswer, ObjectError> {
    let rest = bytes.strip_prefix(HEADER).ok_or(ObjectError::Form)?;
    let (about, rest) = line(rest).ok_or(ObjectError::Form)?;
    let (stated, rest) = line(rest).ok_or(ObjectError::Form)?;
    if stated != format!("{}\n", check(about, rest)).as_bytes() {
        return Err(ObjectError::Damaged);
    }
    let about = std::str::from_utf8(about).map_err(|_| ObjectError::Form)?;
    let numbers: Option<(u64, usize)> = about
        .trim_end()
        .split_once(' ')
        .and_then(|(since, length)| Some((since.parse().ok()?, length.parse().ok()?)));
    let (since, length) = numbers.ok_or(ObjectError::Form)?;
    let (asked, answer) = rest.split_at_checked(length).ok_or(ObjectError::Form)?;
    if asked != question.as_bytes() {
        return Err(ObjectError::Misplaced);
    }
    let answer = answer.strip_prefix(b"\n").ok_or(ObjectError::Form)?;
    let since = UNIX_EPOCH.checked_add(Duration::from_secs(since));
    Ok(CachedAnswer {
        answer: answer.to_vec(),
        since: since.ok_or(ObjectError::Form)?,
    })
}

/// Splits the first line off, with its end.
fn line(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = bytes.iter().position(|byte| *byte == b'\n')?;
    Some(bytes.split_at(end + 1))
}

fn check(about: &[u8], rest: &[u8]) -> String {
    hex_digest(&[about, rest].concat())
}
