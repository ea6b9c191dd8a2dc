//! Ranges of versions, made of events in the order of versions.

use super::GoVersion;

/// A range of versions (rules 4).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VersionRange {
    // Invariant: sorted by version, events of one version in the order of the advisory.
    events: Vec<RangeEvent>,
    /// Some event could not be read.
    is_faulty: bool,
}

/// A version where a range begins or ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RangeEvent {
    /// From this version on, every version is affected; `None` is before all versions.
    Introduced(Option<GoVersion>),
    /// From this version on, no version is affected.
    Fixed(GoVersion),
    /// After this version, no version is affected.
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

/// The position of a version relative to ranges.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum RangePlace {
    Outside,
    /// The version is affected; the value is the fixed version, if there is one.
    Inside(Option<GoVersion>),
    /// An event that could not be read may be before or after the version.
    Unknown,
}

impl VersionRange {
    /// Makes a range of events in any order; `is_faulty` is true if other events could not be read.
    pub fn new(mut events: Vec<RangeEvent>, is_faulty: bool) -> Self {
        events.sort_by(|left, right| left.version().cmp(&right.version()));
        // A range without a beginning would contain no version, and hide the advisory.
        let begins = events
            .iter()
            .any(|event| matches!(event, RangeEvent::Introduced(_)));
        Self {
            events,
            is_faulty: is_faulty || !begins,
        }
    }

    /// Returns true if the range ends, or begins after the first version.
    pub fn is_limited(&self) -> bool {
        self.is_faulty || self.limits().next().is_some()
    }

    /// Returns the versions where the range begins or ends.
    pub fn limits(&self) -> impl Iterator<Item = &GoVersion> {
        self.events.iter().filter_map(RangeEvent::version)
    }

    /// Determines the position of a version relative to the range.
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
                // The events are sorted, so the first fix after the version is the nearest.
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

/// Determines the position of a version relative to several ranges: inside if any contains it.
pub(super) fn place_in(ranges: &[VersionRange], version: &GoVersion) -> RangePlace {
    let mut place = RangePlace::Outside;
    for range in ranges {
        match (range.place(version), &mut place) {
            (RangePlace::Outside, _) => {}
            // The version is in two ranges, and only the later fix ends both.
            (RangePlace::Inside(fixed), RangePlace::Inside(before)) => {
                *before = before
                    .take()
                    .zip(fixed)
                    .map(|(left, right)| left.max(right));
            }
            // Another range contains the version, so it is affected even if this faulty one does not (rules 4.1).
            (RangePlace::Unknown, RangePlace::Inside(_)) => {}
            (found, place) => *place = found,
        }
    }
    place
}
