//! The modules of a root, for `tree`.

use schemars::JsonSchema;
use serde::Serialize;

/// A module, a test file or the state, with what it requires by itself.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Module {
    /// What it is.
    pub kind: ModuleKind,
    /// The same as `module`.
    pub path: String,
    /// Its address, as in `module.network`; empty for the root module, `state` for the state.
    pub module: String,
    /// Its source as written, or the file of a state; null if it has none, or none that can be told.
    pub source: Option<String>,
    /// Its directory, from the root on; null where it has none or is not there.
    pub dir: Option<String>,
    /// Whether it could be read.
    pub seen: bool,
    /// What it requires by itself, ordered by address.
    pub providers: Vec<RequiredProvider>,
    /// Why it could not be read, where there is more to say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// What a module of a tree is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ModuleKind {
    /// The root module.
    Root,
    /// A module that a `module` block calls.
    Call,
    /// A test file.
    Test,
    /// A module that a `run` block of a test file calls.
    Run,
    /// The state.
    State,
}

/// A provider that is required.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RequiredProvider {
    /// The provider, with its registry.
    pub provider: String,
    /// What its version must meet, all conditions together; empty if any version will do.
    pub constraints: String,
}
