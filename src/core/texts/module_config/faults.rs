//! Faults of one file, collected while it is decoded.

use crate::diag::{Diagnostic, FileId, Severity, Span, nearest, rules};
use crate::flavor::{Flavor, Program};
use crate::hcl::tree::{Body, Expr, Word};
use crate::module_config::file::{ModuleFile, ModuleFileRole, SourcePlace, Syntax};
use crate::module_config::flood;

/// The file at hand with what was found to be wrong about it.
#[derive(Debug)]
pub(crate) struct Faults {
    pub file: FileId,
    pub role: ModuleFileRole,
    pub syntax: Syntax,
    /// The only program that reads the file, if not both do.
    pub only: Option<Program>,
    pub flavor: Flavor,
    /// The spans of what could not be read, in order: a missing argument may stand there.
    broken: Vec<Span>,
    /// Keys of objects that stand there once more, and are not in the tree; in order.
    overruled: Vec<Span>,
    /// The number of errors that were added.
    errors: usize,
    found: Vec<Diagnostic>,
}

impl Faults {
    pub(crate) fn new(file: ModuleFile, flavor: Flavor) -> Self {
        Self {
            file: file.id,
            role: file.role,
            syntax: file.syntax,
            only: file.only,
            flavor,
            broken: Vec::new(),
            overruled: Vec::new(),
            errors: 0,
            found: Vec::new(),
        }
    }

    /// Takes what was found while the text was parsed.
    pub(crate) fn parsed(&mut self, found: Vec<Diagnostic>) {
        let spans = |wanted: fn(&Diagnostic) -> bool| {
            let mut spans: Vec<Span> = found
                .iter()
                .filter(|diagnostic| wanted(diagnostic))
                .filter_map(|diagnostic| Some(diagnostic.primary.as_ref()?.span))
                .collect();
            spans.sort();
            spans
        };
        self.broken = spans(|diagnostic| diagnostic.severity == Severity::Error);
        self.overruled = spans(|diagnostic| diagnostic.code == rules::DUPLICATE_KEY);
        self.add(found);
    }

    /// Adds an error; the remark may be empty.
    pub(crate) fn error(
        &mut self,
        code: &'static str,
        title: impl Into<String>,
        at: Span,
        remark: &str,
    ) {
        self.push(Diagnostic::error(code, title).at(self.file, at, remark));
    }

    /// Adds an error about a name that may not stand where it does, and asks whether a known one is meant.
    pub(crate) fn unknown<'k>(
        &mut self,
        title: &str,
        name: &Word,
        remark: &str,
        known: impl Iterator<Item = &'k str>,
    ) {
        let error =
            Diagnostic::error(rules::UNSUPPORTED_ITEM, title).at(self.file, name.span, remark);
        self.push(match nearest(&name.text, known) {
            Some(meant) => error.help(format!("did you mean {meant}?")),
            None => error,
        });
    }

    /// Adds an error that belongs to no narrower rule.
    pub(crate) fn invalid(&mut self, title: impl Into<String>, at: Span, remark: &str) {
        self.error(rules::CONFIGURATION_INVALID, title, at, remark);
    }

    /// Adds a note on something that works but surprises.
    pub(crate) fn odd(&mut self, title: &str, at: Span, remark: &str) {
        self.push(Diagnostic::note(rules::CONFIGURATION_ODD, title).at(self.file, at, remark));
    }

    pub(crate) fn push(&mut self, diagnostic: Diagnostic) {
        self.errors += usize::from(diagnostic.severity == Severity::Error);
        flood::push(&mut self.found, diagnostic);
    }

    /// Adds what others found.
    pub(crate) fn add(&mut self, found: impl IntoIterator<Item = Diagnostic>) {
        for diagnostic in found {
            self.push(diagnostic);
        }
    }

    /// Returns how many errors there were so far. Only this shows whether a step adds one: a flood of
    /// them is cut back now and then.
    pub(crate) fn errors(&self) -> usize {
        self.errors
    }

    pub(crate) fn into_found(self) -> Vec<Diagnostic> {
        self.found
    }

    /// Returns where an argument is missing: the brace that opens the body or, in JSON, closes it.
    pub(crate) fn gap(&self, body: &Body) -> Span {
        let Span { start, end } = body.span;
        match self.syntax {
            Syntax::Native => Span::new(start.saturating_sub(1), start),
            Syntax::Json => Span::new(end, end + 1),
        }
    }

    /// Returns whether something in a range of bytes could not be read.
    pub(crate) fn may_hide(&self, within: Span) -> bool {
        // A fault at the very end counts: a missing brace is reported behind the last byte.
        let behind = Span::new(within.start, within.end + 1);
        !starting_in(&self.broken, behind).is_empty()
    }

    /// Returns the keys that stand there once more in an object, or in those inside it.
    pub(crate) fn overruled(&self, object: Span) -> Vec<Span> {
        starting_in(&self.overruled, object).to_owned()
    }

    pub(crate) fn place(&self, span: Span) -> SourcePlace {
        SourcePlace {
            file: self.file,
            span,
        }
    }

    pub(crate) fn place_of(&self, expr: &Expr) -> SourcePlace {
        self.place(expr.span)
    }
}

/// Returns those that start in a range of bytes, out of some that are in order.
fn starting_in(spans: &[Span], range: Span) -> &[Span] {
    let first = spans.partition_point(|span| span.start < range.start);
    let end = spans.partition_point(|span| span.start < range.end);
    spans.get(first..end).unwrap_or_default()
}
