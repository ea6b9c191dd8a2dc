//! Versions and constraint sets: syntax, order, matching, canonical text.
//!
//! The [`rules`] that it follows are neither SemVer nor Cargo's language:
//! `1.0` is a version, `1.0.0-beta` is below `1.0.0-alpha.1`, and a pre-release is selected only
//! where it is named. Three grammars for constraints exist, and each has its own function:
//!
//! | where the text is | read with |
//! | --- | --- |
//! | `constraints` in a lock file | [`Constraints::parse_lock`] |
//! | `version` of a required provider | [`Constraints::parse_config`] |
//! | `required_version` | [`CoreConstraints::parse_required`] |
//! | `version` of a module call | [`CoreConstraints::parse`] |
//!
//! Invariant of the room: what is parsed can be printed, and what is printed parses to the same.

mod constraint;
mod core;
mod error;
mod order;
mod raise;
mod scan;
mod scope;
mod step;

pub mod rules {
    #![doc = include_str!("rules.md")]
}

use std::cmp::Ordering;
use std::fmt;

pub use self::constraint::{Constraint, Constraints, Operator, VersionRefusal};
pub use self::core::CoreConstraints;
pub use self::error::{ConstraintError, VersionError};
pub use self::raise::{ConstraintForm, RaiseError, raise};
pub use self::scope::{ScopeChange, scope_change};
pub use self::step::{Upgrade, VersionStep, step};

use self::error::VersionFault;
use self::order::{Metadata, Prerelease};

/// An exact version of a provider, a module or a program, e.g. `2.0.0-beta1`.
///
/// Equality covers everything, metadata too. The total order of this type is the one of
/// canonical constraint text: [`precedence`](Self::precedence), then metadata, none first.
///
/// Among versions that differ only in metadata the programs select at random where the source
/// has no order (rules 2.5). lockctl always takes the greatest in this order.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version {
    /// The major number, 1 in `1.2.3`.
    pub major: u64,
    /// The minor number, 2 in `1.2.3`.
    pub minor: u64,
    /// The patch number, 3 in `1.2.3`.
    pub patch: u64,
    prerelease: Prerelease,
    metadata: Metadata,
}

impl Version {
    /// Makes a release without metadata.
    ///
    /// ```
    /// use lockctl_core::version::Version;
    ///
    /// assert_eq!(Version::release(1, 2, 3), "1.2.3".parse()?);
    /// # Ok::<(), lockctl_core::version::VersionError>(())
    /// ```
    #[must_use]
    pub fn release(major: u64, minor: u64, patch: u64) -> Self {
        Self {
            major,
            minor,
            patch,
            prerelease: Prerelease::default(),
            metadata: Metadata::default(),
        }
    }

    /// Returns the pre-release as it was written, without its `-`; empty for a release.
    #[must_use]
    pub fn prerelease(&self) -> &str {
        &self.prerelease.0
    }

    /// Returns the metadata as it was written, without its `+`; empty if there is none.
    #[must_use]
    pub fn metadata(&self) -> &str {
        &self.metadata.0
    }

    /// Returns whether this is a pre-release.
    #[must_use]
    pub fn is_prerelease(&self) -> bool {
        !self.prerelease().is_empty()
    }

    /// Returns whether this is exactly `0.0.0`, which the programs read as "no version".
    ///
    /// It may be in a lock file but can never be selected (rules 1.6).
    #[must_use]
    pub fn is_unspecified(&self) -> bool {
        *self == Self::release(0, 0, 0)
    }

    /// Returns the three numbers alone, as a release.
    ///
    /// `required_version` is checked against this form of a program's version.
    #[must_use]
    pub fn without_suffixes(&self) -> Self {
        Self::release(self.major, self.minor, self.patch)
    }

    /// Returns the lowest release above: behind the highest patch comes the next minor version.
    fn next_release(&self) -> Option<Self> {
        let Self {
            major,
            minor,
            patch,
            ..
        } = *self;
        let next = patch
            .checked_add(1)
            .map(|patch| (major, minor, patch))
            .or_else(|| Some((major, minor.checked_add(1)?, 0)))
            .or_else(|| Some((major.checked_add(1)?, 0, 0)))?;
        Some(Self::release(next.0, next.1, next.2))
    }

    /// Compares as the range operators do: without metadata.
    ///
    /// Numbers come first, and a pre-release is below its release. Two pre-releases follow a
    /// rule that is not SemVer's (rules 2.2): the one with fewer parts is lower.
    #[must_use]
    pub fn precedence(&self, other: &Self) -> Ordering {
        let numbers = |version: &Self| (version.major, version.minor, version.patch);
        numbers(self)
            .cmp(&numbers(other))
            .then_with(|| self.prerelease.cmp(&other.prerelease))
    }

    /// Writes what follows the numbers.
    fn write_suffixes(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_prerelease() {
            write!(f, "-{}", self.prerelease())?;
        }
        if !self.metadata().is_empty() {
            write!(f, "+{}", self.metadata())?;
        }
        Ok(())
    }
}

impl fmt::Display for Version {
    /// Writes the canonical text, the only one that a lock file may hold.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)?;
        self.write_suffixes(f)
    }
}

impl std::str::FromStr for Version {
    type Err = VersionError;

    /// Reads an exact version by the grammar of rules 1.
    ///
    /// Missing numbers are zero, and leading zeros, one dot at the very end and empty suffixes
    /// are dropped; so a text is canonical only if it equals what it parses to.
    ///
    /// ```
    /// use lockctl_core::version::Version;
    ///
    /// assert_eq!("01.2".parse::<Version>()?.to_string(), "1.2.0");
    /// assert!("v1.2.0".parse::<Version>().is_err());
    /// # Ok::<(), lockctl_core::version::VersionError>(())
    /// ```
    fn from_str(text: &str) -> Result<Self, VersionError> {
        let error = |reason| VersionError::new(text, reason);
        if text.trim().is_empty() {
            return Err(error(VersionFault::Empty));
        }
        // Terraform 1.11.4 overlooks white space at the start, but none of ASCII.
        let is_overlooked = |c: char| c.is_whitespace() && !c.is_ascii();
        let scanned = scan::version(text.trim_start_matches(is_overlooked)).map_err(error)?;
        if scanned.rest.is_empty() {
            Ok(scanned.version)
        } else {
            Err(error(VersionFault::Malformed))
        }
    }
}

#[cfg(test)]
mod tests;
