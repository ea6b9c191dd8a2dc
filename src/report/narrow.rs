//! Tables for terminals that are narrower than their lines.

use super::page;
use super::style::{aligned, harmless};

/// The step by which the rest of a row that is too long stands to the right.
const STEP: &str = "    ";

/// Puts cells into columns as [`aligned`] does; where a line has more than so many columns, the cells of each
/// row stand below each other, and no line breaks within a word.
pub(super) fn fitted(rows: &[Vec<String>], columns: usize) -> Vec<String> {
    let lines = aligned(rows);
    if lines.iter().all(|line| line.chars().count() <= columns) {
        return lines;
    }
    let mut lines = Vec::new();
    for row in rows {
        let cells = row.iter().map(|cell| harmless(cell));
        let mut line = String::new();
        for cell in cells.filter(|cell| !cell.is_empty()) {
            let width = line.chars().count() + 2 + cell.chars().count();
            if !line.trim().is_empty() && width <= columns {
                line += "  ";
                line += &cell;
                continue;
            }
            if !line.is_empty() {
                lines.push(std::mem::replace(&mut line, STEP.to_owned()));
            }
            let words: Vec<&str> = cell.split(' ').collect();
            let mut wrapped = page::wrapped(&words, columns.saturating_sub(line.len()));
            let last = wrapped.pop().unwrap_or_default();
            for part in wrapped {
                lines.push(format!("{line}{part}"));
                STEP.clone_into(&mut line);
            }
            line += &last;
        }
        lines.push(line);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_fits_a_narrow_terminal_without_broken_words() {
        let row = |cells: &[&str]| cells.iter().map(|cell| (*cell).to_owned()).collect();
        let rows: Vec<Vec<String>> = vec![
            row(&["hashicorp/aws", "5.1.0", "signed by HashiCorp"]),
            row(&[
                "a/b",
                "1.0.0",
                "two hashes were added and one was removed by hand",
            ]),
        ];
        assert_eq!(fitted(&rows, 80), aligned(&rows));
        assert_eq!(
            fitted(&rows, 30),
            [
                "hashicorp/aws  5.1.0",
                "    signed by HashiCorp",
                "a/b  1.0.0",
                "    two hashes were added and",
                "    one was removed by hand",
            ]
        );
    }
}
