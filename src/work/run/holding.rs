//! Places whose constraints exclude a version.

use crate::diag::{FileId, Span, Texts};
use crate::report::json::{FilePosition, HoldingPlace};
use crate::requirement::Requirement;
use crate::version::Constraints;

/// Describes a place of the configuration.
pub(crate) fn place(texts: &Texts, place: &Requirement) -> HoldingPlace {
    HoldingPlace {
        module: Some(place.module.to_string()),
        ..recorded(texts, place.file, place.span, &place.constraints)
    }
}

/// Describes the constraints that a lock file records.
pub(crate) fn recorded(
    texts: &Texts,
    file: FileId,
    span: Span,
    constraints: &Constraints,
) -> HoldingPlace {
    HoldingPlace {
        place: FilePosition::new(file, span, texts),
        constraints: constraints.to_string(),
        module: None,
    }
}

/// Names a place with what it demands, as in `"~> 1.0" at main.tf:3`.
pub(crate) fn in_words(place: &HoldingPlace) -> String {
    let (FilePosition { file, line, .. }, constraints) = (&place.place, &place.constraints);
    let text = format!("\"{constraints}\" at {file}:{line}");
    match place.module.as_deref() {
        None | Some("") => text,
        Some(module) => format!("{text} ({module})"),
    }
}
