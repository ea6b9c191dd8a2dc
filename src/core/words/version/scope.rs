//! Changes of the set of allowed versions, for reviewers.

use std::collections::BTreeSet;

use super::{Constraints, Operator, Version};

/// The change of the set of allowed versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScopeChange {
    /// The same versions, perhaps in another text.
    Same,
    /// More versions than before, and all that were allowed before.
    Widened,
    /// Fewer versions than before, and no other.
    Narrowed,
    /// Only one version, which was allowed before, too.
    Pinned,
    /// More than the only version of before.
    Loosened,
    /// Some that were not allowed before, and some no longer.
    Moved,
    /// No version that was allowed before.
    Replaced,
    /// No version at all.
    Impossible,
}

/// Says how the allowed versions changed.
///
/// Releases count, and pre-releases that are named; whether a version was ever released does not
/// matter.
///
/// ```
/// use lockctl_core::version::{Constraints, ScopeChange, scope_change};
///
/// let [old, new] = ["~> 5.0", ">= 5.0.0"].map(Constraints::parse_lock);
/// assert_eq!(scope_change(&old?, &new?), ScopeChange::Widened);
/// # Ok::<(), lockctl_core::version::ConstraintError>(())
/// ```
#[must_use]
pub fn scope_change(old: &Constraints, new: &Constraints) -> ScopeChange {
    let (old, new) = (Scope::of(old), Scope::of(new));
    let (grew, shrank) = (!old.contains(&new), !new.contains(&old));
    match (grew, shrank) {
        (false, false) => ScopeChange::Same,
        _ if new == Scope::Nothing => ScopeChange::Impossible,
        (true, false) if old.is_single() => ScopeChange::Loosened,
        (true, false) => ScopeChange::Widened,
        (false, true) if new.is_single() => ScopeChange::Pinned,
        (false, true) => ScopeChange::Narrowed,
        (true, true) if old.meets(&new) => ScopeChange::Moved,
        (true, true) => ScopeChange::Replaced,
    }
}

/// The three numbers of a release.
type Release = (u64, u64, u64);

/// The versions that constraints allow.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Scope {
    Nothing,
    /// One version that is not just a release: a pre-release, or one with metadata.
    Named(Version),
    Releases(Range),
}

/// Releases from `low` up to, but without, `high`; none of the holes.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Range {
    low: Release,
    high: Option<Release>,
    holes: BTreeSet<Release>,
}

impl Scope {
    fn of(constraints: &Constraints) -> Self {
        let named = |version: &Version| version.is_prerelease() || !version.metadata().is_empty();
        let mut exact = constraints
            .iter()
            .filter(|term| term.operator() == Operator::Exact);
        // Nothing else selects such a version, and it excludes all releases.
        if let Some(term) = exact.find(|term| named(term.version())) {
            return if constraints.allows(term.version()) {
                Self::Named(term.version().clone())
            } else {
                Self::Nothing
            };
        }
        let mut range = Range {
            // `0.0.0` means "no version".
            low: (0, 0, 1),
            high: None,
            holes: BTreeSet::new(),
        };
        let fits = constraints
            .iter()
            .all(|term| range.cut(term.operator(), term.version()).is_some());
        let range = range.trimmed();
        if fits && !range.is_empty() {
            Self::Releases(range)
        } else {
            Self::Nothing
        }
    }

    fn is_single(&self) -> bool {
        match self {
            Self::Nothing => false,
            Self::Named(_) => true,
            Self::Releases(range) => range.high == next_patch(range.low),
        }
    }

    /// Returns whether all of the other are among these.
    fn contains(&self, other: &Self) -> bool {
        match (self, other) {
            (_, Self::Nothing) => true,
            (Self::Releases(range), Self::Releases(other)) => range.contains(other),
            _ => self == other,
        }
    }

