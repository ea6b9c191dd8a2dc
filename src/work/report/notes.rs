//! The text beside results, for standard error; of several roots equal notes once, the worst first, on one screen.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::folded::folded;
use super::groups::grouped;
use super::reading::{self, Total};
use super::rows::PackageRow;
use super::several::{FaultLine, Several};
use super::shared::{MAX_ROOTS, SharedFact, first_names, shared, unseen_state};
use super::{
    CommandResult, Failure, FileResult, FindingDisplay, PackageResult, ResultEntry, ResultSubject,
    RootResult, Sentence, TextBlock, Tone,
};
use crate::diag::{Diagnostic, Severity, counted, rules};
use crate::review::FileComparison;

/// Maximum number of packages of modules that are named; more are counted.
const MAX_PACKAGES: usize = 5;

/// Returns what is printed beside the results, in the order in which it was found; of several roots the worst first.
///
/// Failures that roots share are named once, in the place of the first.
#[must_use]
pub fn notes(result: &CommandResult, total_at: Total, verbose: bool) -> Vec<TextBlock> {
    let of_run = of_run(result, total_at, verbose);
    let mut blocks = match &result.subject {
        ResultSubject::Roots(roots) if roots.len() > 1 && !verbose => of_many(result, roots),
        ResultSubject::Roots(roots) => of_roots(result, roots, verbose),
        ResultSubject::Packages(packages) => {
            let of_package = |package: &PackageResult| {
                let remarks = package.remarks.iter().map(reading::remark);
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
        | ResultSubject::Releases(_)
        | ResultSubject::Text(_) => Vec::new(),
    };
    blocks.extend(of_run);
    blocks
}

/// Returns what is said of the run as a whole.
fn of_run(result: &CommandResult, total_at: Total, verbose: bool) -> Vec<TextBlock> {
    let mut blocks = Vec::new();
    if let ResultSubject::Roots(roots) = &result.subject {
        let variables: BTreeSet<&String> = roots
            .iter()
            .flat_map(|root| &root.missing_values.variables)
            .collect();
        // Variables without a value that no provider depends on are named once for all roots.
        if !variables.is_empty() {
            let have = if variables.len() == 1 { "has" } else { "have" };
            let names = variables.iter().map(|name| format!("var.{name}"));
            let names = first_names(names, MAX_VARIABLES).join(", ");
            let mut place = String::new();
            if roots.len() > 1 {
                let lacks = |root: &&RootResult| !root.missing_values.variables.is_empty();
                let concerned = roots.iter().filter(lacks).count();
                place = format!(" in {concerned} of {} roots", roots.len());
            }
            let text = format!(
                "{names} {have} no value{place}: not needed for providers (`--var NAME=VALUE` or `--var-file FILE` gives one)"
            );
            blocks.push(TextBlock::Remark(Tone::Note, text));
        }
        blocks.extend(unread_values(roots));
    }
    blocks.extend(result.remarks.iter().map(reading::remark));
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
        blocks.extend(reading::total(result, total_at, verbose).map(note));
    }
    blocks
}

/// Maximum number of variables that are named; of a list with one more, all are.
const MAX_VARIABLES: usize = 5;

/// Maximum number of files of values that are named; of a list with one more, all are.
const MAX_FILES: usize = 3;

/// Names the files of values that could not be read and that no provider depends on, once for all roots.
fn unread_values(roots: &[RootResult]) -> Vec<TextBlock> {
    let unread = || roots.iter().flat_map(|root| &root.missing_values.files);
    [
        (true, "encrypted by git-crypt", "`git-crypt unlock`"),
        (false, "not readable", "-v shows why"),
    ]
    .into_iter()
    .filter_map(|(is_encrypted, state, hint)| {
        // Roots of Terragrunt may share a file.
        let paths: BTreeSet<&String> = unread()
            .filter(|file| file.is_encrypted == is_encrypted)
            .map(|file| &file.path)
            .collect();
        let are = match paths.len() {
            0 => return None,
            1 => "is",
            _ => "are",
        };
        let names = first_names(paths.into_iter().cloned(), MAX_FILES).join(", ");
        let text = format!("{names} {are} {state}: not needed for providers ({hint})");
        Some(TextBlock::Remark(Tone::Note, text))
    })
    .collect()
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
                    blocks.push(TextBlock::Remark(reading::tone(*severity), named(title)));
                }
                ResultEntry::Finding(_, FindingDisplay::Result | FindingDisplay::Hidden) => {}
                ResultEntry::Remark(Sentence { tone, text })
                | ResultEntry::Detail(Sentence { tone, text }) => {
                    blocks.push(TextBlock::Remark(*tone, named(text)));
                }
                ResultEntry::Failure(failure) if has_several => {
                    // The first root that has the failure names all of them; the others say nothing.
                    if let Some(at) = shared.iter().position(|(other, _)| *other == failure) {
                        let (failure, paths) = shared.remove(at);
                        blocks.push(failure_of(failure, paths, roots.len(), verbose));
                    }
                }
                ResultEntry::Failure(failure) => blocks.push(TextBlock::Failure(failure.clone())),
            }
        }
    }
    blocks
}

