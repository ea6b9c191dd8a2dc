//! Changes of files, as rows that can be printed or put into a table of Markdown.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::Tone;
use super::narrow::fitted_rows;
use super::style::{self, BOLD, Colors, harmless, styled};
use crate::diag::counted_as;

/// Maximum number of files that are listed by name before the rest is counted.
const MAX_FILES: usize = 5;

/// The changes of one file, or the equal changes of several.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// The name of the file, where it is not clear which is meant.
    pub file: Option<String>,
    /// Remarks on files as a whole.
    pub remarks: Vec<Remark>,
    /// The changed entries, the most important first.
    pub rows: Vec<ChangeLine>,
    /// The width of the terminal, if there is one.
    pub columns: Option<usize>,
}

/// A sentence with a grade.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    /// The tone, from good news to alarming.
    pub tone: Tone,
    /// The grade, as one word.
    pub grade: &'static str,
    /// The sentence; may be empty.
    pub text: String,
    /// The files that it is about, where equal changes of several files are one; else none.
    pub files: Vec<String>,
}

/// One thing that changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangeLine {
    /// The grade of the change, its words, and the reason.
    pub remark: Remark,
    /// Remarks that hold for some of the files only; their texts are not empty.
    pub deviations: Vec<Remark>,
    /// Further remarks on the change, each with its own grade.
    pub beside: Vec<Remark>,
    /// The changed entry or setting.
    pub subject: Linked,
    /// Its state before, unless it is new.
    pub old: Option<Linked>,
    /// Its state now, unless it was removed or is the same.
    pub new: Option<Linked>,
    /// In what it changed.
    pub kinds: Vec<String>,
    /// All that changed, in lines.
    pub details: Vec<Details>,
}

/// Lines about a change: what was added begins with `+ `, what was removed with `- `.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Details {
    /// The files that they are about, as in [`Remark::files`].
    pub files: Vec<String>,
    /// The lines, each with its sign.
    pub lines: Vec<String>,
}

/// A text that may lead somewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Linked {
    /// The text as it is printed.
    pub text: String,
    /// An address that is safe to follow.
    pub url: Option<String>,
}

/// Maximum number of changes of one provider with one grade that are shown where not all changes fit.
const MAX_ALIKE: usize = 5;

