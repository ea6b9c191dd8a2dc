//! The text of a result: blocks for standard output, and for standard error.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use super::checked::statuses;
use super::result::{
    CommandResult, FileResult, FindingDisplay, ResultEntry, ResultSubject, RootResult, RootStatus,
    Sentence,
};
use super::rows::{self, PackageRow};
use super::shared::{MAX_ROOTS, SharedFact};
use super::{Failure, TextBlock, Tone, notes};
use crate::diag::{Counts, Diagnostic, Severity};
use crate::review::FileComparison;

/// The parts of which the text about roots is made.
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

/// Returns what is printed beside the results, in the order in which it was found.
///
/// Failures that roots share are named once, in the place of the first.
#[must_use]
pub fn notes(result: &CommandResult, total_at: Total, verbose: bool) -> Vec<TextBlock> {
    let mut blocks = match &result.subject {
        ResultSubject::Roots(roots) => {
            let mut blocks = if roots.len() > 1 && !verbose {
                notes::of_several(result, roots)
            } else {
                of_roots(result, roots, verbose)
            };
            blocks.extend(unset_variables(roots));
            blocks
        }
        ResultSubject::Packages(packages) => {
            let of_package = |package: &super::PackageResult| {
                let remarks = package.remarks.iter().map(remark);
                let failure = match &package.package {
                    PackageRow::Failed(failed) => Some(TextBlock::Failure(failed.failure.clone())),
                    PackageRow::Hashed(_) => None,
                };
                remarks.chain(failure).collect::<Vec<_>>()
            };
            packages.iter().flat_map(of_package).collect()
        }
        ResultSubject::Files(all) => {
            let of_file = |file: &FileResult| {
                let FileComparison { old, new, .. } = &file.comparison;
                let faults = old
                    .iter()
                    .chain(new)
                    .flat_map(|side| side.diagnostics.iter().cloned());
                let failures = file.failures.iter().cloned().map(TextBlock::Failure);
                faults
                    .map(TextBlock::Diagnostic)
                    .chain(failures)
                    .collect::<Vec<_>>()
            };
            all.files.iter().flat_map(of_file).collect()
        }
        ResultSubject::Store(store, _) => {
            store.failures().cloned().map(TextBlock::Failure).collect()
        }
        ResultSubject::Pages(..)
        | ResultSubject::Matches(_)
        | ResultSubject::Symptoms(_)
        | ResultSubject::Text(_) => Vec::new(),
    };
    blocks.extend(result.remarks.iter().map(remark));
    if verbose {
        let named = result
            .not_locked
            .iter()
            .flatten()
            .map(|dir| TextBlock::Remark(Tone::Note, format!("not locked: {dir}")));
        blocks.extend(named);
    }
    if total_at == Total::Note && result.not_locked.is_some() {
        let note = |line: Sentence| TextBlock::Remark(Tone::Note, line.text);
        blocks.extend(total(result, total_at, verbose).map(note));
    }
    blocks
}

/// Maximum number of variables that are named; of a list with one more, all are.
const MAX_VARIABLES: usize = 5;

/// Names the variables without a value that no provider depends on, once for all roots.
fn unset_variables(roots: &[RootResult]) -> Option<TextBlock> {
    let concerned = roots
        .iter()
        .filter(|root| !root.unset_variables.is_empty())
        .count();
    let names: BTreeSet<&String> = roots
        .iter()
        .flat_map(|root| &root.unset_variables)
        .collect();
    let shown = if names.len() > MAX_VARIABLES + 1 {
        MAX_VARIABLES
    } else {
        names.len()
    };
    let mut list: Vec<String> = names
        .iter()
        .take(shown)
        .map(|name| format!("var.{name}"))
        .collect();
    let last = match names.len() - shown {
        0 => list.pop()?,
        more => format!("{more} more"),
    };
    let list = if list.is_empty() {
        last
    } else {
        format!("{} and {last}", list.join(", "))
    };
    let (have, them) = if names.len() == 1 {
        ("has", "one")
    } else {
        ("have", "values")
    };
    let where_ = if roots.len() > 1 {
        format!(" in {concerned} of {} roots", roots.len())
    } else {
        String::new()
    };
    let text = format!(
        "{list} {have} no value{where_}: not needed for providers (`--var NAME=VALUE` or `--var-file FILE` gives {them})"
    );
    Some(TextBlock::Remark(Tone::Note, text))
}

fn of_roots(result: &CommandResult, roots: &[RootResult], verbose: bool) -> Vec<TextBlock> {
    let has_several = roots.len() > 1;
    let mut shared = result.failures();
    let mut blocks = Vec::new();
    for root in roots {
        // On standard error there is no heading that names the root.
        let named = |text: &str| {
            if has_several {
                format!("{}: {text}", root.path)
            } else {
                text.to_owned()
            }
        };
        for entry in &root.entries {
            match entry {
                ResultEntry::Finding(_, FindingDisplay::Folded) if !verbose => {}
                ResultEntry::Finding(finding, FindingDisplay::Note | FindingDisplay::Folded) => {
                    blocks.push(TextBlock::Diagnostic(finding.diagnostic.clone()));
                }
                ResultEntry::Finding(finding, FindingDisplay::Line) => {
                    let Diagnostic {
                        severity, title, ..
                    } = &finding.diagnostic;
                    blocks.push(TextBlock::Remark(tone(*severity), named(title)));
                }
                ResultEntry::Finding(_, FindingDisplay::Result | FindingDisplay::Hidden) => {}
                ResultEntry::Remark(Sentence { tone, text })
                | ResultEntry::Detail(Sentence { tone, text }) => {
                    blocks.push(TextBlock::Remark(*tone, named(text)));
                }
                ResultEntry::Failure(failure) if has_several => {
                    // The first root that has the failure names all of them; the others say nothing.
                    let first = shared.iter().position(|(other, _)| *other == failure);
                    if let Some((failure, paths)) = first.map(|at| shared.remove(at)) {
                        blocks.push(of_several(failure, paths, roots.len(), verbose));
                    }
                }
                ResultEntry::Failure(failure) => blocks.push(TextBlock::Failure(failure.clone())),
            }
        }
    }
    blocks
}

/// Shows a failure of some roots of a run. Few are named before it; of many, some are named below it, since
/// nobody would find the title behind their names.
#[must_use]
pub fn of_several(failure: &Failure, roots: Vec<&str>, of: usize, verbose: bool) -> TextBlock {
    if roots.len() <= MAX_ROOTS {
        let title = format!("{}: {}", roots.join(", "), failure.title);
        return TextBlock::Failure(Failure {
            title,
            ..failure.clone()
        });
    }
    let shared = SharedFact { fact: (), roots };
    let roots = format!("in {}: {}", shared.count(of), shared.names(verbose));
    TextBlock::SharedFailure(failure.clone(), roots)
}

/// Says how all roots came out, if that is not said by the results themselves.
#[must_use]
pub fn total(result: &CommandResult, total: Total, verbose: bool) -> Option<Sentence> {
    let roots = result.roots();
    let mut text = statuses(roots.iter().map(|root| root.status));
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
pub fn verdict(sentence: Sentence) -> TextBlock {
    TextBlock::Verdict(sentence.tone, sentence.text)
}

fn remark(sentence: &Sentence) -> TextBlock {
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