/// Shows a failure of some roots of a run. Few are named before it; of many, some are named below it, where they do
/// not hide the title.
fn failure_of(failure: &Failure, roots: Vec<&str>, of: usize, verbose: bool) -> TextBlock {
    if roots.len() <= MAX_ROOTS {
        let title = format!("{}: {}", roots.join(", "), failure.title);
        return TextBlock::Failure(Failure {
            title,
            ..failure.clone()
        });
    }
    // Many names come below the title, because a title behind them is hard to find.
    let shared = SharedFact { fact: (), roots };
    let roots = format!("in {}: {}", shared.count(of), shared.names(verbose));
    TextBlock::SharedFailure(failure.clone(), roots)
}

/// Shows what is known of several roots beside their results: faults, failures and remarks, equal ones once,
/// then what is not visible.
fn of_many(result: &CommandResult, roots: &[RootResult]) -> Vec<TextBlock> {
    let is_about_package = |diagnostic: &Diagnostic| {
        diagnostic.package.is_some() || diagnostic.code == rules::MODULE_NOT_VISIBLE
    };
    let (unread, unseen): (Vec<_>, Vec<_>) = roots
        .iter()
        .flat_map(faults)
        .filter(|fault| is_about_package(fault.diagnostic))
        .partition(|fault| fault.diagnostic.severity > Severity::Note);
    let faults = folded(result, &|diagnostic, display| {
        display == FindingDisplay::Note
            && diagnostic.code != rules::STATE_NOT_VISIBLE
            && !is_about_package(diagnostic)
    });
    let mut blocks = by_package(&unread, roots.len());
    blocks.extend(faults.blocks);
    blocks.extend(failures(result, false));
    blocks.extend(remarks(roots));
    blocks.sort_by_key(|block| Reverse(block.tone()));
    blocks.extend(by_package(&unseen, roots.len()));
    let is_unseen = |entry: &ResultEntry| match entry {
        ResultEntry::Finding(finding, FindingDisplay::Note | FindingDisplay::Folded) => {
            let Diagnostic { code, severity, .. } = &finding.diagnostic;
            *code == rules::STATE_NOT_VISIBLE && *severity == Severity::Note
        }
        _ => false,
    };
    let roots_without_state = roots
        .iter()
        .filter(|root| root.entries.iter().any(is_unseen))
        .map(|root| ((), &*root.path));
    // The states of several roots are counted together.
    if let Some(together) = shared(roots_without_state).first() {
        let text = unseen_state(&together.count(roots.len()));
        let text = format!("{text} (-v shows why)");
        blocks.push(TextBlock::Remark(Tone::Note, text));
    }
    blocks
}

/// A fault with its root.
struct SeenFault<'a> {
    root: &'a str,
    diagnostic: &'a Diagnostic,
    /// The configuration of the root was only asked a question, which the command can repeat with modules.
    is_asked: bool,
}

/// Lists the faults of a root that are shown beside its results.
fn faults(root: &RootResult) -> impl Iterator<Item = SeenFault<'_>> {
    root.entries.iter().filter_map(|entry| {
        let ResultEntry::Finding(finding, display) = entry else {
            return None;
        };
        let diagnostic = &finding.diagnostic;
        let is_shown = match display {
            FindingDisplay::Note => diagnostic.code != rules::STATE_NOT_VISIBLE,
            FindingDisplay::Folded => diagnostic.code == rules::MODULE_NOT_VISIBLE,
            FindingDisplay::Result | FindingDisplay::Line | FindingDisplay::Hidden => false,
        };
        is_shown.then_some(SeenFault {
            root: &root.path,
            diagnostic,
            is_asked: *display == FindingDisplay::Folded,
        })
    })
}

/// Shows the failures of all roots, each once, those of the most roots first. Of many that have one cause, or differ
/// in the places of a root, the first one names the roots of the others.
#[must_use]
pub fn failures(result: &CommandResult, verbose: bool) -> Vec<TextBlock> {
    let of = result.roots().len();
    let mut failures = result.failures();
    failures.sort_by_key(|(_, roots)| Reverse(roots.len()));
    let mut blocks = Vec::new();
    while !failures.is_empty() {
        let (failure, roots) = failures.remove(0);
        if of == 1 {
            blocks.push(TextBlock::Failure(failure.clone()));
            continue;
        }
        // One remedy and one cause make one message: titles may name different providers, and causes the places of a
        // root.
        let is_alike = |other: &Failure| {
            failure.help.is_some()
                && other.help == failure.help
                && (other.causes.first() == failure.causes.first() || other.title == failure.title)
        };
        let alike = failures.iter().filter(|(other, _)| is_alike(other)).count();
        let mut shown = failure.clone();
        if alike > MAX_ROOTS && !verbose {
            let mut others: Vec<&str> = failures
                .extract_if(.., |(other, _)| is_alike(other))
                .flat_map(|(_, roots)| roots)
                .filter(|root| !roots.contains(root))
                .collect();
            others.sort_unstable();
            others.dedup();
            let others = SharedFact {
                fact: (),
                roots: others,
            };
            let places = match others.roots.len() {
                0 => String::new(),
                count => format!(
                    ", in {}: {}",
                    counted(count, "other root"),
                    others.names(false)
                ),
            };
            shown = shown.because(format!(
                "the same applies to {}{places} (-v shows all)",
                counted(alike, "other failure")
            ));
        }
        blocks.push(failure_of(&shown, roots, of, verbose));
    }
    blocks
}

