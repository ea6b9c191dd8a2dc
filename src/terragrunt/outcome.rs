//! Values that are known, unknown, or refused.

use std::sync::Arc;

use crate::diag::{Diagnostic, FileId, Label, Span, rules};
use crate::expr::{NotConstant, Typed};

/// A place in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) file: FileId,
    pub(super) span: Span,
}

/// Why there is no value.
#[derive(Clone, Debug)]
pub(super) enum Stop {
    /// Terragrunt refuses it.
    Refused(Arc<Diagnostic>),
    /// Terragrunt may have one.
    Uncertain(Arc<Diagnostic>),
}

pub(super) type Outcome<T = Arc<Typed>> = Result<T, Stop>;

/// Something that only a run of Terragrunt knows, with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Reason {
    pub(super) text: String,
    pub(super) place: Place,
}

/// The value of an argument, with what made parts of it unknown.
#[derive(Clone, Debug)]
pub(super) struct Slot {
    pub(super) place: Place,
    pub(super) outcome: Outcome,
    pub(super) reasons: Vec<Reason>,
}

/// What is known of a unit, or why it is not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Known<T> {
    /// It is this.
    Value(T),
    /// Only a run of Terragrunt knows, or none does: it stops.
    Unknown(Unknown),
}

/// Why something of a unit is unknown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unknown {
    /// The reason, as the end of a sentence: "run_cmd runs a program".
    pub reason: String,
    /// Where the reason stands.
    pub place: Label,
    /// Whether Terragrunt refuses it, too.
    pub is_refused: bool,
}

impl<T> Known<T> {
    /// Returns the value, if it is known.
    pub fn value(&self) -> Option<&T> {
        match self {
            Self::Value(value) => Some(value),
            Self::Unknown(_) => None,
        }
    }

    /// Makes something else of the value.
    pub(super) fn and_then<U>(self, make: impl FnOnce(T) -> Known<U>) -> Known<U> {
        match self {
            Self::Value(value) => make(value),
            Self::Unknown(unknown) => Known::Unknown(unknown),
        }
    }
}

impl Stop {
    pub(super) fn refused(code: &'static str, title: &str, place: Place, note: &str) -> Self {
        let error = Diagnostic::error(code, title).at(place.file, place.span, note);
        Self::Refused(Arc::new(error))
    }

    /// Stops because of a fault in the syntax of a file; what only lockctl refuses may be fine.
    pub(super) fn of_fault(fault: Diagnostic) -> Self {
        match fault.code {
            rules::NESTED_TOO_DEEP | rules::OBJECT_TOO_LARGE => Self::Uncertain(Arc::new(fault)),
            _ => Self::Refused(Arc::new(fault)),
        }
    }

    pub(super) fn uncertain(place: Place, reason: &str) -> Self {
        let title = "This is known only in a run of Terragrunt";
        let error =
            Diagnostic::error(rules::NOT_CONSTANT, title).at(place.file, place.span, reason);
        Self::Uncertain(Arc::new(error))
    }

    pub(super) fn diagnostic(&self) -> &Diagnostic {
        match self {
            Self::Refused(diagnostic) | Self::Uncertain(diagnostic) => diagnostic,
        }
    }

    /// Says what is unknown because of it; `fallback` is the place where it has none of its own.
    pub(super) fn unknown(&self, fallback: Place) -> Unknown {
        let diagnostic = self.diagnostic();
        let label = diagnostic.primary.clone();
        let label = label.unwrap_or_else(|| Label::new(fallback.file, fallback.span, ""));
        let reason = match (self, label.note.is_empty()) {
            (Self::Uncertain(_), false) => label.note.clone(),
            (_, true) => diagnostic.title.clone(),
            (Self::Refused(_), false) => format!("{}: {}", diagnostic.title, label.note),
        };
        Unknown {
            reason,
            place: label,
            is_refused: matches!(self, Self::Refused(_)),
        }
    }
}

impl Slot {
    /// Returns a slot for a value that stands at a place.
    pub(super) fn known(place: Place, value: Typed) -> Self {
        Self {
            place,
            outcome: Ok(Arc::new(value)),
            reasons: Vec::new(),
        }
    }

    /// Returns why a part of the value is unknown.
    pub(super) fn unknown(&self) -> Unknown {
        let reason = self.reasons.first();
        let (text, place) = match reason {
            Some(reason) => (reason.text.as_str(), reason.place),
            None => ("this is known only in a run of Terragrunt", self.place),
        };
        Unknown {
            reason: text.to_owned(),
            place: Label::new(place.file, place.span, ""),
            is_refused: false,
        }
    }

    /// Returns the value if all of it is known.
    pub(super) fn settled(&self) -> Known<Arc<Typed>> {
        match &self.outcome {
            Ok(value) if value.value.is_wholly_known() => Known::Value(Arc::clone(value)),
            Ok(_) => Known::Unknown(self.unknown()),
            Err(stop) => Known::Unknown(stop.unknown(self.place)),
        }
    }
}

/// Says why an expression has no value; what the program refuses counts most.
pub(super) fn stopped(found: NotConstant, place: Place) -> Stop {
    let NotConstant { refused, uncertain } = found;
    match (refused.into_iter().next(), uncertain.into_iter().next()) {
        (_, Some(uncertain)) => Stop::Uncertain(Arc::new(uncertain)),
        (Some(refused), None) => Stop::Refused(Arc::new(refused)),
        (None, None) => Stop::uncertain(place, "this could not be evaluated"),
    }
}
