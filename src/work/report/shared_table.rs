//! Tables that fit: of facts that several roots share a screenful, and no wider than the terminal.

use super::TextBlock;
use super::narrow::{STEP, lines_of_row, total, widths};
use super::shared::SharedFact;

/// Maximum number of rows about many roots; with the lines around them they fit into 60 lines.
pub const MAX_ROWS: usize = 40;

/// Minimum width of a cut cell, in columns: less shows nothing of a path.
const MIN_CELL: usize = 16;

/// The shape of a table of facts that several roots share.
#[derive(Clone, Copy, Debug)]
pub struct TableShape<'a> {
    /// The heads of the columns before those of the roots.
    pub titles: &'a [&'a str],
    /// The columns that may be cut, beside the one that names roots.
    pub flexible: &'a [usize],
    /// Maximum number of facts.
    pub most: usize,
    /// The width of the terminal, if there is one.
    pub terminal: Option<usize>,
}

/// Shows facts in their order, each with the number of its roots and the names of some, below a head.
///
/// Of many facts those of the most roots are shown, which come first in `facts`.
#[must_use]
pub fn shared_table<F: Ord>(
    shape: TableShape<'_>,
    mut facts: Vec<SharedFact<'_, F>>,
    cells: impl Fn(&F) -> Vec<String>,
) -> Vec<TextBlock> {
    if facts.is_empty() {
        return Vec::new();
    }
    let head: Vec<String> = shape
        .titles
        .iter()
        .chain(&["ROOTS", "WHERE"])
        .map(|title| (*title).to_owned())
        .collect();
    let flexible = [shape.flexible, &[head.len() - 1]].concat();
    let table = |facts: &[SharedFact<'_, F>]| {
        let rows = facts.iter().map(|shared| {
            let mut row = cells(&shared.fact);
            row.push(shared.roots.len().to_string());
            row.push(match shape.terminal {
                Some(terminal) => shared.names_within(terminal - STEP.len().min(terminal)),
                None => shared.names(false),
            });
            row
        });
        let (table, shown) =
            without_empty_columns(std::iter::once(head.clone()).chain(rows).collect());
        let flexible: Vec<usize> = (0..shown.len())
            .filter(|at| flexible.contains(&shown[*at]))
            .collect();
        fitted(table, &flexible, shape.terminal)
    };
    let most = shape.most.min(facts.len());
    let rest = facts.split_off(rows_on_screen(&table(&facts[..most]), most, shape.terminal));
    facts.sort_by(|a, b| a.fact.cmp(&b.fact));
    let table = table(&facts);
    let mut blocks = vec![TextBlock::Table(table)];
    if let Some(largest) = rest.first() {
        let each = match largest.roots.len() {
            1 => "of one root each".to_owned(),
            most => format!("of at most {most} roots each"),
        };
        let text = format!("… and {} more, {each} (-v shows every root)", rest.len());
        blocks.push(TextBlock::Lines(vec![text]));
    }
    blocks
}

