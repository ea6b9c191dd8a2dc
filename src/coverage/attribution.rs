//! The packages that the hashes of a lock entry belong to, by facts (rules 1.3).

use std::collections::{BTreeMap, BTreeSet};

use crate::addr::ProviderAddr;
use crate::hash::{Hash, Hashes, Scheme};
use crate::package::{Fact, PackageId};
use crate::platform::Platform;
use crate::version::Version;

/// The packages that the hashes of a lock entry belong to, by facts.
///
/// A fact is about the zip of a recorded `zh:`. It belongs to the entry if it is of the same version of a
/// provider of the same type: the same packages may come from several registries.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Attribution {
    packages: BTreeMap<Platform, Vec<Fact>>, // Invariant: no list is empty.
    offered: BTreeSet<Platform>,
    foreign: BTreeMap<Hash, PackageId>,
    recorded: Hashes,
}

impl Attribution {
    /// Attributes the hashes of a version; `find` returns the fact about the zip of a `zh:`, if there is one
    /// that counts.
    #[must_use]
    pub fn of(
        provider: &ProviderAddr,
        version: &Version,
        hashes: &Hashes,
        find: impl Fn(&Hash) -> Option<Fact>,
    ) -> Self {
        let (of_release, foreign): (Vec<Fact>, Vec<Fact>) =
            hashes.of(Scheme::Zh).filter_map(find).partition(|fact| {
                fact.id.provider.type_name() == provider.type_name() && fact.id.version == *version
            });
        let mut attribution = Self {
            recorded: hashes.clone(),
            ..Self::default()
        };
        for fact in of_release {
            attribution.offered.extend(fact.offered.iter().cloned());
            let platform = fact.id.platform.clone();
            attribution.packages.entry(platform).or_default().push(fact);
        }
        for fact in foreign {
            // Content may be the same in several releases, so an `h1:` alone shows nothing.
            if hashes.contains(&fact.h1) && !attribution.is_known(&fact.h1) {
                attribution.foreign.insert(fact.h1, fact.id.clone());
            }
            attribution.foreign.insert(fact.zh, fact.id);
        }
        attribution
    }

