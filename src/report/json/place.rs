//! Places that require a provider, for `why`.

use schemars::JsonSchema;
use serde::Serialize;

/// A provider with everything that requires it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ExplainedProvider {
    /// The provider, with its registry.
    pub provider: String,
    /// What its version must meet, all conditions together; empty if any version will do.
    pub constraints: String,
    /// Whether some version could meet all conditions.
    pub satisfiable: bool,
    /// The version that is locked; null if none is.
    pub locked: Option<String>,
    /// Whether everything that might require it could be read.
    pub complete: bool,
    /// Every place that requires it, those of the state last.
    pub places: Vec<RequiringPlace>,
    /// Places that no version can satisfy together.
    pub clash: Vec<RequiringPlace>,
}

/// A place that requires a provider.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RequiringPlace {
    /// The file.
    pub file: String,
    /// The line, from 1; null for the state.
    pub line: Option<usize>,
    /// The column, from 1, in characters; null for the state.
    pub column: Option<usize>,
    /// What it says that the version must meet; empty if any version will do.
    pub constraints: String,
    /// The address of the module that it stands in, as in `module.network`; empty for the root
    /// module, `state` for the state.
    pub module: String,
    /// What kind of place it is.
    pub by: PlaceKind,
    /// Places that no longer count because of this one, which stands in an override file.
    pub overrides: Vec<Overridden>,
}

/// What requires a provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PlaceKind {
    /// An entry of `required_providers`.
    RequiredProviders,
    /// A `provider` block.
    ProviderBlock,
    /// A block of a type that implies the provider.
    Implied,
    /// A resource of the state.
    State,
}

/// A place that an override file replaces.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Overridden {
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1, in characters.
    pub column: usize,
}
