//! What was fixed, for `verify --fix`.

use serde::Serialize;

/// Something that was fixed in a lock file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Fixed {
    /// The name of the rule whose finding was fixed.
    pub rule: &'static str,
    /// The provider concerned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// What was done.
    pub text: String,
}