    /// Returns whether some of the other are among these.
    fn meets(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Releases(range), Self::Releases(other)) => {
                let mut both = range.clone();
                both.low = both.low.max(other.low);
                both.bound(other.high);
                both.holes.extend(&other.holes);
                !both.trimmed().is_empty()
            }
            _ => self == other,
        }
    }
}

impl Range {
    /// Takes away what a constraint does not allow; `None` if nothing can be left.
    fn cut(&mut self, operator: Operator, version: &Version) -> Option<()> {
        let at = (version.major, version.minor, version.patch);
        // Behind a release; its own pre-releases come before it.
        let behind = if version.is_prerelease() {
            Some(at)
        } else {
            next_patch(at)
        };
        match operator {
            Operator::GreaterOrEqual => self.low = self.low.max(at),
            Operator::Greater => self.low = self.low.max(behind?),
            Operator::Less => self.bound(Some(at)),
            Operator::LessOrEqual => self.bound(behind),
            Operator::Exact => {
                self.low = self.low.max(at);
                self.bound(next_patch(at));
            }
            // `~> X.Y.Z` is `>= X.Y.Z` and `< X.(Y+1).0` (rules 5.1).
            Operator::PatchOnly => {
                self.low = self.low.max(at);
                self.bound(
                    version
                        .minor
                        .checked_add(1)
                        .map(|minor| (version.major, minor, 0)),
                );
            }
            // `~> X.Y` is `>= X.Y.0` and `< (X+1).0.0` (rules 5.1).
            Operator::MinorOnly => {
                self.low = self.low.max(at);
                self.bound(version.major.checked_add(1).map(|major| (major, 0, 0)));
            }
            // It excludes no release, and pre-releases count only if they are named.
            Operator::NotEqual if version.is_prerelease() || !version.metadata().is_empty() => {}
            Operator::NotEqual => {
                self.holes.insert(at);
            }
        }
        Some(())
    }

    fn bound(&mut self, high: Option<Release>) {
        self.high = match (self.high, high) {
            (Some(old), Some(new)) => Some(old.min(new)),
            (old, new) => old.or(new),
        };
    }

    fn is_empty(&self) -> bool {
        self.high.is_some_and(|high| high <= self.low)
    }

    /// Returns the same releases in normal form, so that equal sets are equal values.
    fn trimmed(mut self) -> Self {
        // A hole at an end moves the end: `>= 1.0.0, != 1.0.0` is `>= 1.0.1`.
        while !self.is_empty()
            && self.holes.contains(&self.low)
            && let Some(next) = next_patch(self.low)
        {
            self.low = next;
        }
        while let Some((major, minor, patch)) = self.high
            && let Some(last) = patch.checked_sub(1)
            && self.holes.contains(&(major, minor, last))
        {
            self.high = Some((major, minor, last));
        }
        let (low, high) = (self.low, self.high);
        self.holes
            .retain(|hole| *hole > low && high.is_none_or(|high| *hole < high));
        self
    }

    fn contains(&self, other: &Self) -> bool {
        let is_below = match (self.high, other.high) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(high), Some(other)) => other <= high,
        };
        let is_inside =
            |hole: &Release| *hole >= other.low && other.high.is_none_or(|high| *hole < high);
        self.low <= other.low
            && is_below
            && self
                .holes
                .iter()
                .all(|hole| !is_inside(hole) || other.holes.contains(hole))
    }
}

