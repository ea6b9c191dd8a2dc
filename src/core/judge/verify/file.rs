//! The group *file*: canonical bytes, hashes that could match something, and lists of hashes that
//! `init` leaves as they are.
//!
//! The faults that make a lock file unreadable are found by `lockfile::parse`.

use std::collections::BTreeSet;

use super::subject::CheckedLock;
use crate::diag::{Diagnostic, Finding, Help, Span, counted, rules};
use crate::hash::{Hash, Scheme};
use crate::lockfile;

/// Checks the form of a lock file that parsed; `bytes` are its text.
#[must_use]
pub fn check(subject: CheckedLock<'_>, bytes: &[u8]) -> Vec<Finding> {
    let mut findings: Vec<Finding> = malformed_hashes(subject).collect();
    findings.extend(rewritten_lists(subject));
    findings.extend(not_canonical(subject, bytes).map(Finding::from));
    findings
}

/// The beginning of a lock file that the provider cache of Terragrunt wrote.
const TERRAGRUNT_BEGINNING: &[u8] = b"\nprovider ";

fn not_canonical(subject: CheckedLock<'_>, bytes: &[u8]) -> Option<Diagnostic> {
    let written = lockfile::write(&subject.document.lock, subject.flavor);
    if written.as_bytes() == bytes {
        return None;
    }
    let equal = written
        .bytes()
        .zip(bytes)
        .take_while(|(a, b)| a == *b)
        .count();
    // A file without its last LF ends before the difference (`lockfile` rules 2.1): its last line is shown.
    let end = bytes[equal..]
        .iter()
        .position(|byte| *byte == b'\n')
        .map_or(bytes.len(), |rest| equal + rest);
    let start = bytes[..equal]
        .iter()
        .rposition(|byte| *byte == b'\n')
        .map_or(0, |line_end| line_end + 1);
    let lost = match subject.document.comments {
        0 => String::new(),
        comments => format!("; that drops {}", counted(comments, "comment")),
    };
    // No other program begins with an empty line and writes no header (`terragrunt` rules 9.5).
    let has_crlf_only = lockfile::has_crlf_only(bytes, &written);
    let keep_lf = if has_crlf_only {
        let attribute = lockfile::LF_ATTRIBUTE;
        format!("; the line `{attribute}` in .gitattributes keeps git from making CRLF")
    } else {
        String::new()
    };
    let remark = if has_crlf_only {
        "the lines end with CRLF, and nothing else differs"
    } else if bytes.starts_with(TERRAGRUNT_BEGINNING) {
        "the provider cache of Terragrunt writes files without a header"
    } else if bytes.starts_with("\u{feff}".as_bytes()) {
        "the file begins with a byte order mark"
    } else {
        "the first difference is in this line"
    };
    Some(
        Diagnostic::note(
            rules::FILE_NOT_CANONICAL,
            "The lock file is not in canonical form",
        )
        .at(subject.file, Span::new(start, end), remark)
        .help(
            subject
                .advice
                .fmt
                .run(&format!(" to rewrite it{lost}{keep_lf}")),
        ),
    )
}

/// Maximum number of places of one list that a finding shows, beside the first.
const MAX_RELATED: usize = 20;

/// Reports each list of hashes that the next `init` changes, though nothing else does (`coverage`
/// rules 2.3, 2.4).
fn rewritten_lists(subject: CheckedLock<'_>) -> impl Iterator<Item = Finding> {
    let program = subject.flavor.command();
    subject
        .document
        .places
        .iter()
        .filter_map(move |(provider, places)| {
            let faults = faults(&places.listed, program);
            let mut shown = faults.iter().take(MAX_RELATED + 1);
            let (span, note) = shown.next()?;
            let unknown: BTreeSet<&Hash> = places
                .listed
                .iter()
                .map(|(hash, _)| hash)
                .filter(|hash| hash.scheme() == Scheme::Other)
                .collect();
            // Formats that show one place of a finding show its title, so the schemes are named there.
            let schemes: BTreeSet<&str> = unknown.iter().map(|hash| hash.scheme_name()).collect();
            let schemes = Vec::from_iter(schemes).join(", ");
            let mut title =
                format!("The next `{program} init` changes the list of hashes of {provider}");
            if !unknown.is_empty() {
                title += &format!(", and drops those of the unknown scheme {schemes}");
            }
            let diagnostic = Diagnostic::note(rules::INIT_REWRITES, title);
            let diagnostic = shown.fold(
                diagnostic.at(subject.file, *span, note),
                |diagnostic, (span, note)| diagnostic.see(subject.file, *span, note),
            );
            let rest = format!(" to sort the hashes as `{program} init` does");
            let sorting = subject.advice.fmt.run(&rest);
            let deletion =
                format!("delete the hashes of the unknown scheme {schemes}: they match no package");
            let help = if unknown.is_empty() {
                sorting
            } else if faults.len() == unknown.len() {
                deletion.into()
            } else {
                sorting.and(&deletion)
            };
            Some(Finding::about(provider, diagnostic.help(help)))
        })
}

/// Lists the hashes that `init` moves or drops, each with a note, in the order of the file.
fn faults(listed: &[(Hash, Span)], program: &str) -> Vec<(Span, String)> {
    let mut faults = Vec::new();
    let mut above = BTreeSet::new();
    for (index, (hash, span)) in listed.iter().enumerate() {
        let note = if !above.insert(hash) {
            "this hash is listed above already".to_owned()
        } else if hash.scheme() == Scheme::Other {
            let scheme = hash.scheme_name();
            format!(
                "unknown scheme {scheme}: `{program} init` drops it when it installs the package"
            )
        } else if index > 0 && listed[index - 1].0 > *hash {
            // Compared with its neighbour alone, so that one hash in the wrong place is one fault.
            "this hash belongs before the one above".to_owned()
        } else {
            continue;
        };
        faults.push((*span, note));
    }
    faults
}

fn malformed_hashes(subject: CheckedLock<'_>) -> impl Iterator<Item = Finding> {
    subject
        .document
        .places
        .iter()
        .flat_map(move |(provider, places)| {
            // The programs validate no values: such a hash is kept, and matches nothing (`hash` rules 1.1, 1.2).
            places
                .listed
                .iter()
                .filter(|(hash, _)| !hash.is_well_formed())
                .map(move |(hash, span)| {
                    let note = match hash.scheme() {
                        Scheme::H1 => "h1: needs the base64 form of 32 bytes, with padding",
                        Scheme::Zh => "zh: needs 64 lower-case hex digits",
                        Scheme::Other => "unknown scheme",
                    };
                    let is_upper_case = hash.scheme() == Scheme::Zh
                        && format!("zh:{}", hash.value().to_ascii_lowercase())
                            .parse::<Hash>()
                            .is_ok_and(|lower| lower.is_well_formed());
                    let lock = &subject.advice.lock;
                    // An upper-case `zh:` is corrected, not deleted: it may be the only hash of its package.
                    let help = if is_upper_case {
                        Help::from("write its digits in lower case")
                    } else {
                        lock.named_in(|lock| format!("delete this hash, then run `{lock}`"))
                    };
                    Finding::about(
                        provider,
                        Diagnostic::warning(
                            rules::HASH_NOT_WELL_FORMED,
                            "Hash that can never match",
                        )
                        .at(subject.file, *span, note)
                        .help(help),
                    )
                })
        })
}
