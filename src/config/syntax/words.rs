//! Identifiers.

/// What is said of a name that is none.
pub(in crate::config) const NAME: &str = "a name holds letters, digits, dashes and underscores";

/// Returns whether a text is an identifier.
///
/// Characters outside ASCII are not looked at: whether they are letters decides no requirement.
pub(in crate::config) fn is_identifier(text: &str) -> bool {
    let inside = |c: char| !c.is_ascii() || c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let starts = text.starts_with(|c: char| !c.is_ascii() || c.is_ascii_alphabetic() || c == '_');
    starts && text.chars().all(inside)
}
