//! The checksum document of a release, `SHA256SUMS` (`authenticate` rules 1).

use std::collections::BTreeMap;

use crate::hash::{Digest, Hash, Hashes, digest_of_hex, zh_of_digest};

/// Maximum length of a line, in bytes. The programs stop reading there, without a message.
const MAX_LINE_BYTES: usize = 64 * 1024;

/// Maximum number of different hashes in a document. Real releases have some twenty files, and each hash
/// becomes a line of the lock file.
const MAX_HASHES: usize = 1000;

/// A checksum document, parsed when it arrives. Its signature is not checked.
///
/// Each of the programs has two readers that disagree about odd lines. This one accepts what either of them
/// accepts. It also accepts lines that end in CRLF; blank lines, although the programs crash on them; and the
/// `*` of binary mode before a name, although the programs do not find such a file. Every other odd line is a
/// fault; the programs then record a single hash without a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChecksumList {
    document: Box<[u8]>,
    lines: Vec<ChecksumLine>, // Invariant: parsed from `document`, in its order.
    first_fault: Option<ChecksumListFault>,
    hashes: Hashes,
    zips: Hashes,
    names: BTreeMap<Hash, String>,
}

/// A readable line of a checksum document.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ChecksumLine {
    digest: Digest,
    /// The second word as it is written, with the `*` of binary mode.
    name: Box<[u8]>,
}

/// Reasons to refuse a checksum document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChecksumListFault {
    #[error("line {line} of the checksum document is not a SHA-256 in hexadecimal and a file name")]
    Line {
        /// The line number, counted from 1.
        line: usize,
    },
    #[error("the checksum document lists more than {MAX_HASHES} files")]
    TooManyFiles,
}

impl ChecksumList {
    /// Parses a document; lines that cannot be read are left out, and the first of them is remembered.
    ///
    /// ```
    /// use lockctl_core::package::ChecksumList;
    ///
    /// let text = format!("{}  demo_1.0.0_linux_amd64.zip\n", "ab".repeat(32));
    /// let list = ChecksumList::parse(text.as_bytes());
    /// assert_eq!(list.file_names().collect::<Vec<_>>(), ["demo_1.0.0_linux_amd64.zip"]);
    /// assert!(list.first_fault().is_none());
    /// ```
    #[must_use]
    pub fn parse(document: &[u8]) -> Self {
        let mut list = Self {
            document: document.into(),
            lines: Vec::new(),
            first_fault: None,
            hashes: Hashes::default(),
            zips: Hashes::default(),
            names: BTreeMap::new(),
        };
        for (index, text) in document.split(|byte| *byte == b'\n').enumerate() {
            match parse_line(text) {
                Ok(Some(line)) => {
                    // Every line counts, even those of files that are no package, such as the manifest
                    // (`authenticate` rules 1.3).
                    let hash = zh_of_digest(&line.digest);
                    if line.name.to_ascii_lowercase().ends_with(b".zip") {
                        list.zips.insert(hash.clone());
                    }
                    let name = String::from_utf8_lossy(without_mode(&line.name));
                    list.names
                        .entry(hash.clone())
                        .or_insert_with(|| name.into_owned());
                    list.hashes.insert(hash);
                    list.lines.push(line);
                }
                // Blank lines crash the programs and are accepted here; any other odd line is refused, since the
                // programs record fewer hashes then (`authenticate` rules 1.4, 1.5).
                Ok(None) => {}
                Err(()) => {
                    let line = index + 1;
                    list.first_fault
                        .get_or_insert(ChecksumListFault::Line { line });
                }
            }
            // Lines that repeat a hash do not count, so that a list in two spellings of its names still
            // fits.
            if list.hashes.len() > MAX_HASHES {
                list.first_fault
                    .get_or_insert(ChecksumListFault::TooManyFiles);
                break;
            }
        }
        list
    }

    /// Returns the document, byte for byte as it is signed.
    #[must_use]
    pub fn document(&self) -> &[u8] {
        &self.document
    }

    /// Returns the first reason to refuse the document, in the order of the lines.
    #[must_use]
    pub fn first_fault(&self) -> Option<ChecksumListFault> {
        self.first_fault
    }

