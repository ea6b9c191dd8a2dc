//! Reports for people: snippets, tables, verdicts.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use comfy_table::Table;

use super::{Block, Failure, Tone};
use super::{changes, page, snippet, tree};
use crate::diag::Texts;

/// Whether colours may be used; they alone never carry meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colors {
    /// Plain text.
    Off,
    /// ANSI escape sequences.
    On,
}

/// Writes blocks one after the other.
///
/// # Errors
/// What the writer says.
pub fn render(
    out: &mut dyn Write,
    blocks: &[Block],
    texts: &Texts,
    colors: Colors,
) -> io::Result<()> {
    for block in blocks {
        match block {
            Block::Heading(text) => writeln!(out, "{}", styled(colors, BOLD, &harmless(text)))?,
            Block::Diagnostic(diagnostic) => {
                writeln!(out, "{}\n", snippet::render(diagnostic, texts, colors))?;
            }
            Block::Failure(failure) => render_failure(out, failure, colors)?,
            Block::Table(rows) => render_table(out, rows)?,
            Block::Lines(lines) => {
                for line in lines {
                    writeln!(out, "{}", harmless(line))?;
                }
            }
            Block::Changes(all) => changes::render(out, all, colors)?,
            Block::Tree(tree) => {
                for (marks, branch) in tree::lines(tree) {
                    write!(out, "{marks}{}", harmless(&branch.line))?;
                    if let Some(text) = &branch.warning {
                        let text = format!("({})", harmless(text));
                        write!(out, "  {}", styled(colors, style(Tone::Warning), &text))?;
                    }
                    writeln!(out)?;
                }
            }
            Block::Page(text, columns) => page::render(out, text, *columns, colors)?,
            Block::Remark(tone, text) => {
                let word = word(*tone);
                writeln!(
                    out,
                    "{}: {}",
                    styled(colors, style(*tone), word),
                    harmless(text)
                )?;
            }
            Block::Verdict(tone, text) => {
                writeln!(out, "{}", styled(colors, style(*tone), &harmless(text)))?;
            }
        }
    }
    Ok(())
}

fn render_failure(out: &mut dyn Write, failure: &Failure, colors: Colors) -> io::Result<()> {
    let error = styled(colors, style(Tone::Bad), "error");
    writeln!(out, "{error}: {}", harmless(&failure.title))?;
    for cause in &failure.causes {
        writeln!(out, "  cause: {}", harmless(cause))?;
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

fn render_table(out: &mut dyn Write, rows: &[Vec<String>]) -> io::Result<()> {
    for line in aligned(rows) {
        writeln!(out, "{line}")?;
    }
    Ok(())
}

/// Puts cells into columns: one line for each row, made harmless, without trailing space.
pub(super) fn aligned(rows: &[Vec<String>]) -> Vec<String> {
    let mut table = Table::new();
    table.load_style(comfy_table::presets::NOTHING);
    for row in rows {
        table.add_row(row.iter().map(|cell| harmless(cell)));
    }
    for column in table.column_iter_mut() {
        column.set_padding((0, 2));
    }
    let lines = table.lines();
    lines.map(|line| line.trim_end().to_owned()).collect()
}

pub(super) const BOLD: Style = Style::new().bold();

pub(super) fn style(tone: Tone) -> Style {
    plain(tone).bold()
}

/// Returns the style of a tone without weight.
pub(super) fn plain(tone: Tone) -> Style {
    let color = match tone {
        Tone::Good => AnsiColor::Green,
        Tone::Note => AnsiColor::Cyan,
        Tone::Warning => AnsiColor::Yellow,
        Tone::Bad => AnsiColor::Red,
    };
    Style::new().fg_color(Some(color.into()))
}

fn word(tone: Tone) -> &'static str {
    match tone {
        Tone::Good => "ok",
        Tone::Note => "note",
        Tone::Warning => "warning",
        Tone::Bad => "error",
    }
}

pub(super) fn styled(colors: Colors, style: Style, text: &str) -> String {
    match colors {
        Colors::Off => text.to_owned(),
        Colors::On => format!("{style}{text}{style:#}"),
    }
}

/// Replaces what could steer a terminal, begin a line of its own or hide text: control characters
/// but the tab, other line ends, and marks that have no width or turn the direction of writing.
pub(super) fn harmless(text: &str) -> String {
    let steers = |c: char| {
        (c.is_control() && c != '\t')
            || matches!(
                c,
                '\u{61c}'
                    | '\u{200b}'..='\u{200f}'
                    | '\u{2028}'..='\u{202e}'
                    | '\u{2060}'..='\u{206f}'
                    | '\u{feff}'
            )
    };
    if !text.chars().any(steers) {
        return text.to_owned();
    }
    text.chars()
        .map(|c| if steers(c) { '\u{fffd}' } else { c })
        .collect()
}

/// As [`harmless`], for our own text of several lines.
pub(super) fn harmless_lines(text: &str) -> String {
    text.split('\n')
        .map(harmless)
        .collect::<Vec<_>>()
        .join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(block: Block, wanted: impl snapbox::IntoData) {
        let mut out = Vec::new();
        render(&mut out, &[block], &Texts::default(), Colors::Off).expect("memory");
        snapbox::assert_data_eq!(String::from_utf8(out).expect("text"), wanted);
    }

    #[test]
    fn a_failure_shows_causes_and_help() {
        let failure = Failure {
            title: "it failed".into(),
            causes: vec!["first".into(), "second".into()],
            help: Some("try again".into()),
        };
        check(
            Block::Failure(failure),
            snapbox::str![[r#"
error: it failed
  cause: first
  cause: second
  help: try again

"#]],
        );
    }

    #[test]
    fn tables_are_aligned_without_trailing_space() {
        check(
            Block::Table(vec![
                vec!["a".into(), "bb".into()],
                vec!["ccc".into(), "d".into()],
            ]),
            snapbox::str![[r#"
a    bb
ccc  d

"#]],
        );
    }

    #[test]
    fn nothing_foreign_steers_the_terminal() {
        assert_eq!(
            harmless("a\u{1b}[31mb\u{202e}c\td\n::error::"),
            "a\u{fffd}[31mb\u{fffd}c\td\u{fffd}::error::"
        );
    }
}
