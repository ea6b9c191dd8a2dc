//! Known vulnerabilities: advisories of the Go vulnerability database against provider releases.
//!
//! A database is untrusted input: named limits bound the reading, and its order does not change the result. A release
//! is judged on three separate levels ([`AuditLevel`]). A release without advisories is not proven to be safe, so the
//! caller reports which contents are unknown. [`run`] is the job over roots, with the databases that it reads.

mod advisory;
mod database;
mod go_version;
mod index;
mod judge;
mod module_path;
mod range;
mod release;
pub(crate) mod run;
#[cfg(test)]
mod tests;

pub mod rules {
    #![doc = include_str!("rules.md")]
}

pub use advisory::{
    Advisory, AdvisoryError, AffectedModule, MAX_ADVISORY_BYTES, MAX_EVENTS, MAX_MODULES,
};
pub use database::{AdvisoryDatabase, ModuleSelection};
pub use go_version::GoVersion;
pub use index::{
    DatabaseDate, IndexedAdvisory, IndexedModule, MAX_ADVISORIES, MAX_INDEX_BYTES, ModuleIndex,
    is_advisory_id,
};
pub use module_path::GoModulePath;
pub use range::{RangeEvent, VersionRange};
pub use release::{AdvisoryMatch, AuditedRelease, MatchVerdict, UnknownReason, audit};

/// The part of a provider that an advisory is about; later variants are closer to the provider itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AuditLevel {
    /// A module in the program; its code may or may not be reached.
    Dependency,
    /// The standard library of the Go version that built the program.
    StandardLibrary,
    /// The module of the provider itself.
    Provider,
}

impl AuditLevel {
    /// Returns the name of the level in options and output.
    pub fn name(self) -> &'static str {
        match self {
            Self::Provider => "provider",
            Self::StandardLibrary => "stdlib",
            Self::Dependency => "dependency",
        }
    }
}
