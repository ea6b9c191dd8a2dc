//! One kept answer as bytes:
//!
//! ```text
//! lockctl answer 1
//! 1795338000 41
//! sha256 of everything but this line
//! the question, 41 bytes, and a line feed
//! the answer, up to the end
//! ```

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::{KeptAnswer, seconds};
use crate::hash::{hex_of_digest, sha256};

/// The first line of every object. Another format would have another one, and another key.
const HEADER: &[u8] = b"lockctl answer 1\n";

/// Writes an object as [`read`] expects it.
pub(super) fn write(question: &str, since: SystemTime, answer: &[u8]) -> Vec<u8> {
    let about = format!("{} {}\n", seconds(since), question.len());
    let rest = [question.as_bytes(), b"\n", answer].concat();
    let check = check(about.as_bytes(), &rest);
    [HEADER, about.as_bytes(), check.as_bytes(), b"\n", &rest].concat()
}

/// Reads an object; `None` if it is damaged, or does not answer the question.
pub(super) fn read(bytes: &[u8], question: &str) -> Option<KeptAnswer> {
    let (about, rest) = line(bytes.strip_prefix(HEADER)?)?;
    let (stated, rest) = line(rest)?;
    // The check is over everything else, so that a lock file never depends on half of an object.
    if stated != format!("{}\n", check(about, rest)).as_bytes() {
        return None;
    }
    let (since, length) = std::str::from_utf8(about)
        .ok()?
        .trim_end()
        .split_once(' ')?;
    let (asked, answer) = rest.split_at_checked(length.parse().ok()?)?;
    // Only a copied or renamed file has another question: the key is its hash.
    if asked != question.as_bytes() {
        return None;
    }
    Some(KeptAnswer {
        answer: answer.strip_prefix(b"\n")?.to_vec(),
        since: UNIX_EPOCH.checked_add(Duration::from_secs(since.parse().ok()?))?,
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
