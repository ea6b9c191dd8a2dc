//! The modules of a root, for `tree`.

use std::path::Path;
use std::sync::Arc;

use serde::Serialize;

pub use crate::config::BranchKind as ModuleKind;

use crate::addr::ProviderAddr;
use crate::config::{Branch, ComputedCall, FetchedModule};
use crate::version::Constraints;

/// A module, a test file or the state, with what it requires by itself.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "Module"))]
pub struct ModuleRow {
    /// The kind of the module.
    pub kind: ModuleKind,
    /// The same as `module`.
    pub path: String,
    /// Its address, as in `module.network`; empty for the root module, `state` for the state.
    pub module: String,
    /// Its source as written, or the file of a state; null if it has none, or none that can be determined.
    pub source: Option<String>,
    /// The computation of its source and its version; absent if they are written as they are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub computed: Option<Arc<ComputedCall>>,
    /// The package that was fetched for it; absent if it is on the disk or is not visible.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fetched: Option<FetchedPackageRow>,
    /// Its directory, from the root on; that of a fetched module is where installing would put it; null where
    /// it has none or is not there.
    pub dir: Option<String>,
    /// True if it could be read.
    pub seen: bool,
    /// The providers that it requires by itself, ordered by address.
    pub providers: Vec<RequiredProviderRow>,
    /// The reason why it could not be read, where there is more to say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// The package of a module that is not installed.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "FetchedPackage"))]
pub struct FetchedPackageRow {
    /// The name of the package in messages.
    pub package: String,
    /// The version that was selected, for a module of a registry.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The id of the commit, for a module of a repository.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
}

impl FetchedPackageRow {
    fn of(fetched: &FetchedModule) -> Self {
        Self {
            package: fetched.package.to_string(),
            version: fetched.version.as_ref().map(ToString::to_string),
            commit: fetched.commit.as_deref().map(str::to_owned),
        }
    }
}

impl ModuleRow {
    /// Describes a branch of the tree of modules.
    #[must_use]
    pub fn of(branch: &Branch) -> Self {
        let providers = branch.providers.iter();
        let reason = branch.unseen.filter(|why| !why.is_empty());
        Self {
            kind: branch.kind,
            path: branch.address(),
            module: branch.address(),
            source: branch.source.clone(),
            computed: branch.computed.clone(),
            fetched: branch.fetched.as_ref().map(FetchedPackageRow::of),
            dir: branch.dir.as_deref().map(shown_dir),
            seen: branch.unseen.is_none(),
            providers: providers
                .map(|(provider, own)| RequiredProviderRow {
                    provider: provider.clone(),
                    constraints: own.clone(),
                })
                .collect(),
            reason: reason.map(str::to_owned),
        }
    }
}

/// A provider that is required.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "RequiredProvider"))]
pub struct RequiredProviderRow {
    /// The provider, with its registry.
    pub provider: ProviderAddr,
    /// All conditions on its version together; empty if any version is allowed.
    pub constraints: Constraints,
}

/// Returns the directory of a module as it is shown: from the root on.
#[must_use]
pub fn shown_dir(dir: &Path) -> String {
    match dir.display() {
        _ if dir.as_os_str().is_empty() => ".".to_owned(),
        shown => shown.to_string(),
    }
}
