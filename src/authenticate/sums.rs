//! The checksum document of a release, `SHA256SUMS` (rules 1).

use std::collections::BTreeMap;

use crate::hash::{Digest, Hash, Hashes, digest_of_hex, zh_of_digest};

use super::error::{AuthError, LineFault};
use super::limits::{MAX_FILES, MAX_LINE_BYTES};

/// What a checksum document says.
#[derive(Debug)]
pub(super) struct Sums {
    /// The hash of every listed file, whatever the file is.
    pub(super) hashes: Hashes,
    /// Those of them that are of zips, by the names of the files.
    pub(super) zips: Hashes,
    /// The name of the first file that has each hash.
    pub(super) names: BTreeMap<Hash, String>,
    /// The hash of the file that was asked for, by its first line.
    pub(super) ours: Digest,
}

/// Reads a checksum document.
///
/// Each of the programs has two readers that disagree about odd lines. This one reads whatever
/// either of them reads, with three mercies: lines that end in CRLF, blank lines, at which the
/// programs crash, and the `*` of binary mode before a name, at which they do not find the file.
/// Every other oddity is an error, whereas the programs then record a single hash silently.
///
/// # Errors
/// At the first line that is no checksum; then, if no line is for `filename`.
pub(super) fn read(document: &[u8], filename: &str) -> Result<Sums, AuthError> {
    let mut hashes = Hashes::default();
    let mut zips = Hashes::default();
    let mut names = BTreeMap::new();
    let mut ours = None;
    for (index, line) in document.split(|byte| *byte == b'\n').enumerate() {
        let unreadable = |fault| AuthError::SumsUnreadable {
            line: index + 1,
            fault,
        };
        let Some((digest, name)) = entry(line).map_err(unreadable)? else {
            continue;
        };
        hashes.insert(zh_of_digest(&digest));
        names
            .entry(zh_of_digest(&digest))
            .or_insert_with(|| shown(name));
        if name.to_ascii_lowercase().ends_with(b".zip") {
            zips.insert(zh_of_digest(&digest));
        }
        if hashes.len() > MAX_FILES {
            return Err(AuthError::TooManyFiles);
        }
        let is_ours = [Some(name), name.strip_prefix(b"*")].contains(&Some(filename.as_bytes()));
        if is_ours && ours.is_none() {
            ours = Some(digest);
        }
    }
    let ours = ours.ok_or_else(|| AuthError::NotListed {
        filename: filename.to_owned(),
    })?;
    Ok(Sums {
        hashes,
        zips,
        names,
        ours,
    })
}

/// Returns the name of a file as text, without the `*` of binary mode.
fn shown(name: &[u8]) -> String {
    let name = name.strip_prefix(b"*").unwrap_or(name);
    String::from_utf8_lossy(name).into_owned()
}

/// Returns a file for which two documents state different hashes; lines that cannot be read are passed
/// over.
pub(super) fn disagreement(one: &[u8], other: &[u8]) -> Option<String> {
    let mut stated = BTreeMap::new();
    for (digest, name) in entries(one) {
        stated.entry(name).or_insert(digest);
    }
    entries(other)
        .find(|(digest, name)| stated.get(name).is_some_and(|stated| stated != digest))
        .map(|(_, name)| String::from_utf8_lossy(name).into_owned())
}

/// Returns the names of the listed files that are texts; lines that cannot be read are passed over.
pub(super) fn names(document: &[u8]) -> impl Iterator<Item = &str> {
    let names = entries(document).filter_map(|(_, name)| std::str::from_utf8(name).ok());
    names.map(|name| name.strip_prefix('*').unwrap_or(name))
}

/// Returns the lines that can be read.
fn entries(document: &[u8]) -> impl Iterator<Item = (Digest, &[u8])> {
    let lines = document.split(|byte| *byte == b'\n');
    lines.filter_map(|line| entry(line).ok().flatten())
}

/// Returns the first two words of a line, which are all that the programs look at.
fn entry(line: &[u8]) -> Result<Option<(Digest, &[u8])>, LineFault> {
    if line.len() > MAX_LINE_BYTES {
        return Err(LineFault::TooLong);
    }
    let mut words = line
        .split(u8::is_ascii_whitespace)
        .filter(|word| !word.is_empty());
    let Some(first) = words.next() else {
        return Ok(None);
    };
    let digest = digest(first).ok_or(LineFault::NoHash)?;
    let name = words.next().ok_or(LineFault::NoName)?;
    Ok(Some((digest, name)))
}

fn digest(hex: &[u8]) -> Option<Digest> {
    digest_of_hex(std::str::from_utf8(hex).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks a document in which `A` means the hash of aa…, and so on. Expects the sorted
    /// hashes by their letters, that of `our.zip` behind an arrow; or the error.
    #[track_caller]
    fn check(document: &str, expected: &str) {
        let mut text = document.to_owned();
        for letter in ["A", "B", "C"] {
            text = text.replace(
                &format!("{letter} "),
                &format!("{} ", letter.to_lowercase().repeat(64)),
            );
        }
        let spelled = match read(text.as_bytes(), "our.zip") {
            Err(error) => error.to_string(),
            Ok(sums) => {
                let first = |hash: &crate::hash::Hash| hash.value()[..1].to_owned();
                let all: String = sums.hashes.iter().map(first).collect();
                format!("{all} -> {:x}", sums.ours[0] >> 4)
            }
        };
        assert_eq!(spelled, expected, "of {document:?}");
    }

    #[test]
    fn every_line_counts_and_the_first_for_our_file_is_ours() {
        check("A our.zip", "a -> a");
        check("B other.zip\nA our.zip\n", "ab -> a");
        check("A our.zip\nB our.zip\nC x_manifest.json\n", "abc -> a");
        check("A our.zip\nA our.zip\n", "a -> a");
        check(&format!("{} our.zip\n", "A1".repeat(32)), "a -> a");
    }

    #[test]
    fn columns_and_white_space_are_read_as_the_programs_do() {
        check("A \t our.zip more words\n", "a -> a");
        check(" A our.zip\n", "a -> a");
        check("A our.zip2\nB dir/our.zip\nC our.zip\n", "abc -> c");
    }

    #[test]
    fn what_stops_the_programs_does_no_harm() {
        check("\nA our.zip\r\n\r\n \nB other.zip\r\n", "ab -> a");
        check("A *our.zip\nB *other.zip\n", "ab -> a");
    }

    #[test]
    fn anything_else_is_refused_with_its_line() {
        let unreadable =
            |line, fault| format!("line {line} of the checksum document is not readable: {fault}");
        let no_hash = "it does not begin with a SHA-256 in hexadecimal";
        check("A our.zip\n# by hand\n", &unreadable(2, no_hash));
        check("{\"a\": 1}", &unreadable(1, no_hash));
        check("\u{feff}A our.zip", &unreadable(1, no_hash));
        check("A our.zip\nAB other.zip", &unreadable(2, no_hash));
        check(
            &format!("A our.zip\n{} x", "g".repeat(64)),
            &unreadable(2, no_hash),
        );
        check("A our.zip\n\nB ", &unreadable(3, "it has no file name"));
        let long = format!("A our.zip {}", "x".repeat(MAX_LINE_BYTES));
        check(&long, &unreadable(1, "it is longer than 64 KiB"));
    }

    #[test]
    fn our_file_must_be_listed() {
        let not_listed = "the checksum document does not list \"our.zip\"";
        check("", not_listed);
        check("A OUR.zip\nB **our.zip\n", not_listed);
    }
}
