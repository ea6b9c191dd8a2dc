//! What people read of a result: blocks for standard output, and for standard error.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use super::checked::statuses;
use super::result::{
    CommandResult, FileResult, RootEntry, RootResult, Sentence, Shown, Status, Subject,
};
use super::rows::{self, Package};
use super::{Block, Failure, Tone};
use crate::diag::{Counts, Diagnostic, Finding, Severity};
use crate::review::FileComparison;

/// How the results of a command about roots read.
#[derive(Clone, Copy)]
pub struct RootsText<'a> {
    /// Returns what is printed of one root.
    pub root: &'a dyn Fn(&RootResult) -> Vec<Block>,
    /// How several roots are distinguished.
    pub heading: Heading,
    /// Where the line about all roots is printed.
    pub total: Total,
}

/// How the results of several roots are distinguished.
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

/// Where the line about all roots is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Total {
    /// It is the last result, if there are several roots or these were searched for.
    Result,
    /// As [`Total::Result`], with the number of errors and warnings.
    ResultWithCounts,
    /// It is a note, if roots were searched for.
    Note,
}

/// Returns the results about roots, one root after the other, and the line about all of them.
///
/// `verbose` says that directories without a root are named beside it.
#[must_use]
pub fn roots(result: &CommandResult, text: RootsText<'_>, verbose: bool) -> Vec<Block> {
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
pub fn each(roots: &[RootResult], own: Vec<Vec<Block>>, heading: Heading) -> Vec<Block> {
    let mut blocks = Vec::new();
    for (root, own) in roots.iter().zip(own) {
        if roots.len() > 1 {
            add_named(&mut blocks, heading, &root.path, own);
        } else {
            blocks.extend(own);
        }
    }
    blocks
}

/// Adds the results of one of several roots.
fn add_named(blocks: &mut Vec<Block>, heading: Heading, path: &str, own: Vec<Block>) {
    let gap = || Block::Lines(vec![String::new()]);
    let is_named = match heading {
        Heading::Own | Heading::OwnApart => true,
        Heading::Path => false,
        Heading::PathApart => matches!(own[..], [Block::Verdict(..)]),
    };
    if is_named || own.is_empty() {
        if heading == Heading::OwnApart && !blocks.is_empty() && !own.is_empty() {
            blocks.push(gap());
        }
        blocks.extend(own);
        return;
    }
    let is_apart = heading == Heading::PathApart;
    if is_apart && blocks.last().is_some_and(|last| *last != gap()) {
        blocks.push(gap());
    }
    blocks.push(Block::Heading(path.to_owned()));
    blocks.extend(own);
    if is_apart {
        blocks.push(gap());
    }
}

/// Returns what is printed beside the results, in the order in which it was found.
///
/// Failures that roots share are named once, in the place of the first.
#[must_use]
pub fn notes(result: &CommandResult, total_at: Total, verbose: bool) -> Vec<Block> {
    let mut blocks = match &result.subject {
        Subject::Roots(roots) => of_roots(result, roots),
        Subject::Packages(packages) => {
            let of_package = |package: &super::PackageResult| {
                let remarks = package.remarks.iter().map(remark);
                let failure = match &package.package {
                    Package::Failed(failed) => Some(Block::Failure(failed.failure.clone())),
                    Package::Hashed(_) => None,
                };
                remarks.chain(failure).collect::<Vec<_>>()
            };
            packages.iter().flat_map(of_package).collect()
        }
        Subject::Files(all) => {
            let of_file = |file: &FileResult| {
                let FileComparison { old, new, .. } = &file.comparison;
                let sides = old.iter().chain(new);
                let faults = sides.flat_map(|side| side.diagnostics.iter().cloned());
                let failures = file.failures.iter().cloned().map(Block::Failure);
                let faults = faults.map(Block::Diagnostic);
                faults.chain(failures).collect::<Vec<_>>()
            };
            all.files.iter().flat_map(of_file).collect()
        }
        Subject::Store(store, _) => store.failures().cloned().map(Block::Failure).collect(),
        Subject::Pages(..) | Subject::Text(_) => Vec::new(),
    };
    blocks.extend(result.remarks.iter().map(remark));
    if verbose {
        let names = result.not_locked.iter().flatten();
        let named = names.map(|dir| Block::Remark(Tone::Note, format!("not locked: {dir}")));
        blocks.extend(named);
    }
    if total_at == Total::Note && result.not_locked.is_some() {
        let note = |line: Sentence| Block::Remark(Tone::Note, line.text);
        blocks.extend(total(result, total_at, verbose).map(note));
    }
    blocks
}

fn of_roots(result: &CommandResult, roots: &[RootResult]) -> Vec<Block> {
    let has_several = roots.len() > 1;
    let mut shared = result.failures();
    let mut blocks = Vec::new();
    for root in roots {
        for entry in &root.entries {
            match entry {
                RootEntry::Finding(finding, Shown::Line) if has_several => {
                    let Diagnostic {
                        severity, title, ..
                    } = &finding.diagnostic;
                    let text = format!("{}: {title}", root.path);
                    blocks.push(Block::Remark(tone(*severity), text));
                }
                RootEntry::Finding(finding, shown) => blocks.extend(beside(finding, *shown)),
                // On standard error there is no heading that names the root.
                RootEntry::Remark(Sentence { tone, text }) if has_several => {
                    blocks.push(Block::Remark(*tone, format!("{}: {text}", root.path)));
                }
                RootEntry::Remark(own) => blocks.push(remark(own)),
                RootEntry::Failure(failure) if has_several => {
                    let first = shared.iter().position(|(one, _)| *one == failure);
                    if let Some((failure, paths)) = first.map(|at| shared.remove(at)) {
                        let title = format!("{}: {}", paths.join(", "), failure.title);
                        blocks.push(Block::Failure(Failure {
                            title,
                            ..failure.clone()
                        }));
                    }
                }
                RootEntry::Failure(failure) => blocks.push(Block::Failure(failure.clone())),
            }
        }
    }
    blocks
}

/// Shows a finding that is no result of the command.
fn beside(finding: &Finding, shown: Shown) -> Option<Block> {
    let diagnostic = &finding.diagnostic;
    match shown {
        Shown::Note => Some(Block::Diagnostic(diagnostic.clone())),
        Shown::Line => Some(Block::Remark(
            tone(diagnostic.severity),
            diagnostic.title.clone(),
        )),
        Shown::Result | Shown::Hidden => None,
    }
}

/// Says how all roots came out, if that is not said by the results themselves.
#[must_use]
pub fn total(result: &CommandResult, total: Total, verbose: bool) -> Option<Sentence> {
    let roots = result.roots();
    let mut text = statuses(roots.iter().map(|root| root.status));
    if total == Total::ResultWithCounts {
        // What roots share, a module or a project file, counts once.
        let findings = roots.iter().flat_map(RootResult::findings);
        let findings: BTreeSet<rows::Finding> = findings
            .map(|one| rows::Finding::of(one, &result.texts, &cleaned))
            .collect();
        let counts = Counts::of(findings.iter().map(|one| one.severity)).without_notes();
        if !counts.is_empty() {
            text += &format!(" ({counts})");
        }
    }
    let worst = roots.iter().map(|root| root.status).max();
    let tone = match worst.unwrap_or(Status::Clean) {
        Status::Clean => Tone::Good,
        Status::Findings => Tone::Warning,
        Status::Failed => Tone::Bad,
    };
    closing(result, Sentence { tone, text }, verbose)
}

/// Completes the sentence about all roots with the directories that none of them covers; nothing if what
/// is said of a single root says it all.
#[must_use]
pub fn closing(result: &CommandResult, counts: Sentence, verbose: bool) -> Option<Sentence> {
    let roots = result.roots();
    let is_failure = matches!(roots, [root] if root.status == Status::Failed);
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
pub(super) fn cleaned(path: &str) -> String {
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
pub fn verdict(sentence: Sentence) -> Block {
    Block::Verdict(sentence.tone, sentence.text)
}

fn remark(sentence: &Sentence) -> Block {
    Block::Remark(sentence.tone, sentence.text.clone())
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
