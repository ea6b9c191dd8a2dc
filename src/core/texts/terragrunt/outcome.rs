//! Values that are known, unknown, or refused.

use std::sync::Arc;

use crate::diag::{Diagnostic, FileId, Label, Span, rules};
use crate::expr::{NoValue, NotConstant, Typed};

/// A place in a file, without a note.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FilePlace {
    pub(super) file: FileId,
    pub(super) span: Span,
}

impl FilePlace {
    /// The place of what has none.
    pub(super) const NOWHERE: Self = Self {
        file: FileId::ALONE,
        span: Span { start: 0, end: 0 },
    };

    pub(super) fn label(self) -> Label {
        Label::new(self.file, self.span, "")
    }
}

/// A value that Terragrunt refuses, with its error, or that it may have in a run.
pub(super) type Stop = NoValue<Arc<Diagnostic>>;

pub(super) type Outcome<T = Arc<Typed>> = Result<T, Stop>;

/// A call or name whose value only a run of Terragrunt knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct UnknownCause {
    /// The end of a sentence: "run_cmd runs a program".
    pub(super) text: String,
    pub(super) place: FilePlace,
}

/// A value, with the causes that made parts of it unknown.
pub(super) type Traced<T = Outcome> = (T, Vec<UnknownCause>);

/// The value of an argument, with the causes that made parts of it unknown.
#[derive(Clone, Debug)]
pub(super) struct Slot {
    pub(super) place: FilePlace,
    pub(super) outcome: Outcome,
    pub(super) causes: Vec<UnknownCause>,
}

/// A part of a unit that is unknown, with the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnitUnknown {
    /// The reason, as the end of a sentence: "run_cmd runs a program".
    pub reason: String,
    /// The place of the reason, without a note of its own.
    pub place: Label,
}

/// A part of a unit, as far as it is known without a run of Terragrunt.
pub type UnitResult<T> = Result<T, UnitUnknown>;

impl UnitUnknown {
    pub(super) fn new(place: FilePlace, reason: impl Into<String>) -> Self {
        Self {
            reason: reason.into(),
            place: place.label(),
        }
    }
}

impl Stop {
    pub(super) fn refused(code: &'static str, title: &str, place: FilePlace, note: &str) -> Self {
        let error = Diagnostic::error(code, title).at(place.file, place.span, note);
        Self::Refused(Arc::new(error))
    }

    /// Refuses a configuration that has the right syntax.
    pub(super) fn invalid(title: &str, place: FilePlace, note: &str) -> Self {
        Self::refused(rules::CONFIGURATION_INVALID, title, place, note)
    }

    pub(super) fn wrong_type(place: FilePlace, note: &str) -> Self {
        Self::refused(rules::WRONG_TYPE, "Unsuitable value type", place, note)
    }

    /// Stops because of a fault in the syntax of a file.
    pub(super) fn of_fault(fault: Diagnostic) -> Self {
        match fault.code {
            // These two are limits of lockctl: Terragrunt may take the file.
            rules::NESTED_TOO_DEEP | rules::OBJECT_TOO_LARGE => Self::Uncertain(Arc::new(fault)),
            _ => Self::Refused(Arc::new(fault)),
        }
    }

    pub(super) fn uncertain(place: FilePlace, reason: &str) -> Self {
        let title = "This is known only in a run of Terragrunt";
        let error =
            Diagnostic::error(rules::NOT_CONSTANT, title).at(place.file, place.span, reason);
        Self::Uncertain(Arc::new(error))
    }

    /// Stops at the first problem of an expression. Problems of lockctl come first: with one of them the program
    /// may have a value.
    pub(super) fn of_expression(problems: NotConstant, place: FilePlace) -> Self {
        let NotConstant { refused, uncertain } = problems;
        match (refused.into_iter().next(), uncertain.into_iter().next()) {
            (_, Some(uncertain)) => Self::Uncertain(Arc::new(uncertain)),
            (Some(refused), None) => Self::Refused(Arc::new(refused)),
            (None, None) => Self::uncertain(place, "this could not be evaluated"),
        }
    }

    pub(super) fn diagnostic(&self) -> &Diagnostic {
        match self {
            Self::Refused(diagnostic) | Self::Uncertain(diagnostic) => diagnostic,
        }
    }

    /// Moves the diagnostic to a place.
    pub(super) fn moved(self, place: FilePlace) -> Self {
        let at_place = |mut diagnostic: Arc<Diagnostic>| {
            if let Some(label) = &mut Arc::make_mut(&mut diagnostic).primary {
                (label.file, label.span) = (place.file, place.span);
            }
            diagnostic
        };
        match self {
            Self::Refused(diagnostic) => Self::Refused(at_place(diagnostic)),
            Self::Uncertain(diagnostic) => Self::Uncertain(at_place(diagnostic)),
        }
    }

    /// Makes the value unknown; `fallback` is the place of a stop that has none of its own.
    pub(super) fn unknown(&self, fallback: FilePlace) -> UnitUnknown {
        let diagnostic = self.diagnostic();
        let place = diagnostic.primary.clone();
        let place = place.unwrap_or_else(|| fallback.label());
        let reason = match self {
            _ if place.note.is_empty() => diagnostic.title.clone(),
            Self::Refused(_) => format!("{}: {}", diagnostic.title, place.note),
            Self::Uncertain(_) => place.note.clone(),
        };
        UnitUnknown { reason, place }
    }
}

impl Slot {
    /// The value of an argument that has none.
    pub(super) fn stopped(place: FilePlace, stop: Stop) -> Self {
        Self {
            place,
            outcome: Err(stop),
            causes: Vec::new(),
        }
    }

    /// Returns the reason why a part of the value is unknown.
    pub(super) fn unknown(&self) -> UnitUnknown {
        match self.causes.first() {
            Some(cause) => UnitUnknown::new(cause.place, cause.text.as_str()),
            None => UnitUnknown::new(self.place, "this is known only in a run of Terragrunt"),
        }
    }

    /// Returns the value if all of it is known.
    pub(super) fn settled(&self) -> UnitResult<Arc<Typed>> {
        match &self.outcome {
            Ok(value) if value.value.is_wholly_known() => Ok(Arc::clone(value)),
            Ok(_) => Err(self.unknown()),
            Err(stop) => Err(stop.unknown(self.place)),
        }
    }
}
