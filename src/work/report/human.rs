//! Reports for people: snippets, tables, verdicts.

use std::io::{self, Write};

use super::reading;
use super::sheet::{
    Piece, Room, RootNames, Screen, SharedRow, Table, WholeText, cut, facts, in_roots, laid_out,
    root_names, without_empty_columns,
};
use super::style::{BOLD, FAINT, harmless, plain, style, styled};
use super::tree::TreeLine;
use super::{Column, Failure, Sentence, TextBlock, Tone};
use super::{page, several, snippet, tree};
use crate::diag::Texts;

pub use super::style::Colors;

/// Columns by which what is below a row is set in.
const STEP: &str = "    ";

/// Returns a sheet as text; what does not fit on the screen is counted.
#[must_use]
pub fn text(blocks: &[TextBlock], texts: &Texts, colors: Colors, screen: Screen) -> String {
    let mut pieces: Vec<Piece> = Vec::new();
    let mut is_after_finding = false;
    for block in blocks {
        match block {
            TextBlock::Table(all) => {
                let mut table = table(all, colors, screen);
                let last_text = pieces
                    .iter()
                    .rev()
                    .flat_map(|piece| {
                        let items = piece.items.iter().rev().map(|item| &item.text);
                        std::iter::once(&piece.end)
                            .chain(items)
                            .chain([&piece.head])
                    })
                    .find(|text| !text.is_empty());
                let is_apart = last_text.is_none_or(|text| text == "\n" || text.ends_with("\n\n"));
                // A head directly below other lines would look like one of them.
                if all.has_head && !table.items.is_empty() && !is_apart {
                    table.head.insert(0, '\n');
                }
                pieces.push(table);
            }
            TextBlock::Verdicts(names, all) => {
                let line = |verdict: Sentence| {
                    let text = harmless(&verdict.text);
                    format!("{}\n", styled(colors, style(verdict.tone), &text))
                };
                pieces.push(reading::shared_verdicts(*names, all, screen, &line));
            }
            // Findings that follow one another share the room.
            block if block.is_finding() => {
                let text = rendered(block, texts, colors);
                Piece::add(&mut pieces, is_after_finding, text, block.tone());
            }
            block => pieces.push(Piece::fixed(rendered(block, texts, colors))),
        }
        is_after_finding = block.is_finding();
    }
    let room = screen.lines.map(|lines| Room {
        bytes: usize::MAX,
        lines,
    });
    cut(pieces, room, &|left_out| {
        format!("… and {left_out} more (-v shows all)\n")
    })
}

/// Writes a block that is shown as a whole.
fn rendered(block: &TextBlock, texts: &Texts, colors: Colors) -> String {
    let mut out = Vec::new();
    render(&mut out, block, texts, colors).expect("memory takes everything");
    String::from_utf8_lossy(&out).into_owned()
}

fn render(out: &mut dyn Write, block: &TextBlock, texts: &Texts, colors: Colors) -> io::Result<()> {
    match block {
        TextBlock::Table(_) | TextBlock::Verdicts(..) => Ok(()),
        TextBlock::Heading(text) => writeln!(out, "{}", styled(colors, BOLD, &harmless(text))),
        TextBlock::Diagnostic(diagnostic) => {
            writeln!(out, "{}\n", snippet::render(diagnostic, texts, colors))
        }
        TextBlock::Several(several) => several::render(out, several, texts, colors),
        TextBlock::Failure(failure) => render_failure(out, failure, None, colors),
        TextBlock::SharedFailure(failure, roots) => {
            render_failure(out, failure, Some(roots), colors)
        }
        TextBlock::Lines(lines) => lines
            .iter()
            .try_for_each(|line| writeln!(out, "{}", harmless(line))),
        TextBlock::Tree(tree) => {
            for (marks, line) in tree::lines(tree) {
                let text = match line {
                    TreeLine::Branch(branch) => {
                        let warning = branch.warning.as_ref().map(|text| {
                            let text = format!("({})", harmless(text));
                            format!("  {}", styled(colors, style(Tone::Warning), &text))
                        });
                        format!("{}{}", harmless(&branch.line), warning.unwrap_or_default())
                    }
                    TreeLine::Detail(text) => styled(colors, FAINT, &text),
                };
                writeln!(out, "{marks}{text}")?;
            }
            Ok(())
        }
        TextBlock::Page(text, columns) => page::render(out, text, *columns, colors),
        TextBlock::Remark(tone, text) => {
            let word = styled(colors, style(*tone), word(*tone));
            writeln!(out, "{word}: {}", harmless(text))
        }
        TextBlock::Verdict(tone, text) => {
            writeln!(out, "{}", styled(colors, style(*tone), &harmless(text)))
        }
    }
}

