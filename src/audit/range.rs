//! Ranges of versions, as events on the line of versions.

use super::GoVersion;

/// A range of versions (rules 4).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VersionRange {
    // Invariant: sorted by version, events of one version in the order of the advisory.
    events: Vec<RangeEvent>,
    /// Some event could not be read.
    is_faulty: bool,
}

/// A place on the line of versions at which something changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RangeEvent {
    /// From this version on, every version is affected; `None` is before all versions.
    Introduced(Option<GoVersion>),
    /// From this version on, none is.
    Fixed(GoVersion),
    /// After this version, none is.
    LastAffected(GoVersion),
}

impl RangeEvent {
    fn version(&self) -> Option<&GoVersion> {
        match self {
            Self::Introduced(version) => version.as_ref(),
            Self::Fixed(version) | Self::LastAffected(version) => Some(version),
        }
    }
}

/// The place of a version in some ranges.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum RangePlace {
    Outside,
    /// Affected, up to the version that fixes it, if there is one.
    Inside(Option<GoVersion>),
    /// An event that could not be read may be before or after it.
    Unknown,
}

impl VersionRange {
    /// Makes a range of events in any order; `is_faulty` says that more events were stated than could be read.
    #[must_use]
    pub fn new(mut events: Vec<RangeEvent>, is_faulty: bool) -> Self {
        events.sort_by(|left, right| left.version().cmp(&right.version()));
        // A range that nothing begins would hold no version at all, and hide the advisory.
        let begins = events
            .iter()
            .any(|event| matches!(event, RangeEvent::Introduced(_)));
        Self {
            events,
            is_faulty: is_faulty || !begins,
        }
    }

    /// Returns true if it ends, or begins after the first version.
    #[must_use]
    pub fn is_limited(&self) -> bool {
        self.is_faulty || self.limits().next().is_some()
    }

    /// Returns the versions at which something changes.
    pub fn limits(&self) -> impl Iterator<Item = &GoVersion> {
        self.events.iter().filter_map(RangeEvent::version)
    }

    /// Finds a version in a range.
    pub(super) fn place(&self, version: &GoVersion) -> RangePlace {
        if self.is_faulty {
            return RangePlace::Unknown;
        }
        let mut is_inside = false;
        let mut fixed = None;
        for event in &self.events {
            match event {
                RangeEvent::Introduced(from) => {
                    if from.as_ref().is_none_or(|from| from <= version) {
                        is_inside = true;
                    }
                }
                RangeEvent::Fixed(end) if end <= version => is_inside = false,
                RangeEvent::LastAffected(last) if last < version => is_inside = false,
                // The first fix behind the version is the nearest one: the events are sorted.
                RangeEvent::Fixed(end) => {
                    fixed.get_or_insert_with(|| end.clone());
                }
                RangeEvent::LastAffected(_) => {}
            }
        }
        if is_inside {
            RangePlace::Inside(fixed)
        } else {
            RangePlace::Outside
        }
    }
}

/// Finds a version in several ranges: it is inside if it is in any of them.
pub(super) fn place_in(ranges: &[VersionRange], version: &GoVersion) -> RangePlace {
    let mut place = RangePlace::Outside;
    for range in ranges {
        match (range.place(version), &mut place) {
            (RangePlace::Outside, _) => {}
            // In two ranges at once, only the later fix ends both.
            (RangePlace::Inside(fixed), RangePlace::Inside(before)) => {
                *before = before
                    .take()
                    .zip(fixed)
                    .map(|(left, right)| left.max(right));
            }
            // One range has the version, and a faulty one cannot take it out of that (rules 4.1).
            (RangePlace::Unknown, RangePlace::Inside(_)) => {}
            (found, place) => *place = found,
        }
    }
    place
}
