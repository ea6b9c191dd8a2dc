//! The result of a check, for the summary of a job or the comment of a pull request.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::shown;
use super::text::{code, escaped, prose};
use crate::diag::{self, Severity, counted};
use crate::report::fold::{self, Fold};
use crate::report::groups::grouped;
use crate::report::reading;
use crate::report::rows::FindingRow;
use crate::report::shared::MAX_ROOTS;
use crate::report::sheet::{Piece, Screen, WholeText};
use crate::report::{Checked, RootRow, RootStatus};

/// Maximum number of characters of foreign text in one cell.
const MAX_CELL: usize = 400;

/// Maximum number of names in one line.
const MAX_NAMES: usize = 20;

/// Maximum number of causes, where a text is cut.
const MAX_CAUSES: usize = 15;

/// Writes the verdict, what failed, a row for each cause of errors and warnings, what to do, and folded the notes and
/// the names of clean roots.
#[must_use]
pub fn checks(checked: &Checked<'_>, screen: Screen) -> String {
    let roots = &checked.roots;
    let most = if screen.lines.is_some() {
        MAX_ROOTS
    } else {
        MAX_NAMES
    };
    let mut folds = fold::folds(roots, &|_| true);
    folds.sort_by_key(|fold| (Reverse(fold.severity), Reverse(fold.root_count())));
    let (notes, folds): (Vec<Fold>, Vec<Fold>) = folds
        .into_iter()
        .partition(|fold| fold.severity == Severity::Note);
    let count = notes.iter().map(|fold| fold.members.len()).sum::<usize>();
    let pieces = vec![
        Piece::fixed(verdict(checked)),
        failures(roots, most),
        causes(roots, &folds, most),
        folded("What to do", advice(&folds, most)),
        folded(&counted(count, "note"), causes(roots, &notes, most)),
        clean(roots, most),
    ];
    shown(pieces, screen)
}

/// Says how all roots came out, as the first line.
fn verdict(checked: &Checked<'_>) -> String {
    let verdict = format!("lockctl {}: {}", checked.command, checked.verdict());
    match checked.exit {
        0 => format!("{verdict}\n\n"),
        _ => format!("**{verdict}**\n\n"),
    }
}

