//! Identifiers.

pub(crate) use crate::hcl::references::is_identifier;

/// The remark on a text that is no identifier.
pub(crate) const NAME: &str = "a name holds letters, digits, dashes and underscores";
