//! Which wanted platforms a lock entry covers, and what the programs will do where it does not.
//!
//! Without facts nothing tells which hash belongs to which platform, so `h1:` hashes are counted
//! (`product.md`, `verify`); a package that was hashed tells for its own platform.

use std::collections::BTreeMap;

use crate::flavor::Flavor;
use crate::hash::{Hash, Hashes, Scheme};
use crate::platform::Platform;

/// How far one lock entry covers the wanted platforms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coverage {
    /// How many `h1:` hashes are recorded.
    pub recorded: usize,
    /// The wanted platforms, sorted.
    pub wanted: Vec<Platform>,
    /// Which recorded hash belongs to which platform, as far as packages tell; wanted or not.
    pub known: BTreeMap<Platform, Hash>,
    /// Wanted platforms that no package tells about, sorted.
    pub unknown: Vec<Platform>,
    /// How many recorded `h1:` hashes no package explains.
    pub unexplained: usize,
}

/// A way by which packages reach an installation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Route {
    /// `init`, downloading from a registry that signs its checksums.
    Registry,
    /// `init`, from a filesystem mirror of unpacked directories.
    UnpackedMirror,
    /// `init`, from a plugin cache directory.
    PluginCache,
    /// `init -lockfile=readonly`, downloading.
    Readonly,
    /// The next `plan` after that.
    PlanAfterInit,
}

/// What happens by a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// It succeeds and changes no file.
    Passes,
    /// It succeeds and changes the lock file.
    Rewrites,
    /// As `Rewrites`, but the package is compared with nothing.
    RewritesUnchecked,
    /// It succeeds with a warning and changes no file.
    Warns,
    /// It fails.
    Fails,
}

/// What happens by one route, with the title that the program prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prediction {
    /// The way.
    pub route: Route,
    /// What happens.
    pub outcome: Outcome,
    /// The title of the warning or error, if there is one.
    pub title: Option<&'static str>,
}

/// Counts which wanted platforms an entry covers; `known` are `h1:` hashes of packages at hand.
#[must_use]
pub fn coverage(
    hashes: &Hashes,
    wanted: &[Platform],
    known: &BTreeMap<Platform, Hash>,
) -> Coverage {
    let recorded = hashes.of(Scheme::H1).count();
    let known: BTreeMap<Platform, Hash> = known
        .iter()
        .filter(|(_, hash)| hashes.contains(hash))
        .map(|(platform, hash)| (platform.clone(), hash.clone()))
        .collect();
    let explained = hashes
        .of(Scheme::H1)
        .filter(|hash| known.values().any(|k| k == *hash))
        .count();
    let mut wanted = wanted.to_vec();
    wanted.sort();
    wanted.dedup();
    Coverage {
        recorded,
        unknown: wanted
            .iter()
            .filter(|p| !known.contains_key(p))
            .cloned()
            .collect(),
        wanted,
        known,
        unexplained: recorded - explained,
    }
}

impl Coverage {
    /// Returns how many wanted platforms must lack an `h1:`, however the hashes are attributed.
    #[must_use]
    pub fn lacking(&self) -> usize {
        self.unknown.len().saturating_sub(self.unexplained)
    }

    /// Returns the wanted platforms that certainly lack an `h1:`, where that can be told: every
    /// recorded one belongs to a known platform.
    #[must_use]
    pub fn certainly_lacking(&self) -> &[Platform] {
        if self.unexplained == 0 {
            &self.unknown
        } else {
            &[]
        }
    }
}

/// Foretells what each route does on a platform whose `h1:` an entry lacks
/// (`lockfile.md` 5.3, `commands.md` 1.3 and 2.4).
///
/// Where an entry has `h1:` too, its `zh:` count for a download only if they are the list of the
/// release; else they are those of the other platforms.
#[must_use]
pub fn without_h1(hashes: &Hashes, flavor: Flavor) -> Vec<Prediction> {
    let has = |scheme| hashes.of(scheme).next().is_some();
    let (has_h1, has_zh) = (has(Scheme::H1), has(Scheme::Zh));
    let refused = (Outcome::Fails, Some(NOT_INSTALLED));
    // With nothing to compare a package with, it is taken as it is.
    let blind = (Outcome::RewritesUnchecked, None);
    let download = match (has_h1, has_zh) {
        (false, false) => blind,
        (_, true) if !has_h1 || hashes.lists_release() => (Outcome::Rewrites, None),
        _ => refused,
    };
    let unpacked = if has_h1 { refused } else { blind };
    let readonly = match download {
        (Outcome::Fails, _) => refused,
        _ => (Outcome::Warns, Some("Provider lock file not updated")),
    };
    let plan = match (download, has_zh) {
        // The read-only init failed, so nothing is installed.
        ((Outcome::Fails, _), _) => (Outcome::Fails, Some(NOT_THERE)),
        // Only zh are recorded, or foreign h1 beside them: nothing can match what is installed.
        (_, true) if flavor.is_opentofu() => (Outcome::Fails, Some(NO_SCHEMA)),
        (_, true) => (Outcome::Fails, Some(NOT_THERE)),
        (_, false) => (Outcome::Passes, None),
    };
    let prediction = |route, (outcome, title)| Prediction {
        route,
        outcome,
        title,
    };
    vec![
        prediction(Route::Registry, download),
        prediction(Route::UnpackedMirror, unpacked),
        // Nothing in the cache matches, so the package is fetched as without a cache.
        prediction(Route::PluginCache, download),
        prediction(Route::Readonly, readonly),
        prediction(Route::PlanAfterInit, plan),
    ]
}

