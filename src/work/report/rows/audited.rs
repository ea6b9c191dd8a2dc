//! Rows about known vulnerabilities.

use std::sync::Arc;

use serde::Serialize;

use crate::addr::ProviderAddr;
use crate::version::Version;

/// An entry of the lock file with the advisories that concern it.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct AuditedProvider {
    /// The provider, with its registry.
    pub provider: ProviderAddr,
    /// The version that is locked.
    pub version: Version,
    /// The state of the contents of its packages; if they are unknown, only the provider level was compared.
    pub contents: ContentsState,
    /// The advisories: the provider level first, then by identifier. An empty list does not prove that there are none.
    pub advisories: Vec<AuditedAdvisory>,
}

/// The state of the contents of the packages of a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ContentsState {
    /// The build information of at least one package is known.
    Known,
    /// The packages were not read, or hold no build information.
    Unknown,
}

/// An advisory that concerns, or may concern, a version in a root.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct AuditedAdvisory {
    /// The advisory with its verdict on the version.
    #[serde(flatten)]
    pub advisory: Arc<AdvisoryRow>,
    /// True if it makes the exit code 1.
    pub counts: bool,
    /// The reason why the project file ignores the advisory; absent if it does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ignored: Option<String>,
    /// The command that moves to the fixed version; absent if there is none, or if a constraint excludes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The command that does the same in all roots of the run.
    #[serde(skip)]
    pub command_for_all: Option<String>,
    /// The constraint that excludes the fixed version, with its place; absent if none does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub excluded_by: Option<String>,
    /// The constraint without its place, which differs from root to root.
    #[serde(skip)]
    pub constraint: Option<String>,
}

/// An advisory with its verdict on a version; the same in every root.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "Advisory"))]
pub struct AdvisoryRow {
    /// The level: `provider`, `stdlib` or `dependency`.
    pub level: &'static str,
    /// The identifier of the advisory, e.g. `GO-2025-4152`.
    pub id: String,
    /// Identifiers of the same vulnerability in other databases.
    pub aliases: Vec<String>,
    /// The verdict on this version.
    pub status: AdvisoryStatus,
    /// The reason why the verdict is unknown; absent if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<&'static str>,
    /// The Go module that it is about; `stdlib` is the standard library.
    pub module: String,
    /// The compared version of the module; for the standard library, the version of Go.
    pub module_version: String,
    /// The version that fixes it; absent if none is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fixed: Option<String>,
    /// The vulnerability in one sentence; may be empty.
    pub summary: String,
    /// The page of the advisory; empty if none is known.
    pub url: String,
}

/// The verdict of an advisory on a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum AdvisoryStatus {
    /// The version is affected.
    Affected,
    /// The available data does not show if the version is affected.
    Unknown,
}
