//! Identifiers.

pub(crate) use crate::hcl::references::is_identifier;

/// What is said of a name that is none.
pub(crate) const NAME: &str = "a name holds letters, digits, dashes and underscores";
