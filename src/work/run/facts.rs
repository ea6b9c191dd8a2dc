//! The store of the user: where it is, and when it is used.

use std::path::PathBuf;

use crate::addr::ProviderAddr;
use crate::coverage::{Attribution, Attributions};
use crate::hash::Hashes;
use crate::locker::TrustedFacts;
use crate::lockfile::LockFile;
use crate::report::Sentence;
use crate::run::World;
use crate::run::contents::ContentsMemo;
use crate::run::root::Root;
use crate::run::user::caches;
use crate::store::{Facts, NoFacts, Store};
use crate::verify::LockedReleases;
use crate::version::Version;

/// The facts that a command works with.
pub(crate) struct UserFacts<'a> {
    /// The store, and its directory.
    store: Option<(Store<'a>, PathBuf)>,
    pub(super) memo: ContentsMemo,
}

impl<'a> UserFacts<'a> {
    /// Opens the store in a directory; `None` if none is to be used.
    pub(super) fn new(dir: Option<PathBuf>, world: World<'a>) -> Self {
        Self {
            store: dir.map(|dir| (caches::open_store(world, &dir), dir)),
            memo: ContentsMemo::default(),
        }
    }

    pub(crate) fn get(&self) -> &dyn Facts {
        match &self.store {
            Some((store, _)) => store,
            None => &NoFacts,
        }
    }

    /// Attributes the hashes of a lock file by facts and kept signed lists; entries without any are left out.
    pub(crate) fn about(&self, root: &Root, lock: &LockFile) -> Attributions {
        let trusted = trusted(root);
        let entries = lock.providers.iter().map(|(provider, entry)| {
            let found = self.attribute(trusted, provider, &entry.version, &entry.hashes);
            (provider.clone(), found)
        });
        entries.filter(|(_, found)| !found.is_empty()).collect()
    }

    /// Finds out what facts and the kept signed lists of a release say about hashes of it.
    pub(crate) fn attribute(
        &self,
        trusted: TrustedFacts,
        provider: &ProviderAddr,
        version: &Version,
        hashes: &Hashes,
    ) -> Attribution {
        let found = trusted.attribute(self.get(), provider, version, hashes);
        match trusted.release(self.get(), provider, version) {
            Some(stored) => found.with_release(stored.release.clone()),
            None => found,
        }
    }

    /// Returns the known properties of the locked releases; releases without any are left out.
    pub(crate) fn releases(
        &self,
        root: &Root,
        lock: &LockFile,
        world: World<'_>,
    ) -> LockedReleases {
        let trusted = trusted(root);
        let releases = lock
            .providers
            .iter()
            .filter_map(|(provider, entry)| {
                let stored = trusted.release(self.get(), provider, &entry.version)?;
                Some((provider.clone(), stored.release.clone()))
            })
            .collect();
        LockedReleases {
            releases,
            now: world.clock.now(),
        }
    }

    /// Warns of what could not be used.
    pub(crate) fn remarks(&self) -> impl Iterator<Item = Sentence> {
        self.store.iter().flat_map(|(store, dir)| {
            store
                .notes()
                .into_iter()
                .map(move |note| Sentence::warning(format!("{}: {note}", dir.display())))
        })
    }
}

/// Returns which facts count for a root.
pub(crate) fn trusted(root: &Root) -> TrustedFacts {
    // The origin of imported facts must be trusted, so a project file has to accept them.
    if root.project().trust.imported_facts {
        TrustedFacts::Imported
    } else {
        TrustedFacts::Own
    }
}
