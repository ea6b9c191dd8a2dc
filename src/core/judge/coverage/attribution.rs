//! The packages that the hashes of a lock entry belong to, by facts (rules 1.3).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::addr::ProviderAddr;
use crate::hash::{Hash, Hashes, Scheme};
use crate::package::{Fact, PackageId, ReleaseFact, ReleasePackage};
use crate::platform::Platform;
use crate::version::Version;

/// The packages that the hashes of a lock entry belong to, by facts.
///
/// A fact is about the zip of a recorded `zh:`. It belongs to the entry if it is of the same version of a
/// provider of the same type: the same packages may come from several registries. The kept signed lists of the
/// release, which are those of its own registry, may name packages whose `zh:` is not recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Attribution {
    packages: BTreeMap<Platform, Vec<Fact>>, // Invariant: no list is empty.
    offered: BTreeSet<Platform>,
    foreign: BTreeMap<Hash, PackageId>,
    recorded: Hashes,
    /// The release, by its kept signed lists.
    release: Option<Arc<ReleaseFact>>,
    /// The `h1:` of signed packages that this run has hashed.
    hashed: BTreeMap<Platform, Hash>,
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

    /// Adds the kept signed lists of the release.
    #[must_use]
    pub fn with_release(mut self, release: Arc<ReleaseFact>) -> Self {
        // Where each platform has a list of its own, the release may have more packages.
        if release.lists_release {
            self.offered.extend(
                release
                    .packages
                    .values()
                    .map(|package| package.platform.clone()),
            );
        }
        self.release = Some(release);
        self
    }

    /// Adds the `h1:` of signed packages that this run has hashed.
    #[must_use]
    pub fn with_hashed(mut self, hashed: BTreeMap<Platform, Hash>) -> Self {
        self.hashed = hashed;
        self
    }

    /// Returns true if nothing is known of the hashes, nor of the release.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.packages.is_empty()
            && self.foreign.is_empty()
            && self.release.is_none()
            && self.hashed.is_empty()
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
        let by_fact = self
            .packages()
            .filter(|fact| fact.h1 == *hash || fact.zh == *hash)
            .map(|fact| &fact.id.platform);
        let by_list = self
            .listed()
            .filter(|(zh, package)| *zh == hash || package.h1.as_ref() == Some(hash))
            .map(|(_, package)| &package.platform);
        let platforms: BTreeSet<&Platform> = by_fact.chain(by_list).collect();
        platforms.into_iter().cloned().collect()
    }

    /// Returns the platforms whose `h1:` is recorded for sure, sorted.
    #[must_use]
    pub fn covered(&self) -> Vec<Platform> {
        let platforms: BTreeSet<Platform> = self
            .known_h1()
            .filter(|(_, h1)| self.recorded.contains(h1))
            .map(|(platform, _)| platform.clone())
            .collect();
        platforms.into_iter().collect()
    }

    /// Returns the `h1:` of the packages for a platform, if an unpacked package with another one is none of them: the
    /// content of every listed zip for the platform is known.
    #[must_use]
    pub fn expected(&self, platform: &Platform) -> BTreeSet<&Hash> {
        // A release that was published again has two packages for a platform.
        let is_unknown = self
            .listed()
            .any(|(zh, package)| package.platform == *platform && !self.knows(zh, package));
        self.known_h1()
            .filter(|(other, _)| *other == platform && !is_unknown)
            .map(|(_, h1)| h1)
            .collect()
    }

    /// Returns true if a hash is known to be of the release: of a package, or of another file in its kept lists.
    #[must_use]
    pub fn is_of_release(&self, hash: &Hash) -> bool {
        self.is_known(hash)
            || self.packages().any(|fact| fact.zh == *hash)
            || self
                .release
                .as_ref()
                .is_some_and(|release| release.has(hash))
    }

    /// Lists the recorded `zh:` that the kept list of the whole release does not have, sorted.
    #[must_use]
    pub fn unlisted(&self) -> Vec<&Hash> {
        let Some(release) = self.release.as_ref().filter(|list| list.lists_release) else {
            return Vec::new();
        };
        let is_unlisted = |zh: &&Hash| !release.has(zh) && !self.foreign.contains_key(zh);
        self.recorded.of(Scheme::Zh).filter(is_unlisted).collect()
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
        let is_seen = |platform: &Platform| {
            self.packages.contains_key(platform) || self.hashed.contains_key(platform)
        };
        let of_platforms = self.offered.iter().filter(|platform| !is_seen(platform));
        let of_zips = self
            .listed()
            .filter(|(zh, package)| !self.knows(zh, package));
        // A list has two zips for a platform whose package was published again.
        (!self.offered.is_empty()).then(|| match self.listed().next() {
            Some(_) => of_zips.count(),
            None => of_platforms.count(),
        })
    }

    /// Counts the packages of the release; 0 if that is unknown.
    #[must_use]
    pub fn package_count(&self) -> usize {
        self.listed().count().max(self.offered.len())
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
        self.known_h1().any(|(_, known)| known == h1)
    }

    /// Iterates over the known `h1:` of packages of the release, with their platforms.
    fn known_h1(&self) -> impl Iterator<Item = (&Platform, &Hash)> {
        let by_fact = self.packages().map(|fact| (&fact.id.platform, &fact.h1));
        let by_list = self
            .listed()
            .filter_map(|(_, package)| Some((&package.platform, package.h1.as_ref()?)));
        by_fact.chain(by_list).chain(&self.hashed)
    }

    /// Iterates over the packages in the list of the whole release, by their `zh:`.
    fn listed(&self) -> impl Iterator<Item = (&Hash, &ReleasePackage)> {
        self.release
            .iter()
            .filter(|list| list.lists_release)
            .flat_map(|list| &list.packages)
    }

    /// Returns true if the `h1:` of a listed package is known.
    fn knows(&self, zh: &Hash, package: &ReleasePackage) -> bool {
        package.h1.is_some()
            || self.packages().any(|fact| fact.zh == *zh)
            || self.hashed.contains_key(&package.platform)
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

    /// The kept list of the release: the zips of facts `a`, `b` and `c`, `d`, of which nothing more is known, and a
    /// manifest `f`.
    fn release() -> ReleaseFact {
        let package = |digit, name: &str, text: Option<&str>| {
            let h1 = text.map(h1);
            let platform = platform(name);
            (zh(digit), ReleasePackage { platform, h1 })
        };
        ReleaseFact {
            provider: addr("acme/demo"),
            version: "2.0.0".parse().expect("valid"),
            lists_release: true,
            signers: BTreeSet::new(),
            key_ends: BTreeMap::new(),
            dates: crate::package::ReleaseDates::default(),
            packages: BTreeMap::from([
                package('a', "linux_amd64", Some("linux")),
                package('b', "darwin_arm64", Some("darwin")),
                package('c', "windows_amd64", None),
                package('d', "linux_arm64", None),
            ]),
            others: BTreeSet::from([zh('f')]),
            attested: BTreeMap::new(),
        }
    }

    #[test]
    fn a_kept_list_judges_every_recorded_zh() {
        let unlisted = |zips: &str| {
            let found = attribution(zips, &[]).with_release(Arc::new(release()));
            let unlisted = found.unlisted().into_iter();
            unlisted
                .map(|zh| zh.value()[..1].to_owned())
                .collect::<String>()
        };
        assert_eq!(unlisted("abcdf"), "");
        assert_eq!(unlisted("abc1f"), "1");
        // That of an older release has a finding of its own.
        assert_eq!(unlisted("abce2"), "2");
        // A list of one platform does not name the packages of others.
        let of_platform = ReleaseFact {
            lists_release: false,
            ..release()
        };
        assert!(
            attribution("a1", &[])
                .with_release(Arc::new(of_platform))
                .unlisted()
                .is_empty()
        );
    }

    #[test]
    fn a_package_is_another_one_if_all_zips_of_its_platform_are_known() {
        let expected = |found: &Attribution, name: &str| {
            let h1 = found.expected(&platform(name));
            h1.into_iter()
                .map(Hash::to_string)
                .collect::<Vec<_>>()
                .join(" ")
        };
        // Facts alone, then the kept list, which also knows zips that are not recorded.
        let found = attribution("a", &[]);
        assert_eq!(expected(&found, "linux_amd64"), "h1:linux");
        assert_eq!(expected(&found, "darwin_arm64"), "");
        let found = attribution("", &["linux"]).with_release(Arc::new(release()));
        assert_eq!(expected(&found, "darwin_arm64"), "h1:darwin");
        assert_eq!(expected(&found, "linux_arm64"), "");
        assert_eq!((found.unseen(), found.package_count()), (Some(2), 4));
        assert!(found.is_of_release(&zh('f')) && found.is_of_release(&h1("linux")));
        // The release was published again: the other zip of the platform may have any content.
        let mut twice = release();
        let again = ReleasePackage {
            platform: platform("linux_amd64"),
            h1: None,
        };
        twice.packages.insert(zh('9'), again);
        let found = attribution("a", &[]).with_release(Arc::new(twice));
        assert_eq!(expected(&found, "linux_amd64"), "");
        // A package that this run hashed decides.
        let hashed = BTreeMap::from([(platform("linux_amd64"), h1("linux"))]);
        assert_eq!(
            expected(&found.with_hashed(hashed), "linux_amd64"),
            "h1:linux"
        );
    }
}
