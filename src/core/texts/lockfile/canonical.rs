//! Lock files that are laid out as the programs write them (rules 1).
//!
//! Nearly every lock file is. This reader needs a tenth of the time of the grammar, which matters in runs over
//! a thousand roots. Anything else, such as one more space or a text with an escape, is left to the grammar, so
//! this reader reports nothing.

use super::header::header_of;
use super::{Document, Places, ProviderLock};
use crate::addr::ProviderAddr;
use crate::diag::Span;
use crate::flavor::Flavor;
use crate::hash::Hash;
use crate::version::{Constraints, Version};

/// Reads a file in canonical layout without any fault; `None` for any other file.
pub(super) fn read(bytes: &[u8], flavor: Flavor) -> Option<Document> {
    let program = header_of(bytes)?;
    let mut document = Document {
        header: Some(program),
        ..Document::default()
    };
    let mut text = Cursor {
        text: std::str::from_utf8(bytes).ok()?,
        at: 0,
    };
    text.pass(Flavor::newest(program).header())?;
    while text.at < text.text.len() {
        text.pass("\n")?;
        let (addr, entry, places) = entry(&mut text, flavor)?;
        document.places.insert(addr.clone(), places);
        // The grammar reports repeated entries (rules 2.11).
        if document.lock.providers.insert(addr, entry).is_some() {
            return None;
        }
    }
    Some(document)
}

/// Reads an entry with the empty line before it; `None` if it is in another layout, or has a fault.
pub(super) fn read_entry(part: &[u8], flavor: Flavor) -> Option<(ProviderAddr, ProviderLock)> {
    let mut text = Cursor {
        text: std::str::from_utf8(part).ok()?,
        at: 0,
    };
    text.pass("\n")?;
    let (addr, lock, _) = entry(&mut text, flavor)?;
    (text.at == part.len()).then_some((addr, lock))
}

fn entry(text: &mut Cursor<'_>, flavor: Flavor) -> Option<(ProviderAddr, ProviderLock, Places)> {
    let start = text.at;
    text.pass("provider ")?;
    let (name, label) = text.quoted()?;
    let addr = ProviderAddr::parse(name, flavor).ok()?;
    // The grammar reports labels that no lock file can hold (rules 2.10).
    if addr.is_builtin(flavor) || addr.is_legacy() || addr.to_string() != name {
        return None;
    }
    text.pass(" {\n  version ")?;
    // Alignment shows whether constraints follow.
    let has_constraints = text.pass("    ").is_some();
    text.pass("= ")?;
    let (version, version_place) = text.quoted()?;
    text.pass("\n")?;
    let constraints = if has_constraints {
        text.pass("  constraints = ")?;
        let constraints = text.quoted()?;
        text.pass("\n")?;
        Some(constraints)
    } else {
        None
    };
    let (listed, hashes_place) = hashes(text)?;
    text.pass("}\n")?;
    // A version or constraints in another form are left to the grammar, which reports them.
    let entry = ProviderLock {
        version: version
            .parse()
            .ok()
            .filter(|parsed: &Version| parsed.to_string() == version)?,
        constraints: match constraints {
            Some((text, _)) => Constraints::parse_lock(text)
                .ok()
                .filter(|set| set.to_string() == text)?,
            None => Constraints::default(),
        },
        hashes: listed.iter().map(|(hash, _)| hash.clone()).collect(),
    };
    let places = Places {
        header: Span::new(start, label.end),
        version: version_place,
        constraints: constraints.map(|(_, place)| place),
        hashes: hashes_place,
        listed,
    };
    Some((addr, entry, places))
}

/// The hashes of an entry with their places, and the place of the list.
type ListedHashes = (Vec<(Hash, Span)>, Option<Span>);

/// Reads the list of hashes, if there is one.
fn hashes(text: &mut Cursor<'_>) -> Option<ListedHashes> {
    let mut listed = Vec::new();
    if text.pass("  hashes = ").is_none() {
        return Some((listed, None));
    }
    let start = text.at;
    text.pass("[\n")?;
    while text.pass("    ").is_some() {
        let (hash, place) = text.quoted()?;
        text.pass(",\n")?;
        listed.push((hash.parse().ok()?, place));
    }
    text.pass("  ]")?;
    let place = Span::new(start, text.at);
    text.pass("\n")?;
    listed.shrink_to_fit();
    // The programs write no empty list, so such a list is left to the grammar.
    (!listed.is_empty()).then_some((listed, Some(place)))
}

/// A text with the offset of the next byte to read.
struct Cursor<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Cursor<'t> {
    /// Passes over what must come next; stays where it is if something else does.
    fn pass(&mut self, expected: &str) -> Option<()> {
        let is_next = self.text[self.at..].starts_with(expected);
        self.at += if is_next { expected.len() } else { 0 };
        is_next.then_some(())
    }

    /// Reads a quoted text that says what it looks like, with its place, quotes included.
    fn quoted(&mut self) -> Option<(&'t str, Span)> {
        let start = self.at;
        self.pass("\"")?;
        let rest = &self.text[self.at..];
        // Escapes and templates begin with these; what is not ASCII must be in normal form NFC, which only
        // the grammar checks.
        let is_plain =
            |byte| matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'\\' | b'$' | b'%');
        let length = rest.bytes().position(|byte| !is_plain(byte))?;
        self.at += length;
        self.pass("\"")?;
        Some((&rest[..length], Span::new(start, self.at)))
    }
}
