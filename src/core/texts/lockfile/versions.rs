//! Many versions of lock files at once.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use super::header::header_of;
use super::{LockFile, ProviderLock, canonical};
use crate::addr::ProviderAddr;
use crate::flavor::Flavor;

/// An entry with its address, by the rules of a flavor; `None` if it is in another layout, or has a fault.
type ReadEntry = (Flavor, Option<(ProviderAddr, ProviderLock)>);

/// Versions of lock files, of which each different entry is kept and read once: a version differs from the one before
/// in few of them.
#[derive(Debug, Default)]
pub struct VersionStore {
    parts: BTreeMap<Arc<[u8]>, Part>,
}

/// The text before the entries of a version, or one of them.
#[derive(Clone, Debug)]
struct Part {
    text: Arc<[u8]>,
    /// The entry by the first flavor that it was read by; as a rule there is no other.
    read: Arc<OnceLock<ReadEntry>>,
}

/// A version that a store keeps.
#[derive(Clone, Debug)]
pub struct StoredVersion {
    parts: Vec<Part>,
}

impl VersionStore {
    /// Keeps a version, which may hold any bytes.
    pub fn keep(&mut self, bytes: &[u8]) -> StoredVersion {
        let mut parts = Vec::new();
        let (mut start, mut at) = (0, 0);
        let mut is_behind_empty = false;
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            if is_behind_empty && line.starts_with(b"provider ") {
                // The empty line belongs to the entry, which follows other ones in other versions.
                parts.push(self.part(&bytes[start..at - 1]));
                start = at - 1;
            }
            is_behind_empty = line == b"\n";
            at += line.len();
        }
        parts.push(self.part(&bytes[start..]));
        StoredVersion { parts }
    }

    fn part(&mut self, text: &[u8]) -> Part {
        if let Some(known) = self.parts.get(text) {
            return known.clone();
        }
        let text: Arc<[u8]> = text.into();
        let part = Part {
            text: Arc::clone(&text),
            read: Arc::default(),
        };
        self.parts.insert(text, part.clone());
        part
    }
}

impl Part {
    fn entry(&self, flavor: Flavor) -> Option<(ProviderAddr, ProviderLock)> {
        let read = || canonical::read_entry(&self.text, flavor);
        let (by, entry) = self.read.get_or_init(|| (flavor, read()));
        if *by == flavor { entry.clone() } else { read() }
    }
}

impl StoredVersion {
    /// Reads a version in canonical layout and without a fault; `None` for any other, which
    /// [`parse`](super::parse) reads.
    #[must_use]
    pub fn read(&self, flavor: Flavor) -> Option<LockFile> {
        let (header, entries) = self.parts.split_first()?;
        if *header.text != *Flavor::newest(header_of(&header.text)?).header().as_bytes() {
            return None;
        }
        let mut providers = BTreeMap::new();
        for part in entries {
            let (addr, lock) = part.entry(flavor)?;
            // The grammar reports repeated entries (rules 2.11).
            if providers.insert(addr, lock).is_some() {
                return None;
            }
        }
        Some(LockFile { providers })
    }

    /// Returns the whole text.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        self.parts
            .iter()
            .flat_map(|part| &*part.text)
            .copied()
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "# This file is maintained automatically by \"terraform init\".\n\
        # Manual edits may be lost in future updates.\n";

    fn entry(name: &str, version: &str) -> String {
        format!(
            "\nprovider \"x.io/a/{name}\" {{\n  version = \"{version}\"\n  hashes = [\n    \"h1:{version}\",\n  ]\n}}\n"
        )
    }

    /// Keeps texts, and compares each with what the reader of a single file makes of it.
    #[track_caller]
    fn check(texts: &[String]) {
        let flavor = Flavor::Terraform1_16;
        let mut store = VersionStore::default();
        let kept: Vec<StoredVersion> = texts
            .iter()
            .map(|text| store.keep(text.as_bytes()))
            .collect();
        for (text, version) in texts.iter().zip(&kept) {
            assert_eq!(version.bytes(), text.as_bytes());
            let expected = canonical::read(text.as_bytes(), flavor).map(|document| document.lock);
            assert_eq!(version.read(flavor), expected, "{text}");
            assert_eq!(version.read(Flavor::OpenTofu1_12), expected, "{text}");
        }
    }

    #[test]
    fn versions_share_the_entries_that_are_equal() {
        let (a, b) = (entry("a", "1.0.0"), entry("b", "2.0.0"));
        let texts = [
            format!("{HEADER}{a}{b}"),
            format!("{HEADER}{a}{}", entry("b", "2.1.0")),
            format!("{HEADER}{b}"),
            HEADER.to_owned(),
        ];
        check(&texts);
        let mut store = VersionStore::default();
        for text in &texts {
            store.keep(text.as_bytes());
        }
        assert_eq!(store.parts.len(), 4, "a header and three entries");
    }

    #[test]
    fn a_version_of_another_layout_is_left_to_the_grammar() {
        let (a, b) = (entry("a", "1.0.0"), entry("b", "2.0.0"));
        check(&[
            String::new(),
            format!("{a}{b}"),
            format!("{HEADER}{a}{a}"),
            format!("{HEADER}{a}# a comment\n{b}"),
            format!("{HEADER}{a}\n{b}"),
            format!("{HEADER}{}{b}", a.trim_end_matches('\n')),
            format!("{HEADER}{a}").replace('\n', "\r\n"),
            format!(
                "{HEADER}{}",
                a.replace("1.0.0\",\n", "<<X\n\nprovider \"x.io/a/c\" {{\nX\n")
            ),
            format!("{HEADER}{a}\nprovider "),
            a.trim_start().to_owned(),
        ]);
    }
}
