//! The hashes of one provider lock.

use std::collections::{BTreeSet, btree_set};
use std::sync::Arc;

use super::{Hash, Scheme};

/// A set of hashes, in the order of a lock file.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Hashes {
    /// Shared by copies: the versions of a lock file have most entries in common.
    sorted: Arc<BTreeSet<Hash>>,
}

impl Hashes {
    /// Adds a hash; returns whether it is new.
    pub fn insert(&mut self, hash: Hash) -> bool {
        Arc::make_mut(&mut self.sorted).insert(hash)
    }

    /// Returns whether this very text is among them.
    #[must_use]
    pub fn contains(&self, hash: &Hash) -> bool {
        self.sorted.contains(hash)
    }

    /// Returns all hashes of either set.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        self.iter().chain(other.iter()).cloned().collect()
    }

    /// Returns the hashes that another set lacks.
    #[must_use]
    pub fn without(&self, other: &Self) -> Self {
        self.iter()
            .filter(|hash| !other.contains(hash))
            .cloned()
            .collect()
    }

    /// Iterates over all hashes, by the bytes of their text.
    pub fn iter(&self) -> btree_set::Iter<'_, Hash> {
        self.sorted.iter()
    }

    /// Iterates over the hashes of schemes that the programs support; no other can match.
    pub fn known(&self) -> impl Iterator<Item = &Hash> {
        // Unknown schemes count as nothing at all (rules 3.1).
        self.iter().filter(|hash| hash.scheme() != Scheme::Other)
    }

    /// Iterates over the hashes of one scheme.
    pub fn of(&self, scheme: Scheme) -> impl Iterator<Item = &Hash> {
        self.iter().filter(move |hash| hash.scheme() == scheme)
    }

    /// Returns the hashes that can match a package: those of known schemes with a value of the right
    /// form.
    #[must_use]
    pub fn matchable(&self) -> Self {
        let known = self.known().filter(|hash| hash.is_well_formed());
        known.cloned().collect()
    }

    /// Returns whether the `zh:` are taken for the signed list of a release, which names the zip of
    /// every platform.
    ///
    /// Signed lists are longer than the `h1:` beside them. OCI and network mirrors leave one `zh:`
    /// for each `h1:`, as does a registry whose list could not be read (rules 3.7).
    #[must_use]
    pub fn lists_release(&self) -> bool {
        // A list has at least two: mirrors leave a single `zh:` for each package (rules 3.7).
        let count = |scheme| self.of(scheme).count();
        count(Scheme::Zh) >= 2 && count(Scheme::Zh) > count(Scheme::H1)
    }

    /// Returns whether there are more `h1:` than packages that could explain them: a release has a `zh:`
    /// for each package, and each package has one `h1:`. A single `zh:` is no list.
    #[must_use]
    pub fn has_unexplained_h1(&self) -> bool {
        let count = |scheme| self.of(scheme).count();
        count(Scheme::Zh) >= 2 && count(Scheme::H1) > count(Scheme::Zh)
    }

    /// Returns how many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.sorted.len()
    }

    /// Returns whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.sorted.is_empty()
    }
}

impl FromIterator<Hash> for Hashes {
    fn from_iter<I: IntoIterator<Item = Hash>>(hashes: I) -> Self {
        Self {
            // Sorted by the bytes of the whole text, so that `h10:` comes before `h1:` (rules 1.3).
            sorted: Arc::new(hashes.into_iter().collect()),
        }
    }
}

impl<'a> IntoIterator for &'a Hashes {
    type Item = &'a Hash;
    type IntoIter = btree_set::Iter<'a, Hash>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hashes(texts: &[&str]) -> Hashes {
        texts
            .iter()
            .map(|text| text.parse::<Hash>().expect("valid"))
            .collect()
    }

    fn texts<'a>(hashes: impl Iterator<Item = &'a Hash>) -> Vec<&'a str> {
        hashes.map(Hash::as_str).collect()
    }

    #[test]
    fn a_set_is_sorted_and_holds_each_text_once() {
        let mut set = hashes(&["zh:b", "h1:a", "zh:b", "x:y"]);
        assert_eq!(texts(set.iter()), ["h1:a", "x:y", "zh:b"]);
        assert!(!set.insert("h1:a".parse().expect("valid")));
        assert!(set.insert("h1:0".parse().expect("valid")));
        assert_eq!((set.len(), set.is_empty()), (4, false));
        assert!(Hashes::default().is_empty());
    }

    #[test]
    fn schemes_are_told_apart() {
        let set = hashes(&["zh:b", "ZH:b", "h1:a", "h2:a"]);
        assert_eq!(texts(set.known()), ["h1:a", "zh:b"]);
        assert_eq!(texts(set.of(Scheme::Zh)), ["zh:b"]);
        assert_eq!(texts(set.of(Scheme::Other)), ["ZH:b", "h2:a"]);
    }

    #[test]
    fn a_union_holds_both() {
        let both = hashes(&["h1:a", "h1:b"]).union(&hashes(&["h1:b", "zh:c"]));
        assert_eq!(texts(both.iter()), ["h1:a", "h1:b", "zh:c"]);
        assert!(both.contains(&"zh:c".parse().expect("valid")));
    }
}