/// Leaves out columns with nothing below their head. Returns the rows, and the indices of the columns that are left.
#[must_use]
pub fn without_empty_columns(rows: Vec<Vec<String>>) -> (Vec<Vec<String>>, Vec<usize>) {
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

/// Cuts cells of some columns, the widest first, until the rows are no wider than the terminal.
#[must_use]
pub fn fitted(
    mut rows: Vec<Vec<String>>,
    flexible: &[usize],
    terminal: Option<usize>,
) -> Vec<Vec<String>> {
    let Some(terminal) = terminal else {
        return rows;
    };
    let mut widths = widths(&rows);
    while total(&widths) > terminal {
        let widest = flexible
            .iter()
            .filter(|column| widths.get(**column).is_some_and(|width| *width > MIN_CELL))
            .max_by_key(|column| widths[**column]);
        // Rows that are too wide even then are not cut: they get several lines.
        let Some(widest) = widest else { return rows };
        widths[*widest] -= 1;
    }
    for row in &mut rows {
        for column in flexible {
            let (Some(cell), Some(width)) = (row.get_mut(*column), widths.get(*column)) else {
                continue;
            };
            let count = cell.chars().count();
            if count <= *width {
                continue;
            }
            // The last names distinguish a path, the first ones a list. The mark takes the place of one more.
            let is_path = cell.contains('/') && !cell.contains(", ");
            *cell = if is_path {
                let end: String = cell.chars().skip(count + 1 - width).collect();
                format!("…{end}")
            } else {
                let start: String = cell.chars().take(width - 1).collect();
                format!("{start}…")
            };
        }
    }
    rows
}

/// Returns how many rows of a table are shown where `most` of one line each would be: on a narrow terminal a row has
/// several lines.
#[must_use]
pub fn rows_on_screen(rows: &[Vec<String>], most: usize, terminal: Option<usize>) -> usize {
    let lines = terminal.map_or(1, |terminal| lines_of_row(rows, terminal));
    most.min((MAX_ROWS / lines).max(1))
}

#[cfg(test)]
mod tests {
    use super::super::shared::shared;
    use super::*;

    fn rows(blocks: &[TextBlock]) -> &[Vec<String>] {
        match &blocks[0] {
            TextBlock::Table(rows) => rows,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_facts_of_most_roots_are_shown_in_their_order() {
        let names: Vec<String> = (0..60).map(|at| format!("f{at:02}")).collect();
        // The later a name, the more roots have it.
        let facts = names.iter().enumerate().flat_map(|(at, name)| {
            let roots = &["a", "b", "c"][..1 + at / 30];
            roots.iter().map(move |root| (name.clone(), *root))
        });
        let shape = TableShape {
            titles: &["F"],
            flexible: &[],
            most: MAX_ROWS,
            terminal: None,
        };
        let blocks = shared_table(shape, shared(facts), |name| vec![name.clone()]);
        let table = rows(&blocks);
        assert_eq!(table[0], ["F", "ROOTS", "WHERE"]);
        assert_eq!(table.len(), 1 + MAX_ROWS);
        assert_eq!(table[1], ["f00", "1", "a"]);
        assert_eq!(table[MAX_ROWS], ["f59", "2", "a, b"]);
        let more = "… and 20 more, of one root each (-v shows every root)".to_owned();
        assert_eq!(blocks[1], TextBlock::Lines(vec![more]));
    }

    #[test]
    fn on_a_narrow_terminal_fewer_facts_are_shown_and_fewer_roots_are_named() {
        let shape = |terminal| TableShape {
            titles: &["PROVIDER"],
            flexible: &[],
            most: MAX_ROWS,
            terminal: Some(terminal),
        };
        let names: Vec<String> = (10..60)
            .map(|at| format!("terraform.io/builtin/terraform{at}"))
            .collect();
        let root = "live/prod/eu-west-1/network";
        let facts = shared(names.iter().map(|name| (name, root)));
        let blocks = shared_table(shape(62), facts.clone(), |name| vec![(*name).clone()]);
        assert_eq!(rows(&blocks)[1], [&*names[0], "1", "…od/eu-west-1/network"]);
        assert_eq!(rows(&blocks).len(), 1 + MAX_ROWS);
        let blocks = shared_table(shape(45), facts, |name| vec![(*name).clone()]);
        assert_eq!(rows(&blocks)[1], [&*names[0], "1", root]);
        assert_eq!(rows(&blocks).len(), 1 + MAX_ROWS / 2);
        let many = ["a/b", "c/d", "e/f", "g/h", "i/j", "k/l", "m/n", "o/p"];
        let facts = shared(many.iter().map(|root| ((), *root)));
        let blocks = shared_table(shape(24), facts, |()| vec![names[0].clone()]);
        assert_eq!(rows(&blocks)[1][2], "a/b, c/d and 6 more");
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
        let row = |cells: [&str; 3]| cells.map(str::to_owned).to_vec();
        let all = vec![row([
            "provider",
            "live/prod/eu-west-1/network",
            "added, upgraded",
        ])];
        let flexible = &[1, 2];
        assert_eq!(fitted(all.clone(), flexible, None), all);
        assert_eq!(fitted(all.clone(), flexible, Some(80)), all);
        assert_eq!(
            fitted(all.clone(), flexible, Some(45)),
            [row(["provider", "…eu-west-1/network", "added, upgraded"])]
        );
        // Nothing is cut to nothing.
        assert_eq!(fitted(all.clone(), flexible, Some(10)), all);
    }
}
