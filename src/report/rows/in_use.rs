//! Versions that the roots of a run lock, provider by provider, for `lock` and `update`.

use serde::{Serialize, Serializer};

use super::HoldingPlace;
use crate::addr::ProviderAddr;
use crate::flavor::Program;
use crate::version::Version;

/// The versions that several roots lock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VersionsInUse {
    /// Number of roots that were compared.
    pub roots: usize,
    /// Number of roots that are left out, because the versions that they lock are unknown.
    pub left_out: usize,
    /// Number of providers that are locked at one version wherever they are locked.
    pub agreed: usize,
    /// The other providers, by address.
    pub differing: Vec<ProviderInUse>,
}

/// A provider of which roots lock different versions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ProviderInUse {
    /// The provider, with its registry.
    pub provider: ProviderAddr,
    /// The program whose roots these are, `terraform` or `opentofu`; roots of the other one are not
    /// compared with them.
    #[serde(serialize_with = "program")]
    #[cfg_attr(test, schemars(with = "String"))]
    pub program: Program,
    /// The versions that are locked after the run, or would be, the newest first; at least two.
    pub versions: Vec<VersionInUse>,
    /// Commands that move older roots to the newest of these versions that their constraints allow.
    pub moves: Vec<VersionMove>,
    /// The roots whose constraints do not allow the newest of these versions.
    pub held_back: Vec<HeldBackRoot>,
}

/// A version of a provider, with the roots that lock it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct VersionInUse {
    /// The version that is locked.
    pub version: Version,
    /// The roots, in the order of the run.
    pub roots: Vec<String>,
}

/// Roots that can be moved to a version that other roots lock.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct VersionMove {
    /// The version that they can be moved to.
    pub to: Version,
    /// The roots, in the order of the run.
    pub roots: Vec<String>,
    /// The command that moves them, as it can be typed where this run was started.
    pub command: String,
    /// Number of roots, or directories with roots, that the command names.
    #[serde(skip)]
    pub places: usize,
}

/// A root whose constraints do not allow the newest version that other roots lock.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct HeldBackRoot {
    /// The path of the root.
    pub root: String,
    /// The version that it locks.
    pub version: Version,
    /// The newest version that other roots lock; a pre-release only if a constraint of the root names it
    /// exactly.
    pub newest: Version,
    /// Every requirement whose constraints exclude that version.
    pub held_by: Vec<HoldingPlace>,
}

fn program<S: Serializer>(program: &Program, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(match program {
        Program::Terraform => "terraform",
        Program::OpenTofu => "opentofu",
    })
}
