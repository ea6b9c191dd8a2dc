//! What changed in files, as rows that can be printed or put into a table of Markdown.

use std::io::{self, Write};

use super::Tone;
use super::style::{self, BOLD, Colors, aligned, harmless, styled};

/// How many files are listed before the rest is counted, where it matters which they are.
const MAX_FILES: usize = 5;

/// What changed in one file, or in several.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// The name of the file, where it is not clear which is meant.
    pub file: Option<String>,
    /// Remarks on files as a whole.
    pub remarks: Vec<Remark>,
    /// What changed in them, what matters most first.
    pub rows: Vec<Change>,
}

/// A sentence with a grade.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    /// How alarming it is.
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
pub struct Change {
    /// How alarming it is, in which words, and why.
    pub remark: Remark,
    /// What also holds for some more files; these texts are not empty.
    pub deviations: Vec<Remark>,
    /// What changed.
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
    /// The lines.
    pub lines: Vec<String>,
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

    /// Lists the files that it is about; none if it is clear which is meant.
    pub(super) fn files(&self) -> Vec<String> {
        let remarks = std::iter::once(&self.remark).chain(&self.deviations);
        remarks.flat_map(|remark| remark.files.clone()).collect()
    }

    /// Returns whether it is about several files, and it matters which they are.
    pub(super) fn names_files(&self) -> bool {
        self.remark.is_alarming() && self.files().len() > 1
    }

    /// Returns the row as it reads behind the kinds: in which files, and why.
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
    let rows = all.rows.iter().map(|row| {
        vec![
            row.remark.grade.to_owned(),
            row.subject.text.clone(),
            row.states(),
            row.kinds.join(", "),
            row.sentence(),
        ]
    });
    let lines = aligned(&rows.collect::<Vec<_>>());
    for (row, line) in all.rows.iter().zip(lines) {
        let grade = row.remark.grade;
        // The columns were counted without the marks of colour.
        let rest = line.strip_prefix(grade).unwrap_or_default();
        writeln!(out, "{}{rest}", graded(row.remark.tone, grade))?;
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
        for detail in row.details.iter().flat_map(|details| &details.lines) {
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
