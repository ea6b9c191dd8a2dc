//! Settings that make git call lockctl, for `git status`.

use serde::Serialize;

use crate::git::SettingKind;

/// A setting or attribute that makes git call lockctl.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct GitSetting {
    /// The kind of file that git reads it from.
    pub kind: SettingKind,
    /// Its name, as in `merge.lockctl.driver`; of an attribute `merge` or `diff`.
    pub name: String,
    /// The value that `lockctl git install` gives it.
    pub wanted: String,
    /// The value that counts; null if it has none.
    pub found: Option<String>,
    /// True if both values are the same.
    pub in_force: bool,
}