/// The title of a package that `init` refuses.
const NOT_INSTALLED: &str = "Failed to install provider";
/// The title of a package that `plan` finds missing; Terraform's also for one that does not match.
const NOT_THERE: &str = "Required plugins are not installed";
/// OpenTofu's title for a package that does not match; it goes on with the address.
const NO_SCHEMA: &str = "failed to read provider configuration schema";

#[cfg(test)]
mod tests {
    use super::*;

    fn hashes(texts: &[&str]) -> Hashes {
        texts
            .iter()
            .map(|text| text.parse::<Hash>().expect("valid"))
            .collect()
    }

    fn platforms(texts: &[&str]) -> Vec<Platform> {
        texts
            .iter()
            .map(|text| text.parse().expect("valid"))
            .collect()
    }

    fn known(pairs: &[(&str, &str)]) -> BTreeMap<Platform, Hash> {
        pairs
            .iter()
            .map(|(p, h)| (p.parse().expect("valid"), h.parse().expect("valid")))
            .collect()
    }

    #[test]
    fn hashes_are_counted_where_nothing_tells_whose_they_are() {
        let wanted = platforms(&["linux_amd64", "darwin_arm64", "windows_amd64"]);
        let coverage = coverage(&hashes(&["h1:a", "zh:b"]), &wanted, &BTreeMap::new());
        assert_eq!(coverage.lacking(), 2);
        assert_eq!(coverage.certainly_lacking(), []);
    }

    #[test]
    fn a_known_package_tells_which_platforms_lack_one() {
        let wanted = platforms(&["linux_amd64", "darwin_arm64"]);
        let coverage = coverage(
            &hashes(&["h1:a"]),
            &wanted,
            &known(&[("linux_amd64", "h1:a")]),
        );
        assert_eq!(coverage.lacking(), 1);
        assert_eq!(coverage.certainly_lacking(), platforms(&["darwin_arm64"]));
    }

    #[test]
    fn a_hash_of_an_unwanted_platform_covers_nothing() {
        let wanted = platforms(&["darwin_arm64"]);
        let coverage = coverage(
            &hashes(&["h1:a"]),
            &wanted,
            &known(&[("linux_amd64", "h1:a")]),
        );
        assert_eq!(coverage.lacking(), 1);
    }

    #[test]
    fn a_package_that_is_not_recorded_tells_nothing() {
        let wanted = platforms(&["linux_amd64"]);
        let coverage = coverage(
            &hashes(&["h1:a"]),
            &wanted,
            &known(&[("linux_amd64", "h1:other")]),
        );
        assert_eq!((coverage.lacking(), coverage.unexplained), (0, 1));
    }

    #[track_caller]
    fn check(flavor: Flavor, recorded: &[&str], wanted: [(Outcome, Option<&str>); 5]) {
        let predictions = without_h1(&hashes(recorded), flavor);
        let found: Vec<(Outcome, Option<&str>)> =
            predictions.iter().map(|p| (p.outcome, p.title)).collect();
        assert_eq!(found, wanted, "for {recorded:?} by {flavor}");
    }

    #[test]
    fn routes_follow_the_table_of_the_specification() {
        let refused = (Outcome::Fails, Some("Failed to install provider"));
        let absent = (Outcome::Fails, Some("Required plugins are not installed"));
        let rewrites = (Outcome::Rewrites, None);
        let blind = (Outcome::RewritesUnchecked, None);
        let warns = (Outcome::Warns, Some("Provider lock file not updated"));
        let passes = (Outcome::Passes, None);
        for flavor in Flavor::ALL {
            let schema = (
                Outcome::Fails,
                Some("failed to read provider configuration schema"),
            );
            let mismatch = if flavor.is_opentofu() { schema } else { absent };
            let check = |recorded: &[&str], wanted| check(flavor, recorded, wanted);
            check(
                &["h1:a", "zh:b", "zh:c"],
                [rewrites, refused, rewrites, warns, mismatch],
            );
            check(&["zh:b"], [rewrites, blind, rewrites, warns, mismatch]);
            check(&["h1:a"], [refused, refused, refused, refused, absent]);
            // One zh for one h1 is that of the other platform.
            check(
                &["h1:a", "zh:b"],
                [refused, refused, refused, refused, absent],
            );
            check(&[], [blind, blind, blind, warns, passes]);
            check(&["h2:x"], [blind, blind, blind, warns, passes]);
        }
    }
}
