//! Faults that the walk over tokens finds, and patches that keep `hcl_edit` going.

use crate::diag::{Span, rules};

#[derive(Clone, Debug)]
pub(super) struct TokenFault {
    pub(super) code: &'static str,
    pub(super) title: &'static str,
    pub(super) span: Span,
}

/// A change of the text that keeps every offset, so that `hcl_edit` can read the rest.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patch {
    pub(super) span: Span,
    pub(super) fill: Fill,
}

/// The characters that a patch writes over each byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fill {
    /// A space, but line ends stay.
    Blank,
    /// A space, over line ends as well.
    Join,
    /// One line end and spaces.
    Break,
    Letter,
    Digit,
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
    pub(super) patches: Vec<Patch>,
    pub(super) overruled: Vec<Overruled>,
    /// The number of blocks that the end of the text leaves open.
    pub(super) unclosed: usize,
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
