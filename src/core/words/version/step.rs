//! Distance between two versions, for reviewers of an upgrade.

use std::cmp::Ordering;

use super::Version;

/// The kind of change from one version to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VersionStep {
    /// The versions are equal.
    Same,
    /// To a lower version: any of its numbers is lower.
    Down,
    /// To a higher version, or to one with other metadata.
    Up(Upgrade),
}

/// The size of an upgrade.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", schemars(rename = "Step"))]
pub enum Upgrade {
    /// Only metadata changed, which has no order.
    Metadata,
    /// Between pre-releases of one release, or from one to the release.
    Prerelease,
    /// In the third number.
    Patch,
    /// In the second number.
    Minor,
    /// In the first number.
    Major,
}

impl Upgrade {
    /// Returns its name, a kebab-case word.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Metadata => "metadata",
            Self::Prerelease => "prerelease",
            Self::Patch => "patch",
            Self::Minor => "minor",
            Self::Major => "major",
        }
    }
}

/// Judges a change of version by Semantic Versioning.
///
/// This is for readers, not for selecting: from `1.0.0-alpha.1` to `1.0.0-beta` is up here, as
/// the author meant it, although the programs order these two the other way. Where one version
/// is not well-formed SemVer, as `1.0.0-01`, the order of the programs decides.
///
/// ```
/// use lockctl_core::version::{VersionStep, Upgrade, Version, step};
///
/// let (old, new) = (Version::release(1, 9, 0), Version::release(1, 10, 0));
/// assert_eq!(step(&old, &new), VersionStep::Up(Upgrade::Minor));
/// ```
#[must_use]
pub fn step(from: &Version, to: &Version) -> VersionStep {
    let order = match (well_formed(from), well_formed(to)) {
        (Some(from), Some(to)) => to.cmp_precedence(&from),
        _ => to.precedence(from),
    };
    match order {
        Ordering::Less => VersionStep::Down,
        Ordering::Equal if from == to => VersionStep::Same,
        Ordering::Equal => VersionStep::Up(Upgrade::Metadata),
        Ordering::Greater if from.major != to.major => VersionStep::Up(Upgrade::Major),
        Ordering::Greater if from.minor != to.minor => VersionStep::Up(Upgrade::Minor),
        Ordering::Greater if from.patch != to.patch => VersionStep::Up(Upgrade::Patch),
        Ordering::Greater => VersionStep::Up(Upgrade::Prerelease),
    }
}

/// Returns the version as SemVer sees it, if it does.
fn well_formed(version: &Version) -> Option<semver::Version> {
    semver::Version::parse(&version.to_string()).ok()
}
