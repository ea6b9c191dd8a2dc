//! Facts: equal rows of several roots, put together.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::{Cell, Column, Piece, Row, Screen, Table, WholeText};
use crate::diag::counted;
use crate::report::Tone;
use crate::report::groups::grouped;
use crate::report::shared::{MAX_ROOTS, first_names, shared};

/// Maximum number of sentences that hold for some roots only; of more, the most frequent are shown.
const MAX_DEVIATIONS: usize = 5;

/// Maximum number of parts of a cell that are shown; of a list with one more, all are.
const MAX_PARTS: usize = 3;

/// Equal rows of several roots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::work::report) struct SharedRow {
    pub(in crate::work::report) cells: Vec<Cell>,
    pub(in crate::work::report) tone: Option<Tone>,
    pub(in crate::work::report) roots: Vec<String>,
    /// Sentences that hold for some of the roots only.
    pub(in crate::work::report) deviations: Vec<OfRoots<String>>,
    /// Lines below the row, equal ones once.
    pub(in crate::work::report) details: Vec<OfRoots<Vec<String>>>,
}

/// Something that holds for some roots of a fact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::work::report) struct OfRoots<T> {
    pub(in crate::work::report) roots: Vec<String>,
    pub(in crate::work::report) content: T,
}

/// Puts the rows of a table together, in the order of the first of each fact.
pub(in crate::work::report) fn facts(table: &Table) -> Vec<SharedRow> {
    let key = |row: &Row| {
        let is_key = |column: &Column| {
            matches!(
                column,
                Column::Key(_) | Column::Long(_) | Column::Sentence(_)
            )
        };
        let cells: Vec<Cell> = row
            .cells
            .iter()
            .zip(&table.columns)
            .filter(|(_, column)| is_key(column))
            .map(|(cell, _)| cell.clone())
            .collect();
        (row.tone, cells)
    };
    grouped(table.rows.iter().map(|row| (key(row), row)))
        .into_iter()
        .map(|(_, rows)| fact(table, &rows))
        .collect()
}

fn fact(table: &Table, rows: &[&Row]) -> SharedRow {
    let mut fact = SharedRow {
        cells: rows[0].cells.clone(),
        tone: rows[0].tone,
        roots: rows.iter().map(|row| row.root.clone()).collect(),
        deviations: Vec::new(),
        details: by_roots(rows, |row| row.details.clone()),
    };
    fact.cells.resize(table.columns.len(), Cell::default());
    // Rows come in the order of their roots, so a fact that a root has twice has it in a row.
    fact.roots.dedup();
    fact.details.retain(|details| !details.content.is_empty());
    for (at, column) in table.columns.iter().enumerate() {
        let parts = |row: &Row| {
            row.cells
                .get(at)
                .map(|cell| cell.parts.clone())
                .unwrap_or_default()
        };
        match column {
            Column::Joined(_) if rows.len() > 1 => {
                let all: BTreeSet<String> = rows.iter().flat_map(|row| parts(row)).collect();
                fact.cells[at] = Vec::from_iter(all).into();
            }
            Column::Prose(_) => {
                let mut common = parts(rows[0]);
                common.retain(|clause| rows.iter().all(|row| parts(row).contains(clause)));
                // What only some rows have follows, the most frequent first.
                let mut others = by_roots(rows, |row| {
                    let mut own = parts(row);
                    own.retain(|clause| !common.contains(clause));
                    own.join("; ")
                });
                others.retain(|same| !same.content.is_empty());
                fact.cells[at] = common.join("; ").into();
                fact.deviations
                    .extend(others.into_iter().take(MAX_DEVIATIONS));
            }
            _ => {}
        }
    }
    fact
}

/// Groups rows by something that they may differ in, the most frequent first.
fn by_roots<T: Ord + Clone>(rows: &[&Row], content: impl Fn(&Row) -> T) -> Vec<OfRoots<T>> {
    shared(rows.iter().map(|row| (content(row), &*row.root)))
        .into_iter()
        .map(|same| OfRoots {
            roots: same.roots.into_iter().map(str::to_owned).collect(),
            content: same.fact,
        })
        .collect()
}

