//! Merge conflict markers: one problem per file, reported once, and one side of each conflict kept.

use super::scan::{HclToken, HclTokenKind};
use crate::diag::{Diagnostic, FileId, Span, rules};

/// Maximum number of markers that a diagnostic points at.
const MAX_LABELS: usize = 30;

/// The conflict markers that a merge left in a text.
pub(super) struct ConflictMarkers {
    pub(super) diagnostic: Diagnostic,
    /// The text with spaces over everything but the first side of each conflict; line ends stay.
    pub(super) first_sides: String,
}

/// Finds conflict markers among the tokens of a text: at line starts, outside of comments, quotes and heredocs.
pub(super) fn find(file: FileId, text: &str, tokens: &[HclToken]) -> Option<ConflictMarkers> {
    // The scanner knows comments, quotes and heredocs, where such a line is text.
    let markers: Vec<HclToken> = tokens
        .iter()
        .filter(|token| token.kind == HclTokenKind::Marker)
        .copied()
        .collect();
    let side = |token: &HclToken| text.as_bytes()[token.start];
    // A row of `=` alone is no conflict, just a mistake.
    if !markers
        .iter()
        .any(|token| matches!(side(token), b'<' | b'>'))
    {
        return None;
    }
    let mut blanks = Vec::new();
    let mut other_side = None;
    for marker in &markers {
        match side(marker) {
            b'<' => other_side = None,
            b'>' => {
                let start = other_side.take().unwrap_or(marker.start);
                blanks.push(Span::new(start, marker.start));
            }
            _ => other_side = other_side.or(Some(marker.start)),
        }
        blanks.push(marker.span());
    }
    let mut bytes = text.as_bytes().to_vec();
    for blank in blanks {
        for byte in &mut bytes[blank.start..blank.end] {
            if !matches!(byte, b'\n' | b'\r') {
                *byte = b' ';
            }
        }
    }
    Some(ConflictMarkers {
        diagnostic: diagnostic(file, text, &markers),
        // The spans begin and end between tokens, so no character is cut.
        first_sides: String::from_utf8(bytes).unwrap_or_default(),
    })
}

fn diagnostic(file: FileId, text: &str, markers: &[HclToken]) -> Diagnostic {
    let note = |token: &HclToken| match text.as_bytes()[token.start] {
        b'<' => "one side begins",
        b'|' => "the common ancestor begins",
        b'=' => "the other side begins",
        _ => "the other side ends",
    };
    // One error for all markers of a file, as in the programs (`lockfile` rules 2.12).
    let mut diagnostic =
        Diagnostic::error(rules::CONFLICT_MARKERS, "Argument or block definition required").help(
            "a merge stopped in conflict here: keep one side of each conflict or join both, and delete the marker lines",
        );
    if let Some(first) = markers.first() {
        diagnostic = diagnostic.at(file, first.span(), note(first));
    }
    for marker in markers.iter().skip(1).take(MAX_LABELS) {
        diagnostic = diagnostic.see(file, marker.span(), note(marker));
    }
    diagnostic
}
