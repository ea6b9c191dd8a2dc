//! Contents of programs: the build information that Go writes into them.
//!
//! A [`ProgramScanner`] sees the bytes of a program pass by once, in pieces of any size, so that what hashes a package
//! reads this as well. Everything here may be hostile. No input is an error: what cannot be read is
//! [`ProgramContents::Unknown`]. Memory is bounded by [`MAX_TEXT_BYTES`], and time by the length of the input.

mod build_info;
mod executable;
mod parse;
mod quoting;
mod release;
mod scanner;
#[cfg(test)]
mod tests;

pub mod rules {
    #![doc = include_str!("rules.md")]
}

pub use build_info::{BuildInfo, BuiltModule, ModuleReplacement, Setting};
pub use release::{BuildDisagreement, PackageBuild, ReleaseBuilds, without_major};
pub use scanner::{MAX_TEXT_BYTES, ProgramScanner};

/// The contents of a program, as far as they can be known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProgramContents {
    /// Built by Go, with module support or without.
    Go(Box<BuildInfo>),
    /// No Go program, one by Go before 1.18, or one whose build information is missing or damaged.
    Unknown,
}

impl ProgramContents {
    /// The build information, if it is known.
    #[must_use]
    pub fn build_info(&self) -> Option<&BuildInfo> {
        match self {
            Self::Go(info) => Some(info),
            Self::Unknown => None,
        }
    }
}
