//! The order of what follows the numbers of a version (rules 2).

use std::cmp::Ordering;

/// The text behind the `-` of a version; empty for a release, which is the greatest.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Prerelease(pub(super) Box<str>);

/// The text behind the `+` of a version; empty for none, which is the lowest.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Metadata(pub(super) Box<str>);

impl Ord for Prerelease {
    fn cmp(&self, other: &Self) -> Ordering {
        let release_last = self.0.is_empty().cmp(&other.0.is_empty());
        release_last.then_with(|| by_parts(&self.0, &other.0))
    }
}

impl PartialOrd for Prerelease {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Metadata {
    fn cmp(&self, other: &Self) -> Ordering {
        by_parts(&self.0, &other.0)
    }
}

impl PartialOrd for Metadata {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Compares part by part; a suffix with fewer dots is always lower.
fn by_parts(left: &str, right: &str) -> Ordering {
    // Most are empty, and versions are the keys of long tables.
    if left == right {
        return Ordering::Equal;
    }
    let (mut left, mut right) = (left, right);
    loop {
        match (left.split_once('.'), right.split_once('.')) {
            (None, None) => return by_part(left, right),
            // So `beta` is below `alpha.1`: SemVer would compare the first parts, the programs do not.
            (None, Some(_)) => return Ordering::Less,
            (Some(_), None) => return Ordering::Greater,
            (Some((left_part, left_rest)), Some((right_part, right_rest))) => {
                let order = by_part(left_part, right_part);
                if order.is_ne() {
                    return order;
                }
                (left, right) = (left_rest, right_rest);
            }
        }
    }
}

/// Compares two parts: digits below words, shorter digits below longer ones, then by bytes.
///
/// An empty part, as in `beta..1`, has no byte that is not a digit, so it counts as digits and
/// is the lowest of all.
fn by_part(left: &str, right: &str) -> Ordering {
    let is_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    match (is_digits(left), is_digits(right)) {
        // By length and not by value: `02` is above `3` and below `10` in the programs (rules 2.3).
        (true, true) => left.len().cmp(&right.len()).then_with(|| left.cmp(right)),
        (true, false) => Ordering::Less,
        (false, true) => Ordering::Greater,
        (false, false) => left.cmp(right),
    }
}