impl Changes {
    /// Leaves out rows that do not fit into so many lines of a terminal, the last ones first; of one provider and grade
    /// only some are shown. Returns the number of rows left out, in words.
    pub fn limit(&mut self, lines: usize, terminal: Option<usize>) -> Option<String> {
        let remarks: usize = self.remarks.iter().map(Remark::height).sum();
        let heights: Vec<usize> = self
            .row_lines(terminal)
            .iter()
            .zip(&self.rows)
            .map(|(lines, row)| lines.len() + row.lines_below())
            .collect();
        let mut room = lines.saturating_sub(remarks);
        if heights.iter().sum::<usize>() <= room {
            return None;
        }
        let mut heights = heights.into_iter();
        // One line says what is left out.
        room = room.saturating_sub(1);
        let mut alike: BTreeMap<(&'static str, String), usize> = BTreeMap::new();
        let mut hidden: Vec<(&'static str, usize)> = Vec::new();
        let total = self.rows.len();
        self.rows.retain(|row| {
            let grade = row.remark.grade;
            let count = alike.entry((grade, row.subject.text.clone())).or_default();
            *count += 1;
            let height = heights.next().unwrap_or_default();
            let is_shown = *count <= MAX_ALIKE && height <= room;
            if is_shown {
                room -= height;
                return true;
            }
            match hidden.iter_mut().find(|(known, _)| *known == grade) {
                Some((_, count)) => *count += 1,
                None => hidden.push((grade, 1)),
            }
            false
        });
        let left_out = total - self.rows.len();
        let grades: Vec<String> = hidden
            .iter()
            .map(|(grade, count)| format!("{count} {grade}"))
            .collect();
        let changes = counted_as(left_out, "more change", "more changes");
        Some(format!(
            "… and {changes}: {} (-v shows each)",
            grades.join(", ")
        ))
    }

    /// Returns the lines of each row, without those below them.
    fn row_lines(&self, columns: Option<usize>) -> Vec<Vec<String>> {
        let rows: Vec<Vec<String>> = self.rows.iter().map(ChangeLine::cells).collect();
        fitted_rows(&rows, columns.unwrap_or(usize::MAX))
    }

    /// Returns the number of lines of all details.
    #[must_use]
    pub fn detail_lines(&self) -> usize {
        let details = self.rows.iter().flat_map(|row| &row.details);
        details.map(|details| details.lines.len()).sum()
    }
}

impl ChangeLine {
    /// Returns the number of lines below the row.
    fn lines_below(&self) -> usize {
        let details: usize = self.details.iter().map(|details| details.lines.len()).sum();
        let deviations: usize = self.deviations.iter().map(Remark::height).sum();
        self.remark.height() - 1 + deviations + self.beside.len() + details
    }

    fn cells(&self) -> Vec<String> {
        let states = self.old.iter().chain(&self.new).map(|state| &*state.text);
        vec![
            self.remark.grade.to_owned(),
            self.subject.text.clone(),
            states.collect::<Vec<_>>().join(" → "),
            self.kinds.join(", "),
            self.sentence(),
        ]
    }

    /// Lists the files that it is about; none if it is clear which is meant.
    pub(super) fn files(&self) -> Vec<String> {
        std::iter::once(&self.remark)
            .chain(&self.deviations)
            .flat_map(|remark| remark.files.clone())
            .collect()
    }

    /// Returns whether it is about several files, and it matters which they are.
    pub(super) fn names_files(&self) -> bool {
        self.remark.is_alarming() && self.files().len() > 1
    }

    /// Returns the row without the kinds: the files and the reason.
    fn sentence(&self) -> String {
        let text = self.remark.text.clone();
        let place = match &*self.files() {
            [] => return text,
            [file] => format!("in {file}"),
            files => format!("in {} lock files", files.len()),
        };
        if text.is_empty() {
            place
        } else {
            format!("{place}: {text}")
        }
    }
}

impl Remark {
    fn height(&self) -> usize {
        let files = if self.names_files() {
            self.files.len().min(MAX_FILES + 1)
        } else {
            0
        };
        1 + files
    }

    fn is_alarming(&self) -> bool {
        matches!(self.tone, Tone::Warning | Tone::Bad)
    }

    /// Returns whether it is about several files, and it matters which they are.
    pub(super) fn names_files(&self) -> bool {
        self.is_alarming() && self.files.len() > 1
    }
}

/// Lists the first of some files, and counts the rest.
pub(super) fn first_files(files: &[String]) -> (&[String], usize) {
    let shown = files.len().min(MAX_FILES);
    (&files[..shown], files.len() - shown)
}

/// Prints changes for people, one line each, and details below.
pub(super) fn render(out: &mut dyn Write, all: &Changes, colors: Colors) -> io::Result<()> {
    if let Some(file) = &all.file {
        writeln!(out, "{}", styled(colors, BOLD, &harmless(file)))?;
    }
    let graded = |tone, grade: &str| styled(colors, style::style(tone), grade);
    for remark in &all.remarks {
        let files = match &*remark.files {
            [] => String::new(),
            [file] => format!("{}: ", harmless(file)),
            files => format!("{} lock files: ", files.len()),
        };
        let grade = graded(remark.tone, remark.grade);
        writeln!(out, "{grade}: {files}{}", harmless(&remark.text))?;
        if remark.names_files() {
            files_below(out, remark)?;
        }
    }
    for (row, lines) in all.rows.iter().zip(all.row_lines(all.columns)) {
        let grade = row.remark.grade;
        for line in lines {
            // The columns were counted without the marks of colour.
            match line.strip_prefix(grade) {
                Some(rest) => writeln!(out, "{}{rest}", graded(row.remark.tone, grade))?,
                None => writeln!(out, "{line}")?,
            }
        }
        if row.names_files() {
            files_below(out, &row.remark)?;
        }
        for deviation in &row.deviations {
            let place = match &*deviation.files {
                [file] => format!("in {}", harmless(file)),
                files => format!("in {} of them", files.len()),
            };
            writeln!(out, "    {place}: {}", harmless(&deviation.text))?;
            if deviation.names_files() {
                files_below(out, deviation)?;
            }
        }
        for remark in &row.beside {
            let grade = graded(remark.tone, remark.grade);
            writeln!(out, "    {grade}: {}", harmless(&remark.text))?;
        }
        for line in row.details.iter().flat_map(|details| &details.lines) {
            let shown = match (line.get(..2), harmless(line)) {
                (Some("+ "), line) => styled(colors, style::plain(Tone::Good), &line),
                (Some("- "), line) => styled(colors, style::plain(Tone::Bad), &line),
                (_, line) => line,
            };
            writeln!(out, "    {shown}")?;
        }
    }
    Ok(())
}

/// Lists the files of a remark, one in a line.
fn files_below(out: &mut dyn Write, remark: &Remark) -> io::Result<()> {
    let (files, more) = first_files(&remark.files);
    for file in files {
        writeln!(out, "    in {}", harmless(file))?;
    }
    match more {
        0 => Ok(()),
        more => writeln!(out, "    and in {more} more (`-v` lists them)"),
    }
}