/// Shows each failure with its roots, those of the most roots first.
fn failures(roots: &[RootRow<'_>], most: usize) -> Piece {
    let mut failures = grouped(roots.iter().flat_map(|root| {
        root.failures
            .iter()
            .map(|failure| (*failure, root.path.as_str()))
    }));
    failures.sort_by_key(|(_, roots)| Reverse(roots.len()));
    let items = failures.iter().map(|(failure, paths)| {
        let names = listed(paths.iter().copied(), most);
        let concerned = match paths.len() {
            _ if roots.len() == 1 => None,
            1 => Some(names),
            count => Some(format!("in {count} roots: {names}")),
        };
        let lines: Vec<String> = concerned
            .into_iter()
            .chain(failure.lines().lines().map(|line| prose(&cut(line))))
            .collect();
        WholeText {
            text: format!("**Error**: {}\n\n", lines.join("<br>")),
            rank: Reverse((None, paths.len())),
        }
    });
    Piece {
        most: MAX_ROOTS,
        ..Piece::of_items(items.collect())
    }
}

/// Shows causes as a table.
fn causes(roots: &[RootRow<'_>], folds: &[Fold], most: usize) -> Piece {
    if folds.is_empty() {
        return Piece::default();
    }
    let head = if roots.len() > 1 {
        "| Severity | Rule | Roots | Provider | What |\n|---|---|---|---|---|\n"
    } else {
        "| Severity | Rule | Provider | What |\n|---|---|---|---|\n"
    };
    let items = folds
        .iter()
        .map(|fold| WholeText {
            text: row(roots, fold, most),
            rank: Reverse((Some(reading::tone(fold.severity)), fold.root_count())),
        })
        .collect();
    Piece {
        head: head.to_owned(),
        items,
        end: "\n".to_owned(),
        most: MAX_CAUSES,
        hidden: 0,
    }
}

/// Shows a cause with the number of its roots and the names of some.
fn row(roots: &[RootRow<'_>], fold: &Fold, most: usize) -> String {
    let findings = || {
        fold.members
            .iter()
            .map(|member| &roots[member.root].findings[member.finding])
    };
    let providers: BTreeSet<&str> = findings()
        .filter_map(|finding| finding.provider.as_deref())
        .collect();
    let is_one = providers.len() == 1;
    // Of several roots, a row names these, and counts providers.
    let mut names = vec![match providers.len() {
        count if count > 1 && roots.len() > 1 => count.to_string(),
        _ => listed(providers.into_iter(), MAX_ROOTS),
    }];
    // Beside several providers a platform would not say whose it is.
    if is_one {
        let platforms: BTreeSet<&str> = findings()
            .filter_map(|finding| finding.platform.as_deref())
            .collect();
        names.extend(
            Some(listed(platforms.into_iter(), MAX_ROOTS)).filter(|names| !names.is_empty()),
        );
    }
    let by_root = fold.by_root();
    let paths = by_root.iter().map(|own| &*roots[own[0].root].path);
    let concerned = if roots.len() > 1 {
        format!(" {}: {} |", by_root.len(), listed(paths, most))
    } else {
        String::new()
    };
    format!(
        "| {} | {} |{concerned} {} | {} |\n",
        super::strong(reading::tone(fold.severity), fold.severity.name()),
        code(fold.rule),
        names.join("<br>"),
        what(fold, &findings().collect::<Vec<_>>()).join("<br>"),
    )
}

/// Says what is wrong in findings of one cause, and where.
fn what(fold: &Fold, findings: &[&FindingRow]) -> Vec<String> {
    let first = findings[0];
    let mut what = vec![escaped(&cut(&fold.title))];
    // Several places have no one place.
    if findings.len() == 1 || first.title == fold.title {
        what.extend(first.place().map(|place| code(&cut(&place))));
    }
    // Several roots have the same finding; its sentence is shown once.
    let titles: BTreeSet<&str> = findings
        .iter()
        .map(|finding| &*finding.title)
        .filter(|title| !fold.title.starts_with(title))
        .collect();
    if !titles.is_empty() && diag::named(fold.rule).together.is_none() {
        what.extend(
            titles
                .into_iter()
                .take(MAX_ROOTS)
                .map(|title| escaped(&cut(title))),
        );
    } else if findings
        .iter()
        .all(|finding| finding.detail == first.detail)
    {
        what.extend(first.detail.iter().map(|detail| escaped(&cut(detail))));
    }
    what
}

/// Says what to do about causes; a help that several share is shown once.
fn advice(folds: &[Fold], most: usize) -> Piece {
    let items = grouped(
        folds
            .iter()
            .filter_map(|fold| Some((fold.help.as_deref()?, fold))),
    )
    .into_iter()
    .map(|(help, folds)| {
        let rules: BTreeSet<&str> = folds.iter().map(|fold| fold.rule).collect();
        let help: Vec<String> = help.lines().map(|line| prose(&cut(line))).collect();
        WholeText {
            text: format!(
                "- {}: {}\n",
                listed(rules.into_iter(), most),
                help.join("<br>")
            ),
            rank: Reverse((Some(reading::tone(folds[0].severity)), 0)),
        }
    });
    Piece {
        end: "\n".to_owned(),
        ..Piece::of_items(items.collect())
    }
}

/// Says which of several roots are clean.
fn clean(roots: &[RootRow<'_>], most: usize) -> Piece {
    let names: Vec<&str> = roots
        .iter()
        .filter(|root| root.status == RootStatus::Clean)
        .map(|root| root.path.as_str())
        .collect();
    if roots.len() == 1 || names.is_empty() {
        return Piece::default();
    }
    let summary = format!("{} clean", counted(names.len(), "root"));
    folded(
        &summary,
        Piece::fixed(format!("{}\n\n", listed(names.into_iter(), most))),
    )
}

/// Folds a part, unless nothing is in it.
fn folded(summary: &str, piece: Piece) -> Piece {
    if piece.items.is_empty() && piece.head.is_empty() {
        return Piece::default();
    }
    Piece {
        head: format!("<details><summary>{summary}</summary>\n\n{}", piece.head),
        end: format!("{}</details>\n\n", piece.end),
        ..piece
    }
}

/// Lists names, the first of many.
fn listed<'a>(names: impl ExactSizeIterator<Item = &'a str>, most: usize) -> String {
    let more = names.len().saturating_sub(most);
    let mut shown: Vec<String> = names.take(most).map(|name| code(&cut(name))).collect();
    if more > 0 {
        shown.push(format!("and {more} more"));
    }
    shown.join(", ")
}

/// Cuts foreign text to what a cell should hold.
fn cut(text: &str) -> String {
    match text.char_indices().nth(MAX_CELL) {
        None => text.to_owned(),
        Some((at, _)) => format!("{}…", &text[..at]),
    }
}
