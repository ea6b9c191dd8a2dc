//! Known vulnerabilities: advisories of the Go vulnerability database against provider releases.
//!
//! Everything of a database may be hostile: reading it is bounded by named limits, and its order changes nothing. A
//! release is judged on three levels that are never mixed ([`AuditLevel`]). The absence of an advisory says nothing:
//! contents that are not known are said to be unknown by the caller.

mod advisory;
mod database;
mod go_version;
mod index;
mod judge;
mod module_path;
mod range;
mod release;
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

/// The part of a provider that an advisory is about; the later, the closer to the provider itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AuditLevel {
    /// A module in the program: it is there, and may or may not be reached.
    Dependency,
    /// The standard library of the Go version that built the program.
    StandardLibrary,
    /// The module of the provider itself.
    Provider,
}

impl AuditLevel {
    /// Every level, the most important first.
    pub const ALL: [Self; 3] = [Self::Provider, Self::StandardLibrary, Self::Dependency];

    /// Returns the word for it in options and output.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Provider => "provider",
            Self::StandardLibrary => "stdlib",
            Self::Dependency => "dependency",
        }
    }
}