impl Cell {
    /// Returns the text, with as many parts as are to be shown.
    pub(in crate::work::report) fn text(&self, screen: Screen) -> String {
        self.marked(screen, &str::to_owned)
    }

    /// Joins the first parts, each with the marks of a format.
    pub(in crate::work::report) fn marked(
        &self,
        screen: Screen,
        mark: &dyn Fn(&str) -> String,
    ) -> String {
        // `first_names` adds 1 to the number.
        let most = if screen.verbose {
            usize::MAX - 1
        } else {
            MAX_PARTS
        };
        // Between constraints, as `>= 4.20.0, ~> 6.27`, a comma would join them to one.
        let are_constraints = self
            .parts
            .iter()
            .any(|part| part.contains(',') || part.starts_with(['~', '<', '>', '=', '!']));
        let separator = if are_constraints { "; " } else { ", " };
        first_names(self.parts.iter().map(|part| mark(part)), most).join(separator)
    }
}

impl Table {
    /// Returns the order in which facts are chosen where not all fit.
    pub(in crate::work::report) fn rank(&self, fact: &SharedRow) -> Reverse<(Option<Tone>, usize)> {
        if self.is_ranked {
            Reverse((fact.tone, fact.roots.len()))
        } else {
            Reverse((None, 0))
        }
    }

    /// Keeps the facts for which a screen may have room, in their order: each has a line at least. Returns how many it
    /// removed.
    ///
    /// Those that are not shown should not widen the columns of the others.
    pub(in crate::work::report) fn keep_shown(
        &self,
        facts: &mut Vec<SharedRow>,
        screen: Screen,
    ) -> usize {
        let all = facts.len();
        if let (Some(most), Some(lines)) = (self.most, screen.lines) {
            let mut order: Vec<usize> = (0..all).collect();
            order.sort_by_key(|at| self.rank(&facts[*at]));
            let kept: BTreeSet<usize> = order.into_iter().take(most.min(lines).max(1)).collect();
            let mut at = 0..;
            facts.retain(|_| at.next().is_some_and(|at| kept.contains(&at)));
        }
        all - facts.len()
    }

    /// Makes a part of a text of the table, or of what is below it.
    pub(in crate::work::report) fn piece(
        &self,
        head: String,
        items: Vec<WholeText>,
        end: String,
    ) -> Piece {
        let Some(most) = self.most else {
            let items: String = items.into_iter().map(|item| item.text).collect();
            return Piece::fixed(head + &items + &end);
        };
        Piece {
            head,
            items,
            end,
            most,
            hidden: 0,
        }
    }
}

/// Names some roots, and no more than fit into so many columns; at least one.
pub(in crate::work::report) fn root_names(
    roots: &[String],
    screen: Screen,
    mark: &dyn Fn(&str) -> String,
) -> String {
    let shown = |most: usize| first_names(roots.iter().map(|root| mark(root)), most).join(", ");
    if screen.verbose {
        return shown(usize::MAX - 1);
    }
    let columns = screen.terminal.unwrap_or(usize::MAX);
    (1..=MAX_ROOTS)
        .rev()
        .map(shown)
        .find(|names| names.chars().count() <= columns)
        .unwrap_or_else(|| shown(1))
}

/// Names some roots behind their number, as in `in 120 lock files: a, b, c, d, e and 115 more`.
pub(in crate::work::report) fn in_roots(roots: &[String], noun: &str, screen: Screen) -> String {
    let all = roots.len() == screen.roots && screen.roots > 1;
    match roots {
        [root] => format!("in {root}"),
        _ if all && !screen.verbose => format!("in all {}", counted(roots.len(), noun)),
        _ => {
            let count = counted(roots.len(), noun);
            format!("in {count}: {}", root_names(roots, screen, &str::to_owned))
        }
    }
}
