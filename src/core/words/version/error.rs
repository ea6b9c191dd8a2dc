//! Errors of versions and constraints.

/// A text that is no exact version.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is no version: {reason}")]
pub struct VersionError {
    text: Box<str>,
    reason: VersionFault,
}

/// A text that is no set of constraints.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is no version constraint: {reason}")]
pub struct ConstraintError {
    text: Box<str>,
    reason: VersionFault,
}

/// The fault of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum VersionFault {
    #[error("it is empty")]
    Empty,
    #[error("it contains an empty item")]
    EmptyItem,
    #[error("it starts with no known operator")]
    Operator,
    #[error("{written:?} is no operator; {advice}")]
    OtherOperator {
        written: &'static str,
        advice: &'static str,
    },
    #[error("at most one space may follow an operator")]
    Spacing,
    #[error("a comma is missing between two items")]
    Comma,
    #[error("a number must not have a prefix v")]
    Prefix,
    #[error("wildcards are not supported")]
    Wildcard,
    #[error("a number is missing")]
    NoNumber,
    #[error("it has more than three numbers")]
    TooManyNumbers,
    #[error("a number is too large")]
    TooLarge,
    #[error("a pre-release is not allowed here")]
    Prerelease,
    #[error("it contains something that no version may contain")]
    Malformed,
}

/// Operators of other tools and languages, with what to write.
const OTHER_OPERATORS: [(&str, &str); 13] = [
    ("===", "write \"=\""),
    ("==", "write \"=\""),
    ("=>", "write \">=\""),
    ("=<", "write \"<=\""),
    (">>", "write \">\""),
    ("<<", "write \"<\""),
    ("<>", "write \"!=\""),
    ("=!", "write \"!=\""),
    (">==", "write \">=\""),
    ("<==", "write \"<=\""),
    ("~", "write \"~>\""),
    ("~=", "write \"~>\""),
    ("^", "\"~>\" before two numbers allows one major version"),
];

impl VersionFault {
    /// Names the operator that is meant at the start of an item which no grammar takes, if one is.
    pub(super) fn of_operator(item: &str) -> Option<Self> {
        let sign: String = item.chars().take_while(|c| "<>=!~^".contains(*c)).collect();
        OTHER_OPERATORS
            .iter()
            .find(|(written, _)| **written == *sign)
            .map(|(written, advice)| Self::OtherOperator { written, advice })
    }
}

impl VersionError {
    pub(super) fn new(text: &str, reason: VersionFault) -> Self {
        Self {
            text: text.into(),
            reason,
        }
    }

    /// Returns the text that is no version.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }
}

impl ConstraintError {
    pub(super) fn new(text: &str, reason: VersionFault) -> Self {
        Self {
            text: text.into(),
            reason,
        }
    }

    /// Returns the whole text that is no set of constraints.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns whether the text is fine but for a pre-release, which `required_version` forbids.
    ///
    /// The programs then say `Invalid required_version constraint`, and for everything else
    /// `Invalid version constraint`.
    #[must_use]
    pub fn is_forbidden_prerelease(&self) -> bool {
        self.reason == VersionFault::Prerelease
    }
}