/// Shows the remarks on single roots and providers, equal ones once.
fn remarks(roots: &[RootResult]) -> Vec<TextBlock> {
    let all = roots.iter().flat_map(|root| {
        root.entries.iter().filter_map(|entry| {
            let remark = match entry {
                ResultEntry::Finding(finding, FindingDisplay::Line) => {
                    let Diagnostic {
                        severity, title, ..
                    } = &finding.diagnostic;
                    (reading::tone(*severity), &**title)
                }
                ResultEntry::Remark(Sentence { tone, text }) => (*tone, &**text),
                _ => return None,
            };
            Some((remark, &*root.path))
        })
    });
    shared(all)
        .into_iter()
        .map(|remark| {
            let (tone, text) = remark.fact;
            let count = remark.count(roots.len());
            let text = match &*remark.roots {
                [root] => format!("{root}: {text}"),
                all if all.len() == roots.len() => format!("{text} (in {count})"),
                _ => format!("{text} (in {count}: {})", remark.names(false)),
            };
            TextBlock::Remark(tone, text)
        })
        .collect()
}

/// Shows modules that could not be read: a line for each package, by host and repository.
fn by_package(faults: &[SeenFault<'_>], of: usize) -> Vec<TextBlock> {
    grouped(
        faults
            .iter()
            .map(|fault| ((&fault.diagnostic.title, &fault.diagnostic.help), fault)),
    )
    .into_iter()
    .map(|(_, members)| {
        let first = members[0];
        let mut packages = grouped(
            members
                .iter()
                .map(|fault| (fault.diagnostic.package.as_deref(), *fault)),
        );
        packages.sort_by_key(|(_, calls)| Reverse(calls.len()));
        let hidden = packages.len().saturating_sub(MAX_PACKAGES);
        let lines = packages.iter().take(MAX_PACKAGES).map(|(package, calls)| {
            let package = package.unwrap_or("a source that is not known");
            let cause = cause(calls[0].diagnostic).map_or_else(String::new, |cause| {
                format!(": {}", cause.lines().next().unwrap_or_default())
            });
            FaultLine::Name(format!("{package}: {}{cause}", calls_in_roots(calls, of)))
        });
        let mut block = Several::of(first.diagnostic, lines.collect());
        block.title = format!("{}: {}", block.title, calls_in_roots(&members, of));
        block.more = Some(match hidden {
            0 => "-v shows each call".to_owned(),
            1 => "and 1 more package (-v shows each call)".to_owned(),
            n => format!("and {n} more packages (-v shows each call)"),
        });
        // A reason beside the title is something that fetching does not change, or that fetching met.
        if first.is_asked && block.help.is_none() && cause(first.diagnostic).is_none() {
            block.help = Some("`--modules fetch` fetches modules".to_owned());
        }
        TextBlock::Several(block)
    })
    .collect()
}

/// Returns the reason why a module could not be read, beside the title.
fn cause(diagnostic: &Diagnostic) -> Option<&str> {
    // The place of a note has the consequence, and its first related place has the reason.
    let label = if diagnostic.severity > Severity::Note {
        diagnostic.primary.as_ref()
    } else {
        diagnostic.related.first()
    };
    label
        .map(|label| &*label.note)
        .filter(|note| !note.is_empty())
}

/// Counts calls and their roots, as in `357 calls in 150 roots`; a call in each of them is not counted.
fn calls_in_roots(calls: &[&SeenFault<'_>], of: usize) -> String {
    let roots = BTreeSet::from_iter(calls.iter().map(|fault| fault.root));
    let roots = Vec::from_iter(roots);
    let is_one_each = calls.len() == roots.len();
    let in_roots = SharedFact { fact: (), roots }.count(of);
    if is_one_each {
        in_roots
    } else {
        format!("{} in {in_roots}", counted(calls.len(), "call"))
    }
}

impl TextBlock {
    /// Returns whether it is about a fault or a failure.
    #[must_use]
    pub fn is_bad(&self) -> bool {
        self.tone() == Tone::Bad
    }

    /// Returns how bad the news are.
    pub(super) fn tone(&self) -> Tone {
        match self {
            Self::Diagnostic(diagnostic) => reading::tone(diagnostic.severity),
            Self::Several(several) => reading::tone(several.severity),
            Self::Failure(_) | Self::SharedFailure(..) => Tone::Bad,
            Self::Remark(tone, _) | Self::Verdict(tone, _) => *tone,
            _ => Tone::Good,
        }
    }
}
