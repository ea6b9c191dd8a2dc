//! The builds of locked packages, from the facts of the store.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::addr::ProviderAddr;
use crate::contents::{PackageBuild, ProgramContents, ReleaseBuilds};
use crate::hash::{Hash, Hashes};
use crate::locker::TrustedFacts;
use crate::lockfile::LockFile;
use crate::platform::Platform;
use crate::run::facts::{UserFacts, trusted};
use crate::run::root::Root;
use crate::store::{FactOrigin, Facts};
use crate::verify::LockedBuilds;
use crate::version::Version;

/// Maximum number of modules in all remembered contents, some 16 MB: a run over many roots needs the same packages many
/// times, but cannot hold the contents of all packages in memory.
const MAX_REMEMBERED_MODULES: usize = 60_000;

/// The contents that this run has read from the store.
#[derive(Default)]
pub(crate) struct ContentsMemo {
    remembered: Mutex<Remembered>,
}

#[derive(Default)]
struct Remembered {
    contents: BTreeMap<Hash, Option<(Arc<ProgramContents>, FactOrigin)>>,
    modules: usize,
}

impl UserFacts<'_> {
    /// Returns the known builds of a lock file's packages. Every entry is included; without facts it has no packages.
    pub(crate) fn builds(&self, root: &Root, lock: &LockFile) -> LockedBuilds {
        let trusted = trusted(root);
        lock.providers
            .iter()
            .map(|(provider, entry)| {
                let (version, hashes) = (&entry.version, &entry.hashes);
                let builds = self.builds_of(trusted, provider, version, hashes);
                (provider.clone(), builds)
            })
            .collect()
    }

    /// Returns the known builds of the packages that the hashes of a version name.
    pub(crate) fn builds_of(
        &self,
        trusted: TrustedFacts,
        provider: &ProviderAddr,
        version: &Version,
        hashes: &Hashes,
    ) -> ReleaseBuilds {
        let facts = self.get();
        let mut packages: BTreeMap<(Platform, Hash), Option<Hash>> = BTreeMap::new();
        // The signed list has every package, including those never downloaded; entries of mirrors may lack their `zh:`.
        if let Some(stored) = trusted.release(facts, provider, version) {
            for (zh, package) in &stored.release.packages {
                let has_h1 = package.h1.as_ref().is_some_and(|h1| hashes.contains(h1));
                if has_h1 || hashes.contains(zh) {
                    packages.insert((package.platform.clone(), zh.clone()), package.h1.clone());
                }
            }
        }
        // Facts come second: they have the `h1:` even if an older run kept the list without it.
        let attribution = trusted.attribute(facts, provider, version, hashes);
        for fact in attribution.packages() {
            let key = (fact.id.platform.clone(), fact.zh.clone());
            packages.insert(key, Some(fact.h1.clone()));
        }
        ReleaseBuilds {
            packages: packages
                .into_iter()
                .map(|((platform, zh), h1)| PackageBuild {
                    platform,
                    contents: self.contents(trusted, &zh),
                    zh: Some(zh),
                    h1,
                })
                .collect(),
        }
    }

    /// Returns the contents of a package, if they are trusted: imported contents are a claim of the exporter.
    pub(crate) fn contents(
        &self,
        trusted: TrustedFacts,
        zh: &Hash,
    ) -> Option<Arc<ProgramContents>> {
        let (contents, origin) = self.memo.get(self.get(), zh)?;
        trusted.accepts(&origin).then_some(contents)
    }
}

impl ContentsMemo {
    fn get(&self, facts: &dyn Facts, zh: &Hash) -> Option<(Arc<ProgramContents>, FactOrigin)> {
        // After a panic in another thread, only the count of modules may be too high: the map has whole entries.
        let lock = || {
            self.remembered
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
        };
        if let Some(answer) = lock().contents.get(zh) {
            return answer.clone();
        }
        let answer = facts
            .contents(zh)
            .map(|stored| (Arc::new(stored.contents), stored.origin));
        let info = answer
            .as_ref()
            .and_then(|(contents, _)| contents.build_info());
        // Each entry counts as a module at least, since missing contents take memory too.
        let modules = 1 + info.map_or(0, |info| info.deps.len());
        // Read without holding the lock: two threads may read the same object, which costs less than waiting.
        let mut remembered = lock();
        if remembered.modules + modules <= MAX_REMEMBERED_MODULES {
            remembered.modules += modules;
            remembered.contents.insert(zh.clone(), answer.clone());
        }
        answer
    }

    /// Forgets which packages have no contents.
    pub(super) fn forget_missing(&self) {
        let mut remembered = self
            .remembered
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let before = remembered.contents.len();
        // Some of the missing ones were read meanwhile.
        remembered.contents.retain(|_, contents| contents.is_some());
        // Each of them counted as one module.
        remembered.modules -= before - remembered.contents.len();
    }
}
