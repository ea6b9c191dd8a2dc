//! Tables for any width: cells are cut, or rows are broken, where a terminal is narrower than its lines.

use std::ops::Range;

use crate::report::page;
use crate::report::style::{aligned, harmless};

/// The step by which the further lines of a row are indented.
const STEP: &str = "    ";

/// Number of columns between two cells.
const GAP: usize = 2;

/// Minimum width to which a cell is cut, in columns: less shows nothing of a path.
const MIN_CELL: usize = 16;

/// Puts cells into columns, and returns the lines of each row.
///
/// Where a line has more than so many columns, cells of the columns that may be cut are cut. If that is not enough, each
/// row has several lines, broken at the same cells in every row, so that all of them stay in columns. No line breaks
/// within a word.
pub(in crate::work::report) fn laid_out(
    rows: &[Vec<String>],
    flexible: &[usize],
    columns: Option<usize>,
) -> Vec<Vec<String>> {
    let Some(columns) = columns else {
        return aligned(rows).into_iter().map(|line| vec![line]).collect();
    };
    let mut widths = widths(rows);
    let mut least = widths.clone();
    for column in flexible {
        if let Some(width) = least.get_mut(*column) {
            *width = MIN_CELL.min(*width);
        }
    }
    let parts = parts(&least, columns);
    for part in &parts {
        let indent = if part.start == 0 { 0 } else { STEP.len() };
        let gaps = GAP * part.len().saturating_sub(1);
        while widths[part.clone()].iter().sum::<usize>() + gaps > columns.saturating_sub(indent) {
            // The widest cells of the line are cut first.
            let widest = flexible
                .iter()
                .filter(|column| part.contains(column) && widths[**column] > MIN_CELL)
                .max_by_key(|column| widths[**column]);
            let Some(widest) = widest else { break };
            widths[*widest] -= 1;
        }
    }
    rows.iter()
        .map(|row| {
            let lines = parts.iter().flat_map(|part| {
                let cells: Vec<String> = row
                    .iter()
                    .zip(&widths)
                    .take(part.end)
                    .skip(part.start)
                    // A cell that has its lines for itself is wrapped.
                    .map(|(cell, width)| match part.len() {
                        1 => harmless(cell),
                        _ => harmless(&shortened(cell, *width)),
                    })
                    .collect();
                let indent = if part.start == 0 { "" } else { STEP };
                lines_of_part(&cells, &widths[part.clone()], indent, columns)
            });
            lines.collect()
        })
        .collect()
}

/// Returns the lines of some cells of a row, none if all are empty. Only a cell that is alone is wider than a line.
fn lines_of_part(cells: &[String], widths: &[usize], indent: &str, columns: usize) -> Vec<String> {
    if cells.iter().all(String::is_empty) {
        return Vec::new();
    }
    if let [cell] = cells {
        let words: Vec<&str> = cell.split(' ').collect();
        return page::wrapped(&words, columns.saturating_sub(STEP.len()))
            .iter()
            .enumerate()
            .map(|(at, line)| {
                // A first cell that is wrapped goes on as the further lines do.
                let indent = if at == 0 { indent } else { STEP };
                format!("{indent}{line}")
            })
            .collect();
    }
    let padded: Vec<String> = cells
        .iter()
        .zip(widths)
        .map(|(cell, width)| format!("{cell:width$}"))
        .collect();
    let line = format!("{indent}{}", padded.join(&" ".repeat(GAP)));
    vec![line.trim_end().to_owned()]
}

/// Divides columns into lines, as few as possible.
fn parts(widths: &[usize], columns: usize) -> Vec<Range<usize>> {
    let mut parts: Vec<Range<usize>> = Vec::new();
    let mut left = 0;
    for (at, width) in widths.iter().enumerate() {
        match parts.last_mut() {
            Some(part) if GAP + width <= left => {
                part.end = at + 1;
                left -= GAP + width;
            }
            last => {
                let indent = last.map_or(0, |_| STEP.len());
                parts.push(at..at + 1);
                left = columns.saturating_sub(indent + width);
            }
        }
    }
    parts
}

/// Returns the width of each column.
fn widths(rows: &[Vec<String>]) -> Vec<usize> {
    let mut widths: Vec<usize> = Vec::new();
    for row in rows {
        widths.resize(widths.len().max(row.len()), 0);
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = cell.chars().count().max(*width);
        }
    }
    widths
}

