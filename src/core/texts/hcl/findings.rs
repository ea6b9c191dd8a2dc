//! Faults that the walk over tokens finds.

use crate::diag::{Span, rules};

#[derive(Clone, Debug)]
pub(super) struct TokenFault {
    pub(super) code: &'static str,
    pub(super) title: &'static str,
    pub(super) span: Span,
}

/// An object key that a later one of the same name overrules.
#[derive(Clone, Copy, Debug)]
pub(super) struct Overruled {
    pub(super) earlier: Span,
    pub(super) later: Span,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Findings {
    pub(super) faults: Vec<TokenFault>,
    pub(super) overruled: Vec<Overruled>,
}

pub(super) fn fault(title: &'static str, span: Span) -> TokenFault {
    TokenFault {
        code: rules::SYNTAX_ERROR,
        title,
        span,
    }
}

/// Makes the fault of something that is deeper than we follow.
pub(super) fn too_deep(span: Span) -> TokenFault {
    TokenFault {
        code: rules::NESTED_TOO_DEEP,
        title: "Nested too deep",
        span,
    }
}
