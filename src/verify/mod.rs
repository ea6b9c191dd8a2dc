//! The lock file against everything it must fit: findings, each with a rule, a place and the
//! command that repairs it.
//!
//! [`run`] does all checks of one root, in groups, and decides their order. What it compares are
//! values ([`RootInputs`]): the room knows nothing of how a configuration or a lock file is found and
//! read. Of the outside it sees only what its caller hands over: the disk on which [`packages`] are
//! hashed, and the registries that [`upstream`] asks. [`fix`] plans repairs; it writes nothing.

mod ages;
#[doc(hidden)]
mod builds;
mod carried;
pub mod configuration;
mod core_version;
#[doc(hidden)]
pub mod file;
#[doc(hidden)]
pub mod fix;
mod foreign;
mod groups;
mod hosts;
mod ignored;
mod inputs;
mod keys;
mod known;
#[doc(hidden)]
pub mod levels;
pub mod look_alike;
#[doc(hidden)]
pub mod matrix;
mod missing;
mod offline_policy;
#[cfg(feature = "fetch")]
#[doc(hidden)]
pub mod packages;
#[doc(hidden)]
pub mod platforms;
#[doc(hidden)]
pub mod policy;
mod roots;
mod run;
#[doc(hidden)]
pub mod signed;
mod signers;
#[cfg_attr(not(feature = "fetch"), path = "no_source_checks.rs")]
mod source_checks;
#[cfg(feature = "fetch")]
mod stated;
mod subject;
mod tracked;
#[cfg(feature = "fetch")]
#[doc(hidden)]
pub mod upstream;

pub use crate::diag::Finding;
pub use groups::{CheckGroup, Groups};
pub use inputs::{ConfigurationInput, IgnoredLock, LockInput, RootInputs};
pub use known::{
    AlteredPackage, CarriedHashes, ClaimGaps, KnownHashes, LockedBuilds, LockedReleases,
    MachineFacts, Machines, PackageForm, RefusedPackages, SourcePackage,
};
pub use offline_policy::UncheckedPolicy;
#[cfg(feature = "fetch")]
pub use roots::unplaced_everywhere;
pub use roots::{CallingRoot, ComparedRoot, compare_versions, find_locks_in_modules};
pub use run::{RootVerdict, WantedChecks, run};
pub use source_checks::{CheckError, PackagesVerdict, SourceChecks};
#[cfg(feature = "fetch")]
pub use source_checks::{PackageChecks, Upstream};
pub use subject::{Advice, CheckedLock};
