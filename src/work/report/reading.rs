//! Sentences about all roots of a result.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use super::checked::statuses;
use super::result::{CommandResult, RootResult, RootStatus, Sentence};
use super::rows;
use super::shared::{SharedFact, shared};
use super::sheet::{Piece, Screen, WholeText};
use super::{Look, RootNames, TextBlock, Tone};
use crate::diag::{Counts, Severity, counted};

/// The place of the line about all roots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Total {
    /// The last result, if there are several roots or these were searched for.
    Result,
    /// As [`Total::Result`], with the number of errors and warnings.
    ResultWithCounts,
    /// A note, if roots were searched for.
    Note,
}

/// Says how all roots came out, if that is not said by the results themselves.
#[must_use]
pub fn total(result: &CommandResult, total: Total, verbose: bool) -> Option<Sentence> {
    let roots = result.roots();
    // A remark says that no file of any root changed.
    if roots.is_empty() && result.unchanged.is_some() {
        return None;
    }
    let lack = roots.iter().filter(|root| root.lacks_lock()).count();
    let is_clean = |root: &RootResult| root.status == RootStatus::Clean;
    let mut text = if total == Total::Note && roots.iter().all(is_clean) {
        // A command that judges nothing finds nothing clean.
        counted(roots.len(), "root")
    } else {
        statuses(roots.iter().map(|root| root.status))
    };
    if lack > 0 {
        text += &format!("; {lack} of them without a lock file");
    }
    if total == Total::ResultWithCounts {
        // What roots share, a module or a project file, counts once.
        let findings: BTreeSet<rows::FindingRow> = roots
            .iter()
            .flat_map(RootResult::findings)
            .map(|finding| rows::FindingRow::of(finding, &result.texts, &cleaned))
            .collect();
        let counts = Counts::of(findings.iter().map(|finding| finding.severity)).without_notes();
        if !counts.is_empty() {
            text += &format!(" ({counts})");
        }
    }
    let tone = match roots
        .iter()
        .map(|root| root.status)
        .max()
        .unwrap_or(RootStatus::Clean)
    {
        RootStatus::Clean => Tone::Good,
        RootStatus::Findings => Tone::Warning,
        RootStatus::Failed => Tone::Bad,
    };
    closing(result, Sentence { tone, text }, verbose)
}

/// Completes the sentence about all roots with the directories that none of them covers; nothing if what
/// is said of a single root says it all.
#[must_use]
pub fn closing(result: &CommandResult, counts: Sentence, verbose: bool) -> Option<Sentence> {
    let roots = result.roots();
    let is_failure = matches!(roots, [root] if root.status == RootStatus::Failed);
    if is_failure || !(roots.len() > 1 || result.not_locked.is_some()) {
        return None;
    }
    let Sentence { tone, mut text } = counts;
    let hint = |names: &str| {
        if verbose {
            String::new()
        } else {
            format!(" (-v names {names})")
        }
    };
    text += &match result.not_locked.as_ref().map_or(0, Vec::len) {
        0 => String::new(),
        1 => format!(
            "; 1 directory with configuration is not locked{}",
            hint("it")
        ),
        n => format!(
            "; {n} directories with configuration are not locked{}",
            hint("them")
        ),
    };
    Some(Sentence { tone, text })
}

/// Returns a path without the parts that lead up again, so that one file has one name.
#[must_use]
pub fn cleaned(path: &str) -> String {
    let mut out = PathBuf::new();
    for part in Path::new(path).components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if out.file_name().is_some() => {
                out.pop();
            }
            part => out.push(part),
        }
    }
    out.display().to_string()
}

/// Takes the first of some lines; the last one then counts the others.
pub(crate) fn first_lines(mut lines: Vec<String>, most: usize, look: Look) -> Vec<String> {
    if lines.len() > most && !look.verbose {
        let more = lines.split_off(most).len();
        lines.push(format!("… and {more} more (-v shows all)"));
    }
    lines
}

/// Shows a sentence as the last line of results.
#[must_use]
pub fn verdict(sentence: Sentence) -> TextBlock {
    TextBlock::Verdict(sentence.tone, sentence.text)
}

/// Puts verdicts on single roots together, equal ones once with the names of the first roots; `line` writes each.
pub(super) fn shared_verdicts(
    names: RootNames,
    verdicts: &[(String, Sentence)],
    screen: Screen,
    line: &dyn Fn(Sentence) -> String,
) -> Piece {
    let facts = verdicts
        .iter()
        .map(|(root, Sentence { tone, text })| ((*tone, text), &**root));
    let item = |same: SharedFact<'_, (Tone, &String)>| {
        let (tone, text) = same.fact;
        let count = same.roots.len();
        let text = match count {
            _ if screen.roots == 1 => text.clone(),
            all if all == screen.roots || names == RootNames::Hidden && tone <= Tone::Note => {
                format!("{}: {text}", same.count(screen.roots))
            }
            1 => format!("{}: {text}", same.roots[0]),
            _ => {
                let names = same.names(screen.verbose);
                format!("{}: {text}: {names}", same.count(screen.roots))
            }
        };
        WholeText {
            text: line(Sentence { tone, text }),
            rank: Reverse((Some(tone), count)),
        }
    };
    Piece::of_items(shared(facts).into_iter().map(item).collect())
}

pub(super) fn remark(sentence: &Sentence) -> TextBlock {
    TextBlock::Remark(sentence.tone, sentence.text.clone())
}

/// Returns how serious a finding looks.
#[must_use]
pub fn tone(severity: Severity) -> Tone {
    match severity {
        Severity::Note => Tone::Note,
        Severity::Warning => Tone::Warning,
        Severity::Error => Tone::Bad,
    }
}
