//! Fixes of lock files, for `verify --fix`.

use serde::Serialize;

/// Something that was fixed in a lock file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "Fixed"))]
pub struct FixRow {
    /// The name of the rule whose finding was fixed.
    pub rule: &'static str,
    /// The address of the provider concerned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// The change that was made, in words.
    pub text: String,
}
