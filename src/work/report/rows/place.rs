//! Places that require a provider, for `why`.

use std::sync::Arc;

use serde::Serialize;

use crate::addr::ProviderAddr;
use crate::config::ComputedCall;
use crate::diag::{FileId, Span, Texts};
pub use crate::requirement::RequirementOrigin as PlaceKind;
use crate::version::{Constraints, Version};

/// A provider with everything that requires it.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ExplainedProvider {
    /// The provider, with its registry.
    pub provider: ProviderAddr,
    /// All conditions on its version together; empty if any version is allowed.
    pub constraints: Constraints,
    /// True if some version could meet all conditions.
    pub satisfiable: bool,
    /// The version that is locked; null if none is.
    pub version: Option<Version>,
    /// The same version, by its name of old.
    pub locked: Option<Version>,
    /// True if everything that might require it could be read.
    pub complete: bool,
    /// Every place that requires it, those of the state last.
    pub places: Vec<RequiringPlace>,
    /// Places that no version can satisfy together.
    pub clash: Vec<RequiringPlace>,
    /// The modules on the ways to these places whose source or version is computed, each before those that it
    /// calls.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub computed_modules: Vec<ComputedModule>,
    /// Every module call could be followed.
    #[serde(skip)]
    pub are_calls_seen: bool,
}

/// A module that is on the way to a place, and how the call of it was computed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ComputedModule {
    /// The address of the module, as in `module.network`.
    pub module: String,
    /// Its source, with its value; of one that could not be computed, what is installed for it.
    pub source: String,
    /// The computation of its source and its version.
    pub computed: Arc<ComputedCall>,
}

/// A place that requires a provider.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RequiringPlace {
    /// The path of the file.
    pub file: String,
    /// The line, from 1; null for the state.
    pub line: Option<usize>,
    /// The column, from 1, in characters; null for the state.
    pub column: Option<usize>,
    /// The condition that it states; empty if any version is allowed.
    pub constraints: String,
    /// The address of its module, as in `module.network`; empty for the root module, `state` for the state.
    pub module: String,
    /// The kind of the place.
    pub by: PlaceKind,
    /// Places that no longer count because of this one, which is in an override file.
    pub overrides: Vec<Overridden>,
    /// A test file leads there.
    #[serde(skip)]
    pub is_in_test: bool,
}

/// A place in a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "FilePlace"))]
pub struct FilePosition {
    /// The path of the file.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1, in characters.
    pub column: usize,
}

/// A place that an override file replaces.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Overridden {
    /// The file, the line and the column.
    #[serde(flatten)]
    pub place: FilePosition,
    /// The constraints that no longer count, as written; absent if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub constraints: Option<String>,
}

impl FilePosition {
    /// Finds the beginning of a range of text.
    #[must_use]
    pub fn new(file: FileId, span: Span, texts: &Texts) -> Self {
        let at = texts.position(file, span.start);
        Self {
            file: texts.name(file).to_owned(),
            line: at.line,
            column: at.column,
        }
    }
}

impl ExplainedProvider {
    /// Returns whether some version can meet all conditions, and the locked one does.
    #[must_use]
    pub fn is_met(&self) -> bool {
        let is_allowed = |version: &Version| self.constraints.allows(version);
        self.satisfiable && self.locked.as_ref().is_none_or(is_allowed)
    }
}