fn next_patch((major, minor, patch): Release) -> Option<Release> {
    Some((major, minor, patch.checked_add(1)?))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn changes_are_named() {
        let table = [
            ("", "", ScopeChange::Same),
            (">= 1.0.0", ">= 1.0.0, != 0.5.0", ScopeChange::Same),
            ("~> 5.0", ">= 5.0.0, < 6.0.0", ScopeChange::Same),
            ("> 1.2.2", ">= 1.2.3", ScopeChange::Same),
            ("> 1.2.3-beta", ">= 1.2.3", ScopeChange::Same),
            (">= 1.0.0, != 1.0.0", ">= 1.0.1", ScopeChange::Same),
            ("<= 1.2.3, != 1.2.3", "< 1.2.3", ScopeChange::Same),
            ("~> 5.0", "", ScopeChange::Widened),
            ("~> 5.1", "~> 5.0", ScopeChange::Widened),
            (">= 1.0.0, != 1.5.0", ">= 1.0.0", ScopeChange::Widened),
            ("", ">= 0.1.0", ScopeChange::Narrowed),
            ("~> 5.0", "~> 5.1.0", ScopeChange::Narrowed),
            ("~> 5.0", "5.2.0", ScopeChange::Pinned),
            ("~> 5.0", ">= 5.2.0, < 5.2.1", ScopeChange::Pinned),
            ("5.2.0", "~> 5.0", ScopeChange::Loosened),
            ("~> 4.0", "~> 5.0", ScopeChange::Replaced),
            ("5.2.0", "5.3.0", ScopeChange::Replaced),
            (">= 1.0.0, < 3.0.0", "~> 2.1", ScopeChange::Narrowed),
            (">= 1.0.0, < 3.0.0", ">= 2.0.0", ScopeChange::Moved),
            ("1.0.0-beta", "1.0.0", ScopeChange::Replaced),
            ("1.0.0-beta", "1.0.0-beta", ScopeChange::Same),
            (">= 1.0.0", ">= 2.0.0, < 1.0.0", ScopeChange::Impossible),
            (">= 2.0.0, < 1.0.0", "~> 3.0", ScopeChange::Widened),
        ];
        for (old, new, change) in table {
            let parse = |text| Constraints::parse_lock(text).unwrap();
            assert_eq!(
                scope_change(&parse(old), &parse(new)),
                change,
                "{old} {new}"
            );
        }
    }

    fn constraints() -> impl Strategy<Value = Constraints> {
        let operator = prop::sample::select(vec!["", ">", ">=", "<", "<=", "!=", "~>"]);
        let version = (0_u64..3, 0_u64..3, 0_u64..3);
        let term = (operator, version, any::<bool>()).prop_map(|(sign, (a, b, c), short)| {
            match short && sign == "~>" {
                true => format!("{sign} {a}.{b}"),
                false => format!("{sign} {a}.{b}.{c}"),
            }
        });
        let terms = prop::collection::vec(term, 0..4);
        terms.prop_map(|terms| Constraints::parse_lock(&terms.join(", ")).unwrap())
    }

    proptest! {
        /// Counted out over all small versions, and one of each beyond the numbers in use.
        #[test]
        fn changes_are_those_of_the_allowed_versions(old in constraints(), new in constraints()) {
            let numbers = || 0_u64..6;
            let all = numbers().flat_map(|a| numbers().flat_map(move |b| numbers().map(move |c| (a, b, c))));
            let all: Vec<Version> = all.map(|(a, b, c)| Version::release(a, b, c)).collect();
            let allowed = |constraints: &Constraints| -> BTreeSet<Version> {
                all.iter().filter(|version| constraints.allows(version)).cloned().collect()
            };
            let (before, after) = (allowed(&old), allowed(&new));
            let expected = match (after.is_subset(&before), before.is_subset(&after)) {
                (true, true) => ScopeChange::Same,
                _ if after.is_empty() => ScopeChange::Impossible,
                (false, true) if before.len() == 1 => ScopeChange::Loosened,
                (false, true) => ScopeChange::Widened,
                (true, false) if after.len() == 1 => ScopeChange::Pinned,
                (true, false) => ScopeChange::Narrowed,
                (false, false) if before.is_disjoint(&after) => ScopeChange::Replaced,
                (false, false) => ScopeChange::Moved,
            };
            prop_assert_eq!(scope_change(&old, &new), expected, "{} {}", old, new);
        }
    }
}
