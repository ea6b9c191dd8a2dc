//! The group *file*: canonical bytes, and hashes that could match something.
//!
//! What makes a lock file unreadable is found by `lockfile::parse`.

use super::subject::Subject;
use crate::diag::{Diagnostic, Finding, Span};
use crate::hash::Scheme;
use crate::lockfile;

/// Checks the form of a lock file that parsed; `bytes` are its text.
#[must_use]
pub fn check(subject: Subject<'_>, bytes: &[u8]) -> Vec<Finding> {
    let mut findings: Vec<Finding> = malformed_hashes(subject).collect();
    findings.extend(not_canonical(subject, bytes).map(Finding::from));
    findings
}

fn not_canonical(subject: Subject<'_>, bytes: &[u8]) -> Option<Diagnostic> {
    let written = lockfile::write(&subject.document.lock, subject.flavor);
    if written.as_bytes() == bytes {
        return None;
    }
    let at = written
        .bytes()
        .zip(bytes)
        .take_while(|(a, b)| a == *b)
        .count();
    let end = bytes[at..]
        .iter()
        .position(|b| *b == b'\n')
        .map_or(bytes.len(), |n| at + n);
    let start = bytes[..at]
        .iter()
        .rposition(|b| *b == b'\n')
        .map_or(0, |n| n + 1);
    Some(
        Diagnostic::note(
            "file-not-canonical",
            "The lock file is not in canonical form",
        )
        .at(
            subject.file,
            Span::new(start, end),
            "the first difference is in this line",
        )
        .help(format!(
            "run `{}` to rewrite it; comments are lost",
            subject.advice.fmt
        )),
    )
}

fn malformed_hashes(subject: Subject<'_>) -> impl Iterator<Item = Finding> {
    subject
        .document
        .places
        .iter()
        .flat_map(move |(provider, places)| {
            let odd = places
                .listed
                .iter()
                .filter(|(hash, _)| !hash.is_well_formed());
            odd.map(move |(hash, span)| {
                let note = match hash.scheme() {
                    Scheme::H1 => "h1: needs the base64 form of 32 bytes, with padding",
                    Scheme::Zh => "zh: needs 64 lower-case hex digits",
                    Scheme::Other => "unknown scheme",
                };
                Finding::about(
                    provider,
                    Diagnostic::warning("hash-not-well-formed", "Hash that can never match")
                        .at(subject.file, *span, note)
                        .help(format!(
                            "delete this hash, then run `{}`",
                            subject.advice.lock
                        )),
                )
            })
        })
}
