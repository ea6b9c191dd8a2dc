//! What the programs will do with a lock file, route by route.

use schemars::JsonSchema;
use serde::Serialize;

/// What will happen with one provider on one platform, by one route.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct MatrixRow {
    /// The provider, with its registry.
    pub provider: String,
    /// The platform, as in `linux_amd64`.
    pub platform: String,
    /// By which way.
    pub route: Route,
    /// What happens.
    pub outcome: Outcome,
    /// The title of the warning or error that the program prints, if it prints one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Nothing is recorded that the package could be compared with.
    pub unchecked: bool,
    /// It is not certain, because nothing here tells whose the recorded hashes are, what the registry
    /// states, or what else is required; too few hashes count as missing.
    pub assumed: bool,
}

/// A way by which a program meets a lock file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Route {
    /// `init`, downloading from a registry that signs its checksums.
    Registry,
    /// `init`, from a filesystem mirror of unpacked packages.
    UnpackedMirror,
    /// `init`, from a filesystem mirror of zips.
    PackedMirror,
    /// `init`, downloading, with a plugin cache directory that holds the package.
    PluginCache,
    /// `init -lockfile=readonly`, downloading.
    Readonly,
    /// `plan`, with the right package installed.
    Plan,
    /// `plan` after `init -lockfile=readonly`.
    PlanAfterInit,
    /// `validate`, with the right package installed.
    Validate,
}

/// What happens by a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// It succeeds and changes no file.
    Passes,
    /// It succeeds and changes the lock file.
    Rewrites,
    /// It succeeds with a warning and leaves the lock file as it is, although it would change it.
    Warns,
    /// It fails and changes no file.
    Fails,
}
