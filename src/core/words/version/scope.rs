//! Changes of the set of allowed versions, for reviewers.

use super::Constraints;
use super::constraint::turning_points;

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

/// Maximum number of terms that are compared: no lock file of a program has as many.
const MAX_TERMS: usize = 200;

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
    if old.iter().chain(new).count() > MAX_TERMS {
        return ScopeChange::Moved;
    }
    // The two sets differ if they differ in one of these; where one allows a single one of these, it allows a
    // single version.
    let points = turning_points(old.iter().chain(new));
    let (mut before, mut after, mut both) = (0, 0, 0);
    for point in &points {
        let (was, is) = (old.allows(point), new.allows(point));
        before += usize::from(was);
        after += usize::from(is);
        both += usize::from(was && is);
    }
    match (after > both, before > both) {
        (false, false) => ScopeChange::Same,
        _ if after == 0 => ScopeChange::Impossible,
        (true, false) if before == 1 => ScopeChange::Loosened,
        (true, false) => ScopeChange::Widened,
        (false, true) if after == 1 => ScopeChange::Pinned,
        (false, true) => ScopeChange::Narrowed,
        (true, true) if both > 0 => ScopeChange::Moved,
        (true, true) => ScopeChange::Replaced,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;
    use crate::version::Version;

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
