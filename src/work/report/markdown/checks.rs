//! The result of a check, for the summary of a job or the comment of a pull request.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::text::{code, failed, prose};
use super::{details, shown, table};
use crate::diag::{self, Severity, counted};
use crate::report::fold::{self, FindingIndex, Fold};
use crate::report::groups::grouped;
use crate::report::reading;
use crate::report::rows::FindingRow;
use crate::report::shared::{MAX_ROOTS, first_names};
use crate::report::sheet::{Column, Piece, Row, Screen, Table, WholeText, facts};
use crate::report::{Checked, RootRow, RootStatus};

/// Maximum number of characters of a foreign text.
const MAX_TEXT: usize = 400;

/// Maximum number of clean roots that are named.
const MAX_CLEAN: usize = 20;

/// Maximum number of causes, where a text is cut.
const MAX_CAUSES: usize = 15;

const COLUMNS: &[Column] = &[
    Column::Key("SEVERITY"),
    Column::Key("RULE"),
    Column::Joined("PROVIDER"),
    Column::Sentence("WHAT"),
    Column::Joined("PLACE"),
];

/// Writes the verdict, what failed, a row for each cause of errors and warnings, what to do, and folded the notes and
/// the names of clean roots.
#[must_use]
pub fn checks(checked: &Checked<'_>, screen: Screen) -> String {
    let roots = &checked.roots;
    let mut folds = fold::folds(roots, &|_| true);
    folds.sort_by_key(|fold| (Reverse(fold.severity), Reverse(fold.root_count())));
    let (notes, folds): (Vec<Fold>, Vec<Fold>) = folds
        .into_iter()
        .partition(|fold| fold.severity == Severity::Note);
    let count = notes.iter().map(|fold| fold.members.len()).sum::<usize>();
    let (causes, details) = causes(roots, &folds, screen);
    let (notes, details_of_notes) = self::causes(roots, &notes, screen);
    let clean: Vec<&str> = roots
        .iter()
        .filter(|root| root.status == RootStatus::Clean)
        .map(|root| root.path.as_str())
        .collect();
    // A single root is in the verdict.
    let clean_roots = if roots.len() == 1 || clean.is_empty() {
        Piece::default()
    } else {
        let summary = format!("{} clean", counted(clean.len(), "root"));
        let names = first_names(clean.iter().map(|name| code(&cut(name))), MAX_CLEAN);
        folded(&summary, Piece::fixed(format!("{}\n\n", names.join(", "))))
    };
    let pieces = vec![
        Piece::fixed(verdict(checked)),
        failures(checked),
        causes,
        folded("What to do", advice(&folds)),
        details,
        folded(&counted(count, "note"), notes),
        details_of_notes,
        clean_roots,
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

fn failures(checked: &Checked<'_>) -> Piece {
    let failures = checked.failures(MAX_ROOTS).into_iter().map(|failure| {
        let lines: Vec<String> = failure.lines().map(cut).collect();
        WholeText {
            text: failed(&lines.join("\n")),
            rank: Reverse((None, 0)),
        }
    });
    Piece {
        most: MAX_ROOTS,
        ..Piece::of_items(failures.collect())
    }
}

/// Shows causes as a table, and the sentences of findings that have no common one below it.
fn causes(roots: &[RootRow<'_>], folds: &[Fold], screen: Screen) -> (Piece, Piece) {
    let rows = folds.iter().flat_map(|fold| rows(roots, fold));
    let causes = Table::new(COLUMNS, rows).at_most(MAX_CAUSES);
    let facts = facts(&causes);
    (
        table(&causes, &facts, screen),
        details(&causes, &facts, screen),
    )
}

/// Describes the findings of one cause, a row for each root.
fn rows(roots: &[RootRow<'_>], fold: &Fold) -> Vec<Row> {
    let finding = |at: &FindingIndex| &roots[at.root].findings[at.finding];
    let first = finding(&fold.members[0]);
    let mut what = vec![cut(&fold.title)];
    if fold
        .members
        .iter()
        .all(|at| finding(at).detail == first.detail)
    {
        what.extend(first.detail.iter().map(|detail| cut(detail)));
    }
    let by_root = fold.by_root();
    let has_common_title = diag::named(fold.rule).together.is_some();
    // The names of several roots say as much as the places in their files.
    let has_places = by_root.len() == 1 || first.title == fold.title;
    let row = |own: &[FindingIndex]| {
        let texts = |pick: &dyn Fn(&FindingRow) -> Option<String>| -> Vec<String> {
            own.iter()
                .filter_map(|at| pick(finding(at)))
                .collect::<BTreeSet<_>>()
                .iter()
                .map(|text| cut(text))
                .collect()
        };
        let title = |finding: &FindingRow| {
            let is_shown = has_common_title || fold.title.starts_with(&finding.title);
            (!is_shown).then(|| finding.title.clone())
        };
        let place = |finding: &FindingRow| finding.place().filter(|_| has_places);
        Row {
            tone: Some(reading::tone(fold.severity)),
            details: texts(&title),
            ..Row::new(
                &roots[own[0].root].path,
                [
                    fold.severity.name().into(),
                    fold.rule.into(),
                    texts(&|finding| finding.provider.clone()).into(),
                    what.clone().into(),
                    texts(&place).into(),
                ],
            )
        }
    };
    by_root.into_iter().map(row).collect()
}

/// Says what to do about causes; a help that several share is shown once.
fn advice(folds: &[Fold]) -> Piece {
    let helps = folds
        .iter()
        .filter_map(|fold| Some((fold.help.as_deref()?, fold)));
    let items = grouped(helps).into_iter().map(|(help, folds)| {
        let rules: BTreeSet<&str> = folds.iter().map(|fold| fold.rule).collect();
        let rules: Vec<String> = rules.into_iter().map(code).collect();
        let help = help
            .lines()
            .map(|line| prose(&cut(line)))
            .collect::<Vec<_>>()
            .join("<br>");
        WholeText {
            text: format!("- {}: {help}\n", rules.join(", ")),
            rank: Reverse((Some(reading::tone(folds[0].severity)), 0)),
        }
    });
    Piece {
        end: "\n".to_owned(),
        ..Piece::of_items(items.collect())
    }
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

/// Cuts a foreign text to what a cell should hold.
fn cut(text: &str) -> String {
    match text.char_indices().nth(MAX_TEXT) {
        None => text.to_owned(),
        Some((at, _)) => format!("{}…", &text[..at]),
    }
}