/// Lays out the facts of a table.
fn table(table: &Table, colors: Colors, screen: Screen) -> Piece {
    let mut facts = facts(table);
    let hidden = table.keep_shown(&mut facts, screen);
    if facts.is_empty() {
        return Piece::default();
    }
    let names_roots = table.roots == RootNames::Columns && screen.roots > 1;
    let mut titles: Vec<String> = table
        .columns
        .iter()
        .map(|column| column.title().to_owned())
        .collect();
    if names_roots {
        titles.extend(["ROOTS", "WHERE"].map(str::to_owned));
    }
    let rows = facts.iter().map(|fact| {
        let mut cells: Vec<String> = fact.cells.iter().map(|cell| cell.text(screen)).collect();
        if names_roots {
            cells.push(fact.roots.len().to_string());
            cells.push(root_names(&fact.roots, screen, &str::to_owned));
        }
        cells
    });
    let (mut rows, shown) = without_empty_columns(std::iter::once(titles).chain(rows).collect());
    let is_flexible = |at: &usize| {
        let column = table.columns.get(shown[*at]);
        column.is_none_or(|column| matches!(column, Column::Long(_) | Column::Joined(_)))
    };
    // Whoever wants everything gets more lines instead.
    let flexible: Vec<usize> = (0..shown.len())
        .filter(|at| is_flexible(at) && !screen.verbose)
        .collect();
    // Until here the titles were a row, so that each cell has a column.
    if !table.has_head {
        rows.remove(0);
    }
    let mut lines = laid_out(&rows, &flexible, screen.terminal).into_iter();
    let head = if table.has_head {
        lines.next().unwrap_or_default()
    } else {
        Vec::new()
    };
    let items = facts.iter().zip(lines).map(|(fact, lines)| WholeText {
        text: row(table, fact, &lines, colors, screen),
        rank: table.rank(fact),
    });
    let head = head.iter().map(|line| format!("{line}\n")).collect();
    Piece {
        hidden,
        ..table.piece(head, items.collect(), String::new())
    }
}

/// Writes a fact: its row, and what is below it.
fn row(
    table: &Table,
    fact: &SharedRow,
    lines: &[String],
    colors: Colors,
    screen: Screen,
) -> String {
    let mut text = String::new();
    let grade = fact
        .cells
        .first()
        .map_or_else(String::new, |cell| cell.text(screen));
    for line in lines {
        // The columns were counted without the marks of colour.
        match (fact.tone, line.strip_prefix(&grade)) {
            (Some(tone), Some(rest)) if !grade.is_empty() => {
                text += &format!("{}{rest}\n", styled(colors, style(tone), &grade));
            }
            _ => text += &format!("{line}\n"),
        }
    }
    let noun = table.roots.noun();
    let mut below = Vec::new();
    if matches!(table.roots, RootNames::Below(_)) && screen.roots > 1 {
        below.push(in_roots(&fact.roots, noun, screen));
    }
    for deviation in &fact.deviations {
        let place = in_roots(&deviation.roots, noun, screen);
        below.push(format!("{place}: {}", deviation.content));
    }
    for details in &fact.details {
        if details.roots.len() < fact.roots.len() {
            below.push(format!("{}:", in_roots(&details.roots, noun, screen)));
        }
        below.extend(details.content.iter().cloned());
    }
    for line in below {
        let shown = match (line.get(..2), harmless(&line)) {
            (Some("+ "), line) => styled(colors, plain(Tone::Good), &line),
            (Some("- "), line) => styled(colors, plain(Tone::Bad), &line),
            (_, line) => line,
        };
        text += &format!("{STEP}{shown}\n");
    }
    text
}

fn render_failure(
    out: &mut dyn Write,
    failure: &Failure,
    roots: Option<&str>,
    colors: Colors,
) -> io::Result<()> {
    let error = styled(colors, style(Tone::Bad), "error");
    writeln!(out, "{error}: {}", harmless(&failure.title))?;
    for cause in &failure.causes {
        writeln!(out, "  cause: {}", harmless(cause))?;
    }
    if let Some(roots) = roots {
        writeln!(out, "  {}", harmless(roots))?;
    }
    if let Some(help) = &failure.help {
        writeln!(
            out,
            "  {}: {}",
            styled(colors, BOLD, "help"),
            harmless(help)
        )?;
    }
    Ok(())
}

