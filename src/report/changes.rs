//! What changed in a file, as rows that can be printed or put into a table of Markdown.

use std::io::{self, Write};

use super::Tone;
use super::style::{self, BOLD, Colors, aligned, harmless, styled};

/// What changed in one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// The name of the file, where it is not clear which is meant.
    pub file: Option<String>,
    /// What is to be said about the file as a whole.
    pub remarks: Vec<Remark>,
    /// Its parts that changed, what matters most first.
    pub rows: Vec<Change>,
}

/// A sentence with a grade.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    /// How good the news is.
    pub tone: Tone,
    /// The grade, in a word.
    pub grade: &'static str,
    /// The sentence.
    pub text: String,
}

/// One part of a file that changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// How good the news is, in which words, and why.
    pub remark: Remark,
    /// What changed.
    pub subject: Linked,
    /// Its state before, unless it is new.
    pub old: Option<Linked>,
    /// Its state now, unless it is gone or the same.
    pub new: Option<Linked>,
    /// In what it changed.
    pub kinds: Vec<String>,
    /// Lines for who wants to know exactly; what came begins with `+ `, what went with `- `.
    pub details: Vec<String>,
}

/// A text that may lead somewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Linked {
    /// The text.
    pub text: String,
    /// An address that is safe to follow.
    pub url: Option<String>,
}

impl Change {
    /// Returns the states with an arrow between them.
    fn states(&self) -> String {
        let texts = self.old.iter().chain(&self.new).map(|state| &*state.text);
        texts.collect::<Vec<_>>().join(" → ")
    }
}

/// Prints changes for people, one line each, and details below.
pub(super) fn render(out: &mut dyn Write, all: &Changes, colors: Colors) -> io::Result<()> {
    if let Some(file) = &all.file {
        writeln!(out, "{}", styled(colors, BOLD, &harmless(file)))?;
    }
    let graded = |tone, grade: &str| styled(colors, style::style(tone), grade);
    for Remark { tone, grade, text } in &all.remarks {
        writeln!(out, "{}: {}", graded(*tone, grade), harmless(text))?;
    }
    let rows = all.rows.iter().map(|row| {
        vec![
            row.remark.grade.to_owned(),
            row.subject.text.clone(),
            row.states(),
            row.kinds.join(", "),
            row.remark.text.clone(),
        ]
    });
    let lines = aligned(&rows.collect::<Vec<_>>());
    for (row, line) in all.rows.iter().zip(lines) {
        let grade = row.remark.grade;
        // The columns were counted without the marks of colour.
        let rest = line.strip_prefix(grade).unwrap_or_default();
        writeln!(out, "{}{rest}", graded(row.remark.tone, grade))?;
        for detail in &row.details {
            let detail = harmless(detail);
            let tone = match detail.get(..2) {
                Some("+ ") => Some(Tone::Good),
                Some("- ") => Some(Tone::Bad),
                _ => None,
            };
            let detail = match tone {
                Some(tone) => styled(colors, style::plain(tone), &detail),
                None => detail,
            };
            writeln!(out, "    {detail}")?;
        }
    }
    Ok(())
}