    /// Returns true if no fact is about any of the hashes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.packages.is_empty() && self.foreign.is_empty()
    }

    /// Iterates over the packages of the version whose `zh:` is recorded, by platform; as a rule there is one
    /// for each platform that is known.
    pub fn packages(&self) -> impl Iterator<Item = &Fact> {
        self.packages.values().flatten()
    }

    /// Returns the fact about the package of a platform; of several the one whose `h1:` is recorded.
    #[must_use]
    pub fn package(&self, platform: &Platform) -> Option<&Fact> {
        let packages = self.packages.get(platform)?;
        let is_recorded = |fact: &&Fact| self.recorded.contains(&fact.h1);
        packages.iter().find(is_recorded).or(packages.first())
    }

    /// Iterates over the platforms with facts, each with that of [`package`](Self::package).
    pub fn by_platform(&self) -> impl Iterator<Item = (&Platform, &Fact)> {
        self.packages
            .keys()
            .filter_map(|platform| Some((platform, self.package(platform)?)))
    }

    /// Returns the platforms that the signed list of the release has packages for; none if no fact states
    /// them.
    #[must_use]
    pub fn offered(&self) -> &BTreeSet<Platform> {
        &self.offered
    }

    /// Returns true if the release has no package for a platform.
    #[must_use]
    pub fn lacks(&self, platform: &Platform) -> bool {
        !self.offered.is_empty() && !self.offered.contains(platform)
    }

    /// Returns the platforms whose package has a hash, sorted; none if that is unknown.
    #[must_use]
    pub fn platforms_of(&self, hash: &Hash) -> Vec<Platform> {
        let has_hash = |fact: &Fact| fact.h1 == *hash || fact.zh == *hash;
        self.packages
            .iter()
            .filter(|(_, facts)| facts.iter().any(has_hash))
            .map(|(platform, _)| platform.clone())
            .collect()
    }

    /// Returns the platforms whose `h1:` is recorded for sure, sorted.
    #[must_use]
    pub fn covered(&self) -> Vec<Platform> {
        self.by_platform()
            .filter(|(_, fact)| self.recorded.contains(&fact.h1))
            .map(|(platform, _)| platform.clone())
            .collect()
    }

    /// Returns the recorded hashes of packages of other releases, each with the package.
    #[must_use]
    pub fn foreign(&self) -> &BTreeMap<Hash, PackageId> {
        &self.foreign
    }

    /// Lists the recorded `h1:` that no known package has, sorted.
    #[must_use]
    pub fn unexplained(&self) -> Vec<&Hash> {
        self.recorded
            .of(Scheme::H1)
            .filter(|h1| !self.is_known(h1) && !self.foreign.contains_key(h1))
            .collect()
    }

    /// Counts the recorded `h1:` that may be those of unknown packages: one of the wrong form is of no package.
    #[must_use]
    pub fn possible_packages(&self) -> usize {
        let unexplained = self.unexplained();
        unexplained.iter().filter(|h1| h1.is_well_formed()).count()
    }

    /// Counts the packages of the release that no fact is about; `None` if it is unknown how many it has.
    #[must_use]
    pub fn unseen(&self) -> Option<usize> {
        let is_unseen = |platform: &&Platform| !self.packages.contains_key(platform);
        (!self.offered.is_empty()).then(|| self.offered.iter().filter(is_unseen).count())
    }

    /// Lists recorded `h1:` that are more than the packages which could have them: all of them are of no
    /// package if [`unseen`](Self::unseen) is 0, else at least one is.
    #[must_use]
    pub fn surplus(&self) -> Vec<&Hash> {
        let unexplained = self.unexplained();
        match self.unseen() {
            Some(unseen) if unexplained.len() > unseen => unexplained,
            _ => Vec::new(),
        }
    }

    /// Returns true if several platforms may share a zip, so that a fact, which names one of them, does not
    /// exclude the others.
    #[must_use]
    pub fn may_share_zips(&self) -> bool {
        let listed = self.recorded.of(Scheme::Zh).count();
        let unknown = listed.saturating_sub(self.packages().count());
        // Only a whole list of a release has the zip of every platform: fewer zips than platforms are shared.
        let is_list = self.recorded.lists_release();
        is_list && self.unseen().is_some_and(|unseen| unseen > unknown)
    }

    fn is_known(&self, h1: &Hash) -> bool {
        self.packages().any(|fact| fact.h1 == *h1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The value of a test hash: as many digits as a real one has.
    fn zh(digit: char) -> Hash {
        let digits: String = std::iter::repeat_n(digit, 64).collect();
        format!("zh:{digits}").parse().expect("valid")
    }

    fn h1(text: &str) -> Hash {
        format!("h1:{text}").parse().expect("valid")
    }

    fn platform(text: &str) -> Platform {
        text.parse().expect("valid")
    }

    fn addr(text: &str) -> ProviderAddr {
        ProviderAddr::parse(text, crate::flavor::Flavor::Terraform1_16).expect("valid")
    }

    /// Facts about the zips `a`, `b` and `c` of a release for three platforms, and `e` of an older one.
    fn fact(hash: &Hash) -> Option<Fact> {
        let offered = ["darwin_arm64", "linux_amd64", "windows_amd64"];
        let (name, version, text) = match hash.value().chars().next()? {
            'a' => ("linux_amd64", "2.0.0", "linux"),
            'b' => ("darwin_arm64", "2.0.0", "darwin"),
            'c' => ("windows_amd64", "2.0.0", "windows"),
            'e' => ("linux_amd64", "1.0.0", "old"),
            _ => return None,
        };
        Some(Fact {
            zh: hash.clone(),
            h1: h1(text),
            size: 1,
            id: PackageId {
                provider: addr("example.org/other/demo"),
                version: version.parse().expect("valid"),
                platform: platform(name),
            },
            offered: offered.map(platform).to_vec(),
            files: Vec::new(),
        })
    }

    fn attribution(zips: &str, texts: &[&str]) -> Attribution {
        let hashes = zips
            .chars()
            .map(zh)
            .chain(texts.iter().map(|text| h1(text)));
        let version = "2.0.0".parse().expect("valid");
        Attribution::of(&addr("acme/demo"), &version, &hashes.collect(), fact)
    }

    fn names(platforms: Vec<Platform>) -> Vec<String> {
        platforms.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_fact_says_whose_a_hash_is() {
        let found = attribution("abd", &["linux", "other"]);
        assert_eq!(names(found.platforms_of(&h1("linux"))), ["linux_amd64"]);
        assert_eq!(names(found.platforms_of(&zh('b'))), ["darwin_arm64"]);
        assert!(found.platforms_of(&zh('d')).is_empty());
        assert_eq!(names(found.covered()), ["linux_amd64"]);
        assert_eq!(found.unexplained(), [&h1("other")]);
        assert_eq!(found.unseen(), Some(1));
        assert!(found.lacks(&platform("linux_arm64")));
        assert!(!found.lacks(&platform("windows_amd64")));
        assert!(found.foreign().is_empty());
    }

    #[test]
    fn an_h1_of_no_package_is_known_once_all_packages_are() {
        let surplus = |zips, texts: &[&str]| -> Vec<String> {
            let found = attribution(zips, texts);
            found.surplus().into_iter().map(Hash::to_string).collect()
        };
        assert!(surplus("abd", &["linux", "slipped"]).is_empty());
        assert_eq!(surplus("abc", &["linux", "slipped"]), ["h1:slipped"]);
        // One of two must be wrong where one package is left.
        assert_eq!(surplus("abd", &["one", "two"]), ["h1:one", "h1:two"]);
        assert!(surplus("", &["one", "two"]).is_empty());
        assert!(surplus("d", &["one", "two"]).is_empty());
    }

    #[test]
    fn hashes_of_another_release_are_named() {
        let found = attribution("ae", &["old", "linux"]);
        let foreign: Vec<String> = found.foreign().keys().map(Hash::to_string).collect();
        assert_eq!(foreign, ["h1:old".to_owned(), zh('e').to_string()]);
        assert!(found.unexplained().is_empty());
        assert!(found.platforms_of(&h1("old")).is_empty());
    }

    #[test]
    fn fewer_zips_than_platforms_may_be_shared() {
        assert!(attribution("ab", &["linux"]).may_share_zips());
        assert!(!attribution("abd", &["linux"]).may_share_zips());
        // What a mirror leaves is no list.
        assert!(!attribution("a", &["linux"]).may_share_zips());
    }
}
