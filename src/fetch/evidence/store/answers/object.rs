//! One kept answer as bytes:
//!
//! ```text
//! lockctl answer 1
//! 1795338000 41
//! sha256 of everything but this line
//! the question, 41 bytes, and a line feed
//! the answer, up to the end
//! ```

use std::io;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::{KeptAnswer, seconds};
use crate::hash::{hex_of_digest, sha256};

/// The first line of every object. Another format would have another one, and another key.
const HEADER: &[u8] = b"lockctl answer 1\n";

/// An object that is not used.
#[derive(Debug, thiserror::Error)]
pub enum AnswerError {
    #[error(transparent)]
    Unreadable(#[from] io::Error),
    #[error("it is no kept answer")]
    Form,
    #[error("it is damaged: its check does not match")]
    Damaged,
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
pub(super) fn read(bytes: &[u8], question: &str) -> Result<KeptAnswer, AnswerError> {
    let rest = bytes.strip_prefix(HEADER).ok_or(AnswerError::Form)?;
    let (about, rest) = line(rest).ok_or(AnswerError::Form)?;
    let (stated, rest) = line(rest).ok_or(AnswerError::Form)?;
    // The check is over everything else, so that a lock file never depends on half of an object.
    if stated != format!("{}\n", check(about, rest)).as_bytes() {
        return Err(AnswerError::Damaged);
    }
    let about = std::str::from_utf8(about).map_err(|_| AnswerError::Form)?;
    let numbers: Option<(u64, usize)> = about
        .trim_end()
        .split_once(' ')
        .and_then(|(since, length)| Some((since.parse().ok()?, length.parse().ok()?)));
    let (since, length) = numbers.ok_or(AnswerError::Form)?;
    let (asked, answer) = rest.split_at_checked(length).ok_or(AnswerError::Form)?;
    // Only a copied or renamed file gets here: the key is the hash of the question.
    if asked != question.as_bytes() {
        return Err(AnswerError::Misplaced);
    }
    let answer = answer.strip_prefix(b"\n").ok_or(AnswerError::Form)?;
    let since = UNIX_EPOCH.checked_add(Duration::from_secs(since));
    Ok(KeptAnswer {
        answer: answer.to_vec(),
        since: since.ok_or(AnswerError::Form)?,
    })
}

/// Splits the first line off, with its end.
fn line(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = bytes.iter().position(|byte| *byte == b'\n')?;
    Some(bytes.split_at(end + 1))
}

fn check(about: &[u8], rest: &[u8]) -> String {
    hex_of_digest(&sha256(&[about, rest].concat()))
}
