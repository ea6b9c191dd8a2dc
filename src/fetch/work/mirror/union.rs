//! The union of what lock files need: each release once, with the entries that name it.

use std::collections::BTreeMap;

use super::MirroredRoot;
use crate::coverage::Attribution;
use crate::hash::{Hash, Hashes, Scheme};
use crate::locker::Release;
use crate::lockfile::ProviderLock;
use crate::package::{PackageId, WantedSet};
use crate::platform::Platform;
use crate::store::Facts;

/// A release that some lock file names.
pub(super) struct WantedRelease<'a> {
    pub(super) release: Release,
    /// The entries that name it, each with the number of its root; at least one.
    pub(super) entries: Vec<(usize, &'a ProviderLock)>,
    /// The platforms that any of the roots wants.
    pub(super) platforms: WantedSet,
}

/// Unites the entries of all lock files; built-in providers have no packages.
pub(super) fn unite<'a>(roots: &[MirroredRoot<'a>]) -> Vec<WantedRelease<'a>> {
    let mut wanted: BTreeMap<Release, WantedRelease<'a>> = BTreeMap::new();
    for (number, root) in roots.iter().enumerate() {
        for (provider, entry) in &root.lock.providers {
            // It is part of the program, so no place has a package of it.
            if provider.is_builtin(root.flavor) {
                continue;
            }
            let release = Release {
                provider: provider.clone(),
                version: entry.version.clone(),
            };
            let united = wanted
                .entry(release.clone())
                .or_insert_with(|| WantedRelease {
                    release,
                    entries: Vec::new(),
                    platforms: WantedSet::default(),
                });
            united.entries.push((number, entry));
            // Each root wants its platforms for its own use, and one mirror serves all of them.
            let of_root = root.platforms.of(provider);
            let platforms = &mut united.platforms;
            platforms.named.extend(of_root.named.iter().cloned());
            platforms.preset.extend(of_root.preset.iter().cloned());
            platforms.all |= of_root.all;
        }
    }
    wanted.into_values().collect()
}

impl WantedRelease<'_> {
    /// Returns the number of the root by whose rules the release is judged.
    pub(super) fn root(&self) -> usize {
        // The entries are in the order of the roots, so this does not depend on threads or on what is there already.
        self.entries[0].0
    }

    /// Returns the id of the package for a platform.
    pub(super) fn id(&self, platform: &Platform) -> PackageId {
        PackageId {
            provider: self.release.provider.clone(),
            version: self.release.version.clone(),
            platform: platform.clone(),
        }
    }

    /// Returns true if some entry records a hash.
    pub(super) fn records(&self, hash: &Hash) -> bool {
        self.entries
            .iter()
            .any(|(_, entry)| entry.hashes.contains(hash))
    }

    /// Returns every `zh:` that some entry records.
    pub(super) fn zips(&self) -> Hashes {
        self.entries
            .iter()
            .flat_map(|(_, entry)| entry.hashes.of(Scheme::Zh))
            .cloned()
            .collect()
    }

    /// Attributes the recorded hashes of all entries to platforms.
    pub(super) fn attribution(&self, roots: &[MirroredRoot<'_>], facts: &dyn Facts) -> Attribution {
        let recorded = self
            .entries
            .iter()
            .fold(Hashes::default(), |all, (_, entry)| {
                all.union(&entry.hashes)
            });
        let Release { provider, version } = &self.release;
        roots[self.root()]
            .trusted
            .attribute(facts, provider, version, &recorded)
    }
}
