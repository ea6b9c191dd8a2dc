//! What holds for every list of diagnostics.

use lockctl::diag::{Diagnostic, Label, MAX_PROBLEMS, Span};

/// Checks that every place is in the text and cuts no character of it.
#[track_caller]
pub(super) fn check(text: &[u8], diagnostics: &[Diagnostic]) {
    assert!(
        diagnostics.len() <= MAX_PROBLEMS,
        "{} problems",
        diagnostics.len()
    );
    for diagnostic in diagnostics {
        assert!(!diagnostic.title.is_empty(), "{diagnostic:?}");
        // Panics if there is no such rule.
        let _ = lockctl::diag::named(diagnostic.code);
        let labels = diagnostic.primary.iter().chain(&diagnostic.related);
        for Label { span, .. } in labels {
            check_span(text, *span);
        }
    }
}

/// Checks that a place is in the text and cuts no character of it.
#[track_caller]
pub(super) fn check_span(text: &[u8], span: Span) {
    let Span { start, end } = span;
    assert!(
        start <= end && end <= text.len(),
        "{span:?} of {} bytes",
        text.len()
    );
    if let Ok(text) = std::str::from_utf8(text) {
        let is_whole = text.is_char_boundary(start) && text.is_char_boundary(end);
        assert!(is_whole, "{span:?} cuts a character of {text:?}");
    }
}
