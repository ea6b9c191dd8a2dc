//! The lock file against everything it must fit: findings, each with a rule, a place and the
//! command that repairs it.
//!
//! [`run`] does all checks of one root, in groups, and decides their order. What it compares are
//! values ([`RootInputs`]): the room knows nothing of how a configuration or a lock file is found and
//! read. Of the outside it sees only what its caller hands over: the disk on which [`packages`] are
//! hashed, and the registries that [`upstream`] asks. [`fix`] plans repairs; it writes nothing.

pub mod ages;
pub mod configuration;
mod core_version;
pub mod file;
pub mod fix;
mod foreign;
mod groups;
mod hosts;
mod inputs;
pub mod keys;
mod known;
pub mod levels;
mod look_alike;
pub mod matrix;
mod missing;
pub mod packages;
pub mod platforms;
pub mod policy;
mod roots;
mod run;
pub mod signed;
mod stated;
mod subject;
pub mod upstream;

pub use crate::diag::Finding;
pub use groups::{Group, Groups};
pub use inputs::{ConfigurationInput, LockInput, RootInputs};
pub use known::{KnownHashes, MachineFacts, Machines, PackageForm, RefusedPackages, SourcePackage};
pub use roots::{ComparedRoot, compare_versions, unplaced_everywhere};
pub use run::{CheckError, Checks, PackageChecks, PackagesVerdict, RootVerdict, Upstream, run};
pub use subject::{Advice, Subject};
