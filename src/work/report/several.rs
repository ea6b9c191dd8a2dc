//! Several faults that have one cause, with a line for each.

use std::io::{self, Write};

use super::style::{BOLD, Colors, GUTTER, harmless, harmless_lines, style, styled};
use super::{reading, snippet};
use crate::diag::{Diagnostic, Label, Severity, Texts};

/// Several faults that have one cause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Several {
    /// The name of the rule.
    pub code: &'static str,
    /// The severity that all of them share.
    pub severity: Severity,
    /// A title for all of them.
    pub title: String,
    /// A line for each, as far as they are shown.
    pub lines: Vec<FaultLine>,
    /// The number of those that are not shown, in words.
    pub more: Option<String>,
    /// Remarks about all of them.
    pub notes: Vec<String>,
    /// The next step for the user, imperative.
    pub help: Option<String>,
}

/// The line about one of several faults.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FaultLine {
    /// The line of a file; `None` if the fault has no place.
    Source(Option<Label>),
    /// A place, and what is wrong there.
    Place(Label, String),
    /// A name, perhaps with what it concerns.
    Name(String),
}

impl Several {
    /// Makes one of a diagnostic, with other lines.
    #[must_use]
    pub fn of(diagnostic: &Diagnostic, lines: Vec<FaultLine>) -> Self {
        Self {
            code: diagnostic.code,
            severity: diagnostic.severity,
            title: diagnostic.title.clone(),
            lines,
            more: None,
            notes: Vec::new(),
            help: diagnostic.help.as_ref().map(ToString::to_string),
        }
    }
}

/// Writes several faults as one, with an empty line below.
///
/// # Errors
/// What the writer says.
pub(super) fn render(
    out: &mut dyn Write,
    several: &Several,
    texts: &Texts,
    colors: Colors,
) -> io::Result<()> {
    let head = format!("{}[{}]", several.severity.name(), several.code);
    let head = styled(colors, style(reading::tone(several.severity)), &head);
    let title = format!(": {}", snippet::remark(&several.title));
    writeln!(out, "{head}{}", styled(colors, BOLD, &title))?;
    let width = several
        .lines
        .iter()
        .filter_map(|line| match line {
            FaultLine::Source(Some(label)) => Some(position(label, texts).0),
            _ => None,
        })
        .max()
        .map_or(1, |number| number.to_string().len());
    let pad = " ".repeat(width);
    let mark = |text: &str| styled(colors, GUTTER, text);
    let mut file = None;
    for line in &several.lines {
        match line {
            FaultLine::Source(None) => {}
            FaultLine::Source(Some(label)) => {
                let (number, place) = position(label, texts);
                if file != Some(label.file) {
                    writeln!(out, "{pad}{} {}", mark("-->"), harmless(&place))?;
                    writeln!(out, "{pad} {}", mark("|"))?;
                    file = Some(label.file);
                }
                let mut text = snippet::source_line(label, texts);
                if !label.note.is_empty() {
                    text += &format!("  <- {}", snippet::remark(&label.note));
                }
                let gutter = mark(&format!("{number:>width$} |"));
                // Of an empty line of the file only the gutter is left, without a space at its end.
                writeln!(out, "{}", format!("{gutter} {text}").trim_end())?;
            }
            FaultLine::Place(label, text) => {
                let (arrow, (_, place)) = (mark("-->"), position(label, texts));
                writeln!(out, "{pad}{arrow} {}: {}", harmless(&place), harmless(text))?;
            }
            FaultLine::Name(text) => writeln!(out, "{pad}{} {}", mark("-->"), harmless(text))?,
        }
    }
    if let Some(more) = &several.more {
        writeln!(out, "{} {more}", mark("..."))?;
    }
    let notes = several.notes.iter().map(|note| ("note", note));
    let help = several.help.iter().map(|help| ("help", help));
    for (word, text) in notes.chain(help) {
        let word = styled(colors, BOLD, word);
        // Lines of help are set in below the first one.
        let text = harmless_lines(text).replace('\n', &format!("\n{pad}         "));
        writeln!(out, "{pad} {} {word}: {text}", mark("="))?;
    }
    writeln!(out)
}

/// Returns the line of a label, and its place as in `main.tf:5:17`.
fn position(label: &Label, texts: &Texts) -> (usize, String) {
    let at = texts.position(label.file, label.span.start);
    let name = texts.name(label.file);
    (at.line, format!("{name}:{}:{}", at.line, at.column))
}
