//! Tables for terminals that are narrower than their lines.

use std::ops::Range;

use super::page;
use super::style::{aligned, harmless};

/// The indentation of the further lines of a row.
pub(super) const STEP: &str = "    ";

/// Number of columns between two cells.
const GAP: usize = 2;

/// Puts cells into columns as [`aligned`] does; where a line has more than so many columns, each row has several lines,
/// broken at the same cells in every row, so that all of them stay in columns. No line breaks within a word.
pub(super) fn fitted(rows: &[Vec<String>], columns: usize) -> Vec<String> {
    fitted_rows(rows, columns).concat()
}

/// As [`fitted`], with the lines of each row by themselves.
pub(super) fn fitted_rows(rows: &[Vec<String>], columns: usize) -> Vec<Vec<String>> {
    let lines = aligned(rows);
    if lines.iter().all(|line| line.chars().count() <= columns) {
        return lines.into_iter().map(|line| vec![line]).collect();
    }
    let widths = widths(rows);
    let parts = parts(&widths, columns);
    rows.iter()
        .map(|row| {
            let lines = parts.iter().flat_map(|part| {
                let cells: Vec<String> = row
                    .iter()
                    .take(part.end)
                    .skip(part.start)
                    .map(|cell| harmless(cell))
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

/// Returns the number of lines of a row that has a cell in every column.
pub(super) fn lines_of_row(rows: &[Vec<String>], columns: usize) -> usize {
    let widths = widths(rows);
    parts(&widths, columns)
        .into_iter()
        .map(|part| {
            widths[part]
                .iter()
                .sum::<usize>()
                .div_ceil(columns.max(1))
                .max(1)
        })
        .sum()
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
pub(super) fn widths(rows: &[Vec<String>]) -> Vec<usize> {
    let mut widths: Vec<usize> = Vec::new();
    for row in rows {
        widths.resize(widths.len().max(row.len()), 0);
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = cell.chars().count().max(*width);
        }
    }
    widths
}

/// Returns the width of a table, by the widths of its columns.
pub(super) fn total(widths: &[usize]) -> usize {
    widths.iter().sum::<usize>() + GAP * widths.len().saturating_sub(1)
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
        assert_eq!(fitted(&rows, 80), aligned(&rows));
        assert_eq!(
            fitted(&rows, 30),
            [
                "hashicorp/aws  5.1.0",
                "    signed by HashiCorp",
                "a/b            1.0.0",
                "    two hashes were added and",
                "    one was removed by hand",
            ]
        );
        assert_eq!(lines_of_row(&rows, 80), 1);
        assert_eq!(lines_of_row(&rows, 30), 3);
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
            fitted(&rows, 32),
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
            fitted(&rows, 22)[3..7],
            [
                "example.com/team/long",
                "    10.20.30  5   12",
                "    120",
                "    1.0.0     15",
            ]
        );
    }
}
