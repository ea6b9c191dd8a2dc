//! Predictions of what the programs will do with a lock file, route by route.

use serde::Serialize;

pub use crate::coverage::{Outcome, Route};

use crate::addr::ProviderAddr;
use crate::platform::Platform;

/// A prediction for one provider on one platform, by one route; or in a whole run, because of all
/// providers.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct MatrixRow {
    /// The provider, with its registry; null for the run as a whole, which has the worst outcome of any
    /// provider.
    #[cfg_attr(test, schemars(schema_with = "nullable_text"))]
    pub provider: Option<ProviderAddr>,
    /// The platform, as in `linux_amd64`.
    pub platform: Platform,
    /// The route of the package.
    pub route: Route,
    /// The outcome for the user.
    pub outcome: Outcome,
    /// The title of the warning or error that the program prints, if it prints one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Nothing is recorded that the package could be compared with.
    pub unchecked: bool,
    /// Not certain, because the platforms of the recorded hashes, the statements of the registry, or other
    /// requirements are unknown; too few hashes count as missing.
    pub assumed: bool,
}

/// The schema of a text that is always there and may be null.
#[cfg(test)]
fn nullable_text(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({ "type": ["string", "null"] })
}
