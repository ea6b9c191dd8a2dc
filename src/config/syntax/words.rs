//! Identifiers.

pub(in crate::config) use crate::hcl::references::is_identifier;

/// What is said of a name that is none.
pub(in crate::config) const NAME: &str = "a name holds letters, digits, dashes and underscores";
