//! The comparison of packages with the hashes that lock files record.

use std::collections::{BTreeMap, BTreeSet};

use super::MirroringError;
use super::present::MirroredHashes;
use super::union::WantedRelease;
use crate::coverage::Attribution;
use crate::hash::{Hash, Hashes, Scheme};
use crate::platform::Platform;

/// The result of a comparison with lock files.
#[derive(Default)]
pub(super) struct Comparison {
    pub(super) errors: Vec<MirroringError>,
    /// The platforms whose package some lock file covers by its `zh:` only.
    pub(super) without_h1: Vec<Platform>,
}

/// A release, as far as it is known beside its packages.
pub(super) struct KnownRelease<'a> {
    pub(super) attribution: &'a Attribution,
    /// Its platforms; none if they are not known.
    pub(super) offered: &'a BTreeSet<Platform>,
    /// The hashes of its signed list, if that is known.
    pub(super) signed: Option<Hashes>,
}

impl KnownRelease<'_> {
    /// Counts the packages that were neither hashed nor are known from a fact; as many as there can be if the platforms
    /// of the release are not known.
    fn unseen(&self, hashed: &BTreeMap<Platform, MirroredHashes>) -> usize {
        if self.offered.is_empty() {
            return usize::MAX;
        }
        let is_unseen = |platform: &&Platform| {
            !hashed.contains_key(*platform) && self.attribution.package(platform).is_none()
        };
        self.offered.iter().filter(is_unseen).count()
    }

    /// Returns true if an entry records the `zh:` of another release: a list without the package, or no `zh:` of the
    /// signed list.
    fn is_contradicted(&self, recorded: &Hashes, zh: &Hash) -> bool {
        let mut zips = recorded.of(Scheme::Zh).peekable();
        // As many `h1:` as `zh:` are no list of a release by their number, so the signed list decides.
        let is_of_none = self
            .signed
            .as_ref()
            .is_some_and(|signed| zips.peek().is_some() && zips.all(|zh| !signed.contains(zh)));
        !recorded.contains(zh) && (recorded.lists_release() || is_of_none)
    }
}

/// Compares packages with the hashes that each lock file records for them.
pub(super) fn compare(
    wanted: &WantedRelease<'_>,
    release: &KnownRelease<'_>,
    hashed: &BTreeMap<Platform, MirroredHashes>,
) -> Comparison {
    let attribution = release.attribution;
    let mut comparison = Comparison::default();
    comparison.errors.extend(surplus(wanted, release, hashed));
    for (platform, package) in hashed {
        let is_of_another = |h1: &Hash| {
            // An entry has an `h1:` for each platform, but does not name the platforms. An `h1:` that is known to
            // belong to another platform cannot contradict this package.
            let known = attribution.platforms_of(h1);
            !known.is_empty() && !known.contains(platform)
                || hashed
                    .iter()
                    .any(|(other, hashes)| other != platform && hashes.h1 == *h1)
        };
        let (mut recorded, mut other_h1, mut other_zip) = (0, Vec::new(), Vec::new());
        let mut covered_by_zip = false;
        for (root, entry) in &wanted.entries {
            let hashes = &entry.hashes;
            let is_covered = match &package.zh {
                // The entry holds a list, but not that of this release, even if the `h1:` is right.
                Some(zh) if release.is_contradicted(hashes, zh) => {
                    other_zip.push(*root);
                    continue;
                }
                Some(zh) => hashes.contains(zh),
                // A fact names the zip of an unpacked package.
                None => attribution
                    .package(platform)
                    .is_some_and(|fact| fact.h1 == package.h1 && hashes.contains(&fact.zh)),
            };
            // One hash is enough: OpenTofu and Terraform accept a package by any hash that matches.
            if hashes.contains(&package.h1) {
                continue;
            }
            // An `h1:` of unknown origin is usually that of the machine where the file was written.
            if is_covered {
                covered_by_zip |= hashes.of(Scheme::H1).next().is_some();
                continue;
            }
            let left = hashes
                .of(Scheme::H1)
                .filter(|h1| !is_of_another(h1))
                .count();
            if left > 0 {
                recorded = recorded.max(left);
                other_h1.push(*root);
            }
        }
        if covered_by_zip {
            comparison.without_h1.push(platform.clone());
        }
        let id = || Box::new(wanted.id(platform));
        if !other_h1.is_empty() {
            comparison.errors.push(MirroringError::H1Differs {
                id: id(),
                found: package.h1.clone(),
                recorded,
                roots: other_h1,
            });
        }
        if let Some(zh) = &package.zh
            && !other_zip.is_empty()
        {
            comparison.errors.push(MirroringError::ZipNotLocked {
                id: id(),
                found: zh.clone(),
                roots: other_zip,
            });
        }
    }
    comparison
}

/// Finds lock files with more `h1:` of no known package than there are packages that were not seen.
fn surplus(
    wanted: &WantedRelease<'_>,
    release: &KnownRelease<'_>,
    hashed: &BTreeMap<Platform, MirroredHashes>,
) -> Option<MirroringError> {
    let unseen = release.unseen(hashed);
    let is_unknown = |h1: &&Hash| {
        release.attribution.platforms_of(h1).is_empty()
            && hashed.values().all(|package| package.h1 != **h1)
    };
    let (mut most, mut roots) = (0, Vec::new());
    for (root, entry) in &wanted.entries {
        let unknown = entry.hashes.of(Scheme::H1).filter(is_unknown).count();
        // Each package that was not seen may own one unknown `h1:`; more belong to no package.
        if unknown > unseen && entry.hashes.lists_release() {
            most = most.max(unknown);
            roots.push(*root);
        }
    }
    (!roots.is_empty()).then(|| MirroringError::H1OfNoPackage {
        release: Box::new(wanted.release.clone()),
        count: most,
        unseen,
        roots,
    })
}
