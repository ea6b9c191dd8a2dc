//! The text of a result: blocks for standard output.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use super::checked::statuses;
use super::result::{CommandResult, RootResult, RootStatus, Sentence};
use super::rows;
use super::{TextBlock, Tone};
use crate::diag::{Counts, Severity, counted};

/// The parts of the text about roots.
#[derive(Clone, Copy)]
pub struct RootsText<'a> {
    /// Returns what is printed of one root.
    pub root: &'a dyn Fn(&RootResult) -> Vec<TextBlock>,
    /// The heading that distinguishes several roots.
    pub heading: Heading,
    /// The place of the line about all roots.
    pub total: Total,
}

/// The heading that distinguishes the results of several roots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heading {
    /// The name of the root is above its results.
    Path,
    /// As [`Heading::Path`], with an empty line around, unless a verdict that names the root is all
    /// there is: most of many roots come to nothing else.
    PathApart,
    /// The results name their root.
    Own,
    /// As [`Heading::Own`], with an empty line between roots.
    OwnApart,
}

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

/// Returns the results about roots, one root after the other, and the line about all of them.
///
/// `verbose` says that directories without a root are named beside it.
#[must_use]
pub fn roots(result: &CommandResult, text: RootsText<'_>, verbose: bool) -> Vec<TextBlock> {
    let all = result.roots();
    let own = all.iter().map(|root| (text.root)(root)).collect();
    let mut blocks = each(all, own, text.heading);
    if text.total != Total::Note {
        blocks.extend(total(result, text.total, verbose).map(verdict));
    }
    blocks
}

/// Returns the results about roots, one root after the other; `own` are those of each root.
#[must_use]
pub fn each(roots: &[RootResult], own: Vec<Vec<TextBlock>>, heading: Heading) -> Vec<TextBlock> {
    let gap = || TextBlock::Lines(vec![String::new()]);
    let mut blocks = Vec::new();
    for (root, own) in roots.iter().zip(own) {
        let is_named = match heading {
            Heading::Own | Heading::OwnApart => true,
            Heading::Path => false,
            Heading::PathApart => matches!(own[..], [TextBlock::Verdict(..)]),
        };
        if roots.len() == 1 || is_named || own.is_empty() {
            if heading == Heading::OwnApart && !blocks.is_empty() && !own.is_empty() {
                blocks.push(gap());
            }
            blocks.extend(own);
            continue;
        }
        let is_apart = heading == Heading::PathApart;
        // Roots that follow one another share the empty line between them.
        if is_apart && blocks.last().is_some_and(|last| *last != gap()) {
            blocks.push(gap());
        }
        blocks.push(TextBlock::Heading(root.path.clone()));
        blocks.extend(own);
        if is_apart {
            blocks.push(gap());
        }
    }
    blocks
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

/// Shows a sentence as the last line of results.
#[must_use]
pub fn verdict(sentence: Sentence) -> TextBlock {
    TextBlock::Verdict(sentence.tone, sentence.text)
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