fn word(tone: Tone) -> &'static str {
    match tone {
        Tone::Good => "ok",
        Tone::Note => "note",
        Tone::Warning => "warning",
        Tone::Bad => "error",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{Cell, LineTree, Row};

    #[track_caller]
    fn check(block: TextBlock, wanted: impl snapbox::IntoData) {
        let texts = Texts::default();
        let text = text(&[block], &texts, Colors::Off, Screen::UNLIMITED);
        snapbox::assert_data_eq!(text, wanted);
    }

    #[test]
    fn a_failure_shows_causes_and_help() {
        let failure = Failure::new("it failed")
            .because("first")
            .because("second")
            .help("try again");
        check(
            TextBlock::Failure(failure),
            snapbox::str![[r#"
error: it failed
  cause: first
  cause: second
  help: try again

"#]],
        );
    }

    #[test]
    fn lists_in_one_cell_are_kept_apart() {
        const COLUMNS: &[Column] = &[Column::Key("A"), Column::Joined("B")];
        let row = |root: &str, cells: [&str; 2]| Row::new(root, cells.map(Cell::from));
        let rows = [row("x", ["a", ">= 1, < 2"]), row("y", ["a", "~> 1.5"])];
        let text = super::text(
            &[TextBlock::Table(Table::new(COLUMNS, rows))],
            &Texts::default(),
            Colors::Off,
            Screen {
                roots: 2,
                ..Screen::UNLIMITED
            },
        );
        snapbox::assert_data_eq!(
            text,
            snapbox::str![[r#"
A  B                  ROOTS  WHERE
a  >= 1, < 2; ~> 1.5  2      x, y

"#]]
        );
    }

    #[test]
    fn equal_rows_are_one_with_their_roots() {
        const COLUMNS: &[Column] = &[Column::Key("A"), Column::Joined("B"), Column::Prose("C")];
        let row = |root: &str, cells: [&str; 3]| Row::new(root, cells.map(Cell::from));
        let rows = [
            row("z", ["a", "", ""]),
            row("x", ["ccc", "d", "often"]),
            row("y", ["ccc", "e", "often"]),
            row("z", ["ccc", "d", "seldom"]),
        ];
        let table = TextBlock::Table(Table::new(COLUMNS, rows));
        let texts = Texts::default();
        let text = |screen| super::text(std::slice::from_ref(&table), &texts, Colors::Off, screen);
        let of_three = Screen {
            roots: 3,
            ..Screen::UNLIMITED
        };
        snapbox::assert_data_eq!(
            text(of_three),
            snapbox::str![[r#"
A    B     ROOTS  WHERE
a          1      z
ccc  d, e  3      x, y, z
    in 2 roots: x, y: often
    in z: seldom

"#]]
        );
        let narrow = Screen {
            lines: Some(2),
            terminal: Some(20),
            verbose: false,
            ..of_three
        };
        // The fact of most roots is shown, however small the screen is.
        snapbox::assert_data_eq!(
            text(narrow),
            snapbox::str![[r#"
A    B     ROOTS
    WHERE
ccc  d, e  3
    x, y, z
    in 2 roots: x, y: often
    in z: seldom
… and 1 more (-v shows all)

"#]]
        );
    }

    #[test]
    fn details_hang_between_a_branch_and_what_is_below_it() {
        let details = vec![
            vec!["a = 1".to_owned(), "x:1".to_owned()],
            vec!["  bb = 2".to_owned(), "y\u{1b}:2".to_owned()],
        ];
        let leaf = LineTree {
            line: "leaf".into(),
            details: details.clone(),
            ..LineTree::default()
        };
        let tree = LineTree {
            line: "top".into(),
            details,
            branches: vec![leaf, LineTree::leaf("last".into())],
            ..LineTree::default()
        };
        check(
            TextBlock::Tree(tree),
            snapbox::str![[r#"
top
│  a = 1     x:1
│    bb = 2  y�:2
├─ leaf
│     a = 1     x:1
│       bb = 2  y�:2
└─ last

"#]],
        );
    }
}