    /// Returns the `zh:` hash of every line, in lower case; files that are no package are included.
    #[must_use]
    pub fn hashes(&self) -> &Hashes {
        &self.hashes
    }

    /// Returns the `zh:` of the files whose names end in `.zip`: the packages of the release.
    #[must_use]
    pub fn zips(&self) -> &Hashes {
        &self.zips
    }

    /// Returns the name of the first file with each hash, without the `*` of binary mode.
    #[must_use]
    pub fn names(&self) -> &BTreeMap<Hash, String> {
        &self.names
    }

    /// Returns the SHA-256 of a file, by the first line that names it.
    #[must_use]
    pub fn digest_of(&self, filename: &str) -> Option<Digest> {
        let filename = filename.as_bytes();
        // To the programs the `*` of binary mode makes another name (`authenticate` rules 1.2); here a line is found
        // under either one (1.5).
        self.lines
            .iter()
            .find(|line| [&*line.name, without_mode(&line.name)].contains(&filename))
            .map(|line| line.digest)
    }

    /// Returns the names of the listed files that are UTF-8, in the order of the lines.
    pub fn file_names(&self) -> impl Iterator<Item = &str> {
        self.lines
            .iter()
            .filter_map(|line| std::str::from_utf8(without_mode(&line.name)).ok())
    }

    /// Returns a file that has different hashes in the two documents, if there is one.
    #[must_use]
    pub fn disagreement(&self, other: &Self) -> Option<String> {
        let mut digests = BTreeMap::new();
        for line in &self.lines {
            digests.entry(&line.name).or_insert(line.digest);
        }
        other
            .lines
            .iter()
            .find(|line| {
                digests
                    .get(&line.name)
                    .is_some_and(|digest| *digest != line.digest)
            })
            .map(|line| String::from_utf8_lossy(&line.name).into_owned())
    }
}

/// Reads the first two words of a line, which are all that the programs look at; a blank line is `None`.
fn parse_line(line: &[u8]) -> Result<Option<ChecksumLine>, ()> {
    if line.len() > MAX_LINE_BYTES {
        return Err(());
    }
    let mut words = line
        .split(u8::is_ascii_whitespace)
        .filter(|word| !word.is_empty());
    let Some(hex) = words.next() else {
        return Ok(None);
    };
    let digest = std::str::from_utf8(hex)
        .ok()
        .and_then(digest_of_hex)
        .ok_or(())?;
    // Further words are ignored, as by the programs (`authenticate` rules 1.2).
    let name = words.next().ok_or(())?.into();
    Ok(Some(ChecksumLine { digest, name }))
}

/// Drops the `*` that `sha256sum --binary` puts before a name.
fn without_mode(name: &[u8]) -> &[u8] {
    name.strip_prefix(b"*").unwrap_or(name)
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
        let list = ChecksumList::parse(text.as_bytes());
        let spelled = match (list.first_fault(), list.digest_of("our.zip")) {
            (Some(fault), _) => fault.to_string(),
            (None, None) => "not listed".to_owned(),
            (None, Some(digest)) => {
                let letters: String = list.hashes().iter().map(|zh| &zh.value()[..1]).collect();
                format!("{letters} -> {:x}", digest[0] >> 4)
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
        let unreadable = |line| {
            format!(
                "line {line} of the checksum document is not a SHA-256 in hexadecimal and a file name"
            )
        };
        check("A our.zip\n# by hand\n", &unreadable(2));
        check("{\"a\": 1}", &unreadable(1));
        check("\u{feff}A our.zip", &unreadable(1));
        check("A our.zip\nAB other.zip", &unreadable(2));
        check(&format!("A our.zip\n{} x", "g".repeat(64)), &unreadable(2));
        check("A our.zip\n\nB ", &unreadable(3));
        let long = format!("A our.zip {}", "x".repeat(MAX_LINE_BYTES));
        check(&long, &unreadable(1));
    }

    #[test]
    fn our_file_must_be_listed() {
        let not_listed = "not listed";
        check("", not_listed);
        check("A OUR.zip\nB **our.zip\n", not_listed);
    }
}
