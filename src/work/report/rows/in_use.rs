//! Versions that the roots of a run lock, provider by provider, for `lock` and `update`.

use serde::{Serialize, Serializer};

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

/// A provider that roots lock at different versions.
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

fn program<S: Serializer>(program: &Program, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(match program {
        Program::Terraform => "terraform",
        Program::OpenTofu => "opentofu",
    })
}
