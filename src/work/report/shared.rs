//! Equal facts of several roots, put together: each once, with the number of its roots and some of their names.

use std::cmp::Reverse;

use super::groups::grouped;
use crate::diag::counted;

/// Maximum number of roots of a fact that are named; more are counted.
pub const MAX_ROOTS: usize = 5;

/// A fact with its roots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedFact<'a, F> {
    /// The fact that all of them share.
    pub fact: F,
    /// The names of the roots, each once, in the order given; at least one.
    pub roots: Vec<&'a str>,
}

/// Puts equal facts together, those of the most roots first, else in the order of their first occurrence.
pub fn shared<'a, F: Ord + Clone>(
    facts: impl IntoIterator<Item = (F, &'a str)>,
) -> Vec<SharedFact<'a, F>> {
    let mut all: Vec<SharedFact<'a, F>> = grouped(facts)
        .into_iter()
        .map(|(fact, mut roots)| {
            // Roots come in their order, so a fact that a root has twice has it in a row.
            roots.dedup();
            SharedFact { fact, roots }
        })
        .collect();
    all.sort_by_key(|shared| Reverse(shared.roots.len()));
    all
}

impl<F> SharedFact<'_, F> {
    /// Counts the roots, as in `120 roots` and `all 200 roots`; `of` is the number of roots of the run.
    #[must_use]
    pub fn count(&self, of: usize) -> String {
        let count = counted(self.roots.len(), "root");
        if self.roots.len() == of && of > 1 {
            format!("all {count}")
        } else {
            count
        }
    }

    /// Names some of the roots, as in `a, b, c, d, e and 115 more`; with `verbose` all of them.
    #[must_use]
    pub fn names(&self, verbose: bool) -> String {
        let most = if verbose { usize::MAX - 1 } else { MAX_ROOTS };
        let names = self.roots.iter().map(|root| (*root).to_owned());
        first_names(names, most).join(", ")
    }
}

/// Says of how many roots the state is not visible.
pub(super) fn unseen_state(count: &str) -> String {
    format!("the state of {count} is not visible, so providers that only it needs are not known")
}

/// Returns the smallest and the largest of some numbers, as in `2 to 5`.
#[must_use]
pub fn range(numbers: &[usize]) -> String {
    match (numbers.iter().min(), numbers.iter().max()) {
        (Some(least), Some(most)) if least < most => format!("{least} to {most}"),
        (_, most) => most.copied().unwrap_or(0).to_string(),
    }
}

/// Takes the first names of a list; the last of them says how many follow.
#[must_use]
pub fn first_names(names: impl ExactSizeIterator<Item = String>, most: usize) -> Vec<String> {
    let all = names.len();
    // "and 1 more" would be no shorter than the last name.
    let shown = if all > most + 1 { most } else { all };
    let mut names: Vec<String> = names.take(shown).collect();
    if let (Some(last), more @ 1..) = (names.last_mut(), all - shown) {
        *last += &format!(" and {more} more");
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_facts_are_one_and_the_most_common_is_first() {
        let facts = [("x", "a"), ("y", "a"), ("y", "a"), ("y", "b")];
        let all = shared(facts);
        let found: Vec<_> = all.iter().map(|fact| (fact.fact, &*fact.roots)).collect();
        assert_eq!(found, [("y", &["a", "b"][..]), ("x", &["a"][..])]);
        assert_eq!(all[0].count(2), "all 2 roots");
        assert_eq!(all[0].count(3), "2 roots");
        assert_eq!(all[1].count(1), "1 root");
    }

    #[test]
    fn five_roots_are_named_and_more_are_counted() {
        let names = ["a", "b", "c", "d", "e", "f", "g"];
        let of = |count: usize, verbose| {
            let all = shared(names.iter().take(count).map(|name| ((), *name)));
            all[0].names(verbose)
        };
        assert_eq!(of(6, false), "a, b, c, d, e, f");
        assert_eq!(of(7, false), "a, b, c, d, e and 2 more");
        assert_eq!(of(7, true), "a, b, c, d, e, f, g");
    }
}