/// Cuts a cell to a width.
fn shortened(cell: &str, width: usize) -> String {
    let count = cell.chars().count();
    if count <= width {
        return cell.to_owned();
    }
    // The last names distinguish a path, the first ones a list. The mark takes the place of one more.
    if cell.contains('/') && !cell.contains(", ") {
        let end: String = cell.chars().skip(count + 1 - width).collect();
        format!("…{end}")
    } else {
        let start: String = cell.chars().take(width - 1).collect();
        format!("{start}…")
    }
}

/// Leaves out columns with nothing below their head. Returns the rows, and the indices of the columns that are left.
pub(in crate::work::report) fn without_empty_columns(
    rows: Vec<Vec<String>>,
) -> (Vec<Vec<String>>, Vec<usize>) {
    let columns = rows.iter().map(Vec::len).max().unwrap_or_default();
    let shown: Vec<usize> = (0..columns)
        .filter(|column| {
            rows.iter()
                .skip(1)
                .any(|row| row.get(*column).is_some_and(|cell| !cell.is_empty()))
        })
        .collect();
    let rows = rows
        .into_iter()
        .map(|row| {
            shown
                .iter()
                .filter_map(|column| row.get(*column).cloned())
                .collect()
        })
        .collect();
    (rows, shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(rows: &[&[&str]]) -> Vec<Vec<String>> {
        rows.iter()
            .map(|row| row.iter().map(|cell| (*cell).to_owned()).collect())
            .collect()
    }

    #[test]
    fn a_table_fits_a_narrow_terminal_without_broken_words() {
        let rows = table(&[
            &["hashicorp/aws", "5.1.0", "signed by HashiCorp"],
            &[
                "a/b",
                "1.0.0",
                "two hashes were added and one was removed by hand",
            ],
        ]);
        assert_eq!(laid_out(&rows, &[], Some(80)).concat(), aligned(&rows));
        assert_eq!(
            laid_out(&rows, &[], Some(30)).concat(),
            [
                "hashicorp/aws  5.1.0",
                "    signed by HashiCorp",
                "a/b            1.0.0",
                "    two hashes were added and",
                "    one was removed by hand",
            ]
        );
    }

    /// A second version has no name of its provider: it stays below the first one.
    #[test]
    fn every_line_of_a_row_keeps_its_columns() {
        let rows = table(&[
            &["PROVIDER", "VERSION", "h1", "zh", "ROOTS"],
            &["example.com/team/long", "10.20.30", "5", "12", "120"],
            &["", "1.0.0", "15", "", "1"],
            &["e.com/a/b", "", "", "", "1"],
        ]);
        assert_eq!(
            laid_out(&rows, &[], Some(32)).concat(),
            [
                "PROVIDER               VERSION",
                "    h1  zh  ROOTS",
                "example.com/team/long  10.20.30",
                "    5   12  120",
                "                       1.0.0",
                "    15      1",
                "e.com/a/b",
                "            1",
            ]
        );
        assert_eq!(
            laid_out(&rows, &[], Some(22)).concat()[3..7],
            [
                "example.com/team/long",
                "    10.20.30  5   12",
                "    120",
                "    1.0.0     15",
            ]
        );
    }

    #[test]
    fn a_column_with_nothing_below_its_head_is_left_out() {
        let row = |cells: [&str; 3]| cells.map(str::to_owned).to_vec();
        let table = vec![
            row(["A", "B", "C"]),
            row(["a", "", "c"]),
            row(["", "", "d"]),
        ];
        let (table, shown) = without_empty_columns(table);
        assert_eq!(table, [["A", "C"], ["a", "c"], ["", "d"]]);
        assert_eq!(shown, [0, 2]);
    }

    #[test]
    fn cells_are_cut_to_the_terminal() {
        let all = table(&[&["provider", "live/prod/eu-west-1/network", "added, upgraded"]]);
        let flexible = &[1, 2];
        assert_eq!(laid_out(&all, flexible, Some(80)).concat(), aligned(&all));
        assert_eq!(
            laid_out(&all, flexible, Some(45)).concat(),
            ["provider  …eu-west-1/network  added, upgraded"]
        );
        // Where one line is not enough, cells are cut so that few are.
        assert_eq!(
            laid_out(&all, flexible, Some(36)).concat(),
            [
                "provider  …ve/prod/eu-west-1/network",
                "    added, upgraded"
            ]
        );
        // Nothing is cut to nothing: what is alone in its line is wrapped.
        assert_eq!(
            laid_out(&all, flexible, Some(12)).concat(),
            [
                "provider",
                "    live/prod/eu-west-1/network",
                "    added,",
                "    upgraded"
            ]
        );
    }
}
