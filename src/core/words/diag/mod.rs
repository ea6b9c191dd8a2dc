//! Faults in files that a user wrote: where, what, and what to do about it.
//!
//! A [`Diagnostic`] holds values only; room `report` renders it. Its `code` is
//! the one id of the kind of fault: in JSON, in the documentation and in the project file.

mod counts;
mod finding;
mod help;
mod nearest;
pub mod rules;
mod shortened;
mod texts;

use std::ops::Range;

pub use counts::{Counts, counted, counted_as};
pub use finding::{Finding, NamedAdvisory, Share, TurnedOff};
pub use help::{AdviceText, Help, RootCommand, quoted};
pub use nearest::spelling_of;
pub use nearest::{did_you_mean, nearest};
pub use rules::{Area, Level, RULES, Rule, named};
pub use shortened::{MAX_TEXT, shortened};
pub use texts::{FileId, Position, SharedTexts, Texts};

/// A range of bytes of one file, end exclusive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span {
    /// Offset of the first byte.
    pub start: usize,
    /// Offset behind the last byte; not below `start`.
    pub end: usize,
}

/// A range of bytes in a file, with a remark.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Label {
    /// The file that the range is in.
    pub file: FileId,
    /// The bytes that are meant.
    pub span: Span,
    /// A short remark on them; may be empty.
    pub note: String,
}

/// The severity of a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// Information; changes no exit code.
    Note,
    /// Likely to cause a failure.
    Warning,
    /// A fault that is wrong now.
    Error,
}

impl Severity {
    /// Returns the word for it, as project files and all outputs have it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// One fault in a file that a user wrote.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Diagnostic {
    /// The name of a rule in [`RULES`]; never changes.
    pub code: &'static str,
    /// The severity, which a project file may change.
    pub severity: Severity,
    /// The program's own title where it has one, else ours; no period, no position.
    pub title: String,
    /// The place of the fault.
    pub primary: Option<Label>,
    /// Other places that explain it.
    pub related: Vec<Label>,
    /// The next step for the user. Findings of a rule with equal help are shown as one, so their
    /// differences are in their labels.
    pub help: Option<Help>,
    /// The host and the repository of the module that could not be read, if it is about one.
    pub package: Option<Box<str>>,
}

impl Span {
    /// Makes a span; an end below the start counts as the start.
    #[must_use]
    pub fn new(start: usize, end: usize) -> Self {
        Self {
            start,
            end: end.max(start),
        }
    }

    /// Makes a span of whole characters of a text: one that begins or ends inside a character is widened.
    ///
    /// Places that were found byte by byte, as the first difference of two texts, go through here.
    /// A byte that is no UTF-8 is a character of its own.
    ///
    /// ```
    /// use lockctl_core::diag::Span;
    ///
    /// assert_eq!(Span::within("aéb".as_bytes(), 2, 2), Span::new(1, 3));
    /// assert_eq!(Span::within("aéb".as_bytes(), 0, 2), Span::new(0, 3));
    /// ```
    #[must_use]
    pub fn within(text: &[u8], start: usize, end: usize) -> Self {
        let end = end.min(text.len()).max(start);
        let first = character_at(text, start);
        if end > start {
            return Self::new(first.start, character_at(text, end - 1).end);
        }
        // An empty span between two characters stays empty.
        let is_between = first.start == start;
        Self::new(first.start, if is_between { end } else { first.end })
    }

    /// Returns the same span `by` bytes further on.
    #[must_use]
    pub fn shifted(self, by: usize) -> Self {
        Self {
            start: self.start + by,
            end: self.end + by,
        }
    }
}

impl Label {
    /// Makes a label of a range with a remark, which may be empty.
    pub fn new(file: FileId, span: Span, note: impl Into<String>) -> Self {
        Self {
            file,
            span,
            note: note.into(),
        }
    }
}

impl Diagnostic {
    /// Makes an error with neither place nor help yet.
    pub fn error(code: &'static str, title: impl Into<String>) -> Self {
        Self::new(code, Severity::Error, title)
    }

    /// Makes a warning with neither place nor help yet.
    pub fn warning(code: &'static str, title: impl Into<String>) -> Self {
        Self::new(code, Severity::Warning, title)
    }

    /// Makes a note with neither place nor help yet.
    pub fn note(code: &'static str, title: impl Into<String>) -> Self {
        Self::new(code, Severity::Note, title)
    }

    fn new(code: &'static str, severity: Severity, title: impl Into<String>) -> Self {
        Self {
            code,
            severity,
            title: title.into(),
            primary: None,
            related: Vec::new(),
            help: None,
            package: None,
        }
    }

    /// Sets the place, with a short remark (may be empty).
    #[must_use]
    pub fn at(mut self, file: FileId, span: Span, note: impl Into<String>) -> Self {
        self.primary = Some(Label::new(file, span, note));
        self
    }

    /// Adds a place that explains it.
    #[must_use]
    pub fn see(mut self, file: FileId, span: Span, note: impl Into<String>) -> Self {
        self.related.push(Label::new(file, span, note));
        self
    }

    /// Sets the next step for the user.
    #[must_use]
    pub fn help(mut self, help: impl Into<Help>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// Returns the bytes of the character that a byte belongs to; of a byte that is no UTF-8, that byte.
fn character_at(text: &[u8], at: usize) -> Range<usize> {
    let is_first = |start: &usize| text.get(*start).is_some_and(|byte| byte & 0xC0 != 0x80);
    // A character has at most four bytes, and all but the first are continuations.
    let character = (at.saturating_sub(3)..=at)
        .rfind(is_first)
        .and_then(|start| {
            let ahead = &text[start..text.len().min(start + 4)];
            let first = ahead.utf8_chunks().next()?.valid().chars().next()?;
            Some(start..start + first.len_utf8())
        });
    match character {
        Some(character) if character.contains(&at) => character,
        _ => at..at + 1,
    }
}

/// Maximum number of problems of one file that are reported.
pub const MAX_PROBLEMS: usize = 1000;

/// Sorts the problems of one file by their place, and cuts a flood of them off: the last of
/// [`MAX_PROBLEMS`] says so.
pub fn in_order(problems: &mut Vec<Diagnostic>) {
    // The sort is stable: problems of one place stay in the order of their discovery.
    problems.sort_by_key(|problem| problem.primary.as_ref().map(|label| label.span));
    if problems.len() <= MAX_PROBLEMS {
        return;
    }
    problems.truncate(MAX_PROBLEMS);
    if let Some(last) = problems.last_mut() {
        "Too many errors".clone_into(&mut last.title);
        last.code = rules::SYNTAX_ERROR;
        last.severity = Severity::Error;
    }
}

/// Returns true if any of the diagnostics is an error.
#[must_use]
pub fn has_errors(diagnostics: &[Diagnostic]) -> bool {
    diagnostics
        .iter()
        .any(|diagnostic| diagnostic.severity == Severity::Error)
}

/// Lists what is behind an error, outermost cause first, without the error itself.
#[must_use]
pub fn causes(error: &dyn std::error::Error) -> Vec<String> {
    std::iter::successors(error.source(), |cause| cause.source())
        .map(ToString::to_string)
        .collect()
}
