//! How far apart two versions are, for people who judge an upgrade.

use std::cmp::Ordering;

use super::Version;

/// What a change from one version to another is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// No change.
    Same,
    /// Only metadata changed, which has no order.
    Metadata,
    /// To a lower version, whichever number sinks.
    Down,
    /// Up between pre-releases of one release, or from one to the release.
    Prerelease,
    /// Up in the third number.
    Patch,
    /// Up in the second number.
    Minor,
    /// Up in the first number.
    Major,
}

/// Judges a change of version by Semantic Versioning.
///
/// This is for readers, not for selecting: from `1.0.0-alpha.1` to `1.0.0-beta` is up here, as
/// the author meant it, although the programs order these two the other way. Where one version
/// is not well-formed SemVer, as `1.0.0-01`, the order of the programs decides.
///
/// ```
/// use lockctl::version::{Step, Version, step};
///
/// assert_eq!(step(&Version::release(1, 9, 0), &Version::release(1, 10, 0)), Step::Minor);
/// ```
#[must_use]
pub fn step(from: &Version, to: &Version) -> Step {
    let order = match (well_formed(from), well_formed(to)) {
        (Some(from), Some(to)) => to.cmp_precedence(&from),
        _ => to.precedence(from),
    };
    match order {
        Ordering::Less => Step::Down,
        Ordering::Equal if from == to => Step::Same,
        Ordering::Equal => Step::Metadata,
        Ordering::Greater if from.major != to.major => Step::Major,
        Ordering::Greater if from.minor != to.minor => Step::Minor,
        Ordering::Greater if from.patch != to.patch => Step::Patch,
        Ordering::Greater => Step::Prerelease,
    }
}

/// Returns the version as SemVer sees it, if it does.
fn well_formed(version: &Version) -> Option<semver::Version> {
    semver::Version::parse(&version.to_string()).ok()
}
