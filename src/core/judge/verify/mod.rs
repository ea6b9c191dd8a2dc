//! The lock file against everything it must fit: findings, each with a rule, a place and the
//! command that repairs it.
//!
//! [`run`] does all checks of one root, in groups, and decides their order. What it compares are
//! values ([`RootInputs`]): the room knows nothing of how a configuration or a lock file is found and
//! read. What packages on this machine and registries say comes from the [`SourceChecks`] of its caller.
//! [`fix`] plans repairs; it writes nothing.

#[doc(hidden)]
pub mod ages;
#[doc(hidden)]
mod builds;
mod carried;
pub mod configuration;
mod core_version;
pub mod expiry;
#[doc(hidden)]
pub mod file;
#[doc(hidden)]
pub mod fix;
mod foreign;
mod groups;
mod hosts;
mod ignored;
mod inputs;
mod known;
#[doc(hidden)]
pub mod levels;
pub mod look_alike;
#[doc(hidden)]
pub mod matrix;
mod memory;
mod missing;
mod moved;
mod offline_policy;
#[doc(hidden)]
mod pins;
pub mod platforms;
#[doc(hidden)]
pub mod policy;
mod roots;
mod run;
#[doc(hidden)]
pub mod signed;
#[doc(hidden)]
pub mod signers;
mod source_checks;
mod subject;
mod tracked;

pub use crate::diag::Finding;
pub use groups::{CheckGroup, Groups};
pub use inputs::{IgnoredLock, RootInputs};
pub use known::{
    AlteredPackage, AskedAttestations, CarriedHashes, ClaimGaps, KeyEnds, KnownHashes,
    LockedAttestations, LockedBuilds, LockedReleases, LockedSigners, MachineFacts, Machines,
    PackageFacts, PackageOrigin, PackagesVerdict, RefusedPackages, SourcePackage,
};
pub use memory::{KnownOrigins, steps_down};
pub use roots::{
    ComparedRoot, compare_versions, find_locks_in_modules, find_unused_entries, unplaced_everywhere,
};
pub use run::{RootVerdict, WantedChecks, run};
pub use source_checks::{CheckedPackages, NoSources, SourceChecks};
pub use subject::{Advice, CheckedLock};
