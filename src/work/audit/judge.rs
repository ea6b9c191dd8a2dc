//! The comparison of a version with one module of an advisory.

use super::range::{RangePlace, VersionRange, place_in};
use super::{Advisory, AffectedModule, GoModulePath, GoVersion};
use crate::contents::BuildInfo;

impl AffectedModule {
    /// Returns true if the module covers the major version of a provider (rules 3.2).
    pub(super) fn covers(
        &self,
        advisory: &Advisory,
        version: &GoVersion,
        built: Option<&GoModulePath>,
    ) -> bool {
        // The build information names the path, so the number of the release does not matter.
        if built.is_some_and(|built| built.is_same(&self.path)) {
            return true;
        }
        match self.path.major() {
            Some(major) => major == version.major(),
            None if version.major() <= 1 => true,
            // Many providers have no suffix in their path although they are at version 5. If the advisory lists
            // suffixes, this provider uses them.
            None => !advisory
                .modules
                .iter()
                .any(|other| other.path.base() == self.path.base() && other.path.major().is_some()),
        }
    }

    /// Judges a version of a module in a program.
    pub(super) fn judge_module(&self, version: &GoVersion) -> RangePlace {
        let ranges = if self.custom_count(version) {
            &self.custom_ranges
        } else {
            &self.ranges
        };
        self.judge_in(ranges, version)
    }

    /// Judges a release of a provider, with the build information of a package if that is known.
    pub(super) fn judge_release(
        &self,
        version: &GoVersion,
        build: Option<&BuildInfo>,
    ) -> RangePlace {
        if self.custom_count(version) {
            return self.judge_in(&self.custom_ranges, version);
        }
        // In Go, a path without suffix has no version 7.1.0. Its limits are pseudo-versions, which name a commit and
        // sort before every such release (rules 4.4).
        let is_beyond = self.path.major().is_none() && version.major() >= 2;
        let Some(fix) = self.commit_limit().filter(|_| is_beyond) else {
            return self.judge_in(&self.ranges, version);
        };
        // The commit decides that the build was made from.
        let Some(build) = build else {
            return RangePlace::Unknown;
        };
        let built = build
            .main
            .as_ref()
            .and_then(|main| GoVersion::parse(&main.version));
        // `v7.1.0+incompatible` sorts after all pseudo-versions of majors 0 and 1, and would always count as fixed.
        if let Some(built) = built.filter(|built| built.major() <= 1) {
            return place_in(&self.ranges, &built);
        }
        let Some((moment, commit)) = fix.commit() else {
            return RangePlace::Unknown;
        };
        if build
            .commit()
            .is_some_and(|built| built.starts_with(commit))
        {
            return RangePlace::Outside;
        }
        match build.time().and_then(digits) {
            Some(time) if *time < *moment => RangePlace::Inside(Some(fix.clone())),
            // Go also compares pseudo-versions by their timestamps.
            Some(_) => RangePlace::Outside,
            None => RangePlace::Unknown,
        }
    }

    /// Returns true if the custom ranges decide (rules 4.3).
    fn custom_count(&self, version: &GoVersion) -> bool {
        let is_release = version.commit().is_none();
        // By the main ranges, all Go module versions are affected.
        let has_no_limit =
            !self.ranges.iter().any(VersionRange::is_limited) && self.versions.is_empty();
        !self.custom_ranges.is_empty()
            && (has_no_limit || is_release && self.commit_limit().is_some())
    }

    /// Returns the last limit if all limits are pseudo-versions.
    fn commit_limit(&self) -> Option<&GoVersion> {
        let limits = || self.ranges.iter().flat_map(VersionRange::limits);
        let are_commits = limits().all(|limit| limit.commit().is_some());
        limits().max().filter(|_| are_commits)
    }

    fn judge_in(&self, ranges: &[VersionRange], version: &GoVersion) -> RangePlace {
        // A listed version is affected even if no range contains it (rules 4.1), and the list names no fix.
        if self.versions.contains(version) {
            return RangePlace::Inside(None);
        }
        if ranges.is_empty() && self.versions.is_empty() {
            return if self.is_not_comparable {
                RangePlace::Unknown
            } else {
                RangePlace::Inside(None)
            };
        }
        place_in(ranges, version)
    }
}

/// Returns a time in UTC as the 14 digits of a pseudo-version.
fn digits(time: &str) -> Option<String> {
    let time = time.strip_suffix('Z')?;
    let digits = String::from_iter(time.chars().filter(char::is_ascii_digit).take(14));
    (digits.len() == 14).then_some(digits)
}
