//! The store of the user: where it is, and when it is used.

use std::path::{Path, PathBuf};

use crate::coverage::Attributions;
use crate::locker::TrustedFacts;
use crate::lockfile::LockFile;
use crate::modules::cache::ModuleCache;
use crate::report::Sentence;
use crate::run::World;
use crate::run::options::RunOptions;
use crate::run::root::Root;
use crate::store::{Facts, NoFacts, Store};
use crate::world::Env;

/// Names the directory of the store.
pub(crate) const VARIABLE: &str = "LOCKCTL_CACHE_DIR";

/// The name of the directory in the user's directory for caches.
const NAME: &str = "lockctl";

/// The facts that a command works with.
pub(crate) struct UserFacts<'a> {
    /// The store, and its directory.
    store: Option<(Store<'a>, PathBuf)>,
}

impl<'a> UserFacts<'a> {
    /// Opens the store of the user, unless it is not to be used.
    pub(crate) fn new(options: &RunOptions, world: World<'a>) -> Self {
        let dir = if options.no_cache {
            None
        } else {
            directory(world.env)
        };
        Self {
            store: dir.map(|dir| (open(world, &dir), dir)),
        }
    }

    pub(crate) fn get(&self) -> &dyn Facts {
        match &self.store {
            Some((store, _)) => store,
            None => &NoFacts,
        }
    }

    /// Finds out what facts say about the hashes of a lock file; entries of which nothing is known are left
    /// out.
    pub(crate) fn about(&self, root: &Root, lock: &LockFile) -> Attributions {
        let trusted = trusted(root);
        let entries = lock.providers.iter().map(|(provider, entry)| {
            let (version, hashes) = (&entry.version, &entry.hashes);
            let found = trusted.attribute(self.get(), provider, version, hashes);
            (provider.clone(), found)
        });
        entries.filter(|(_, found)| !found.is_empty()).collect()
    }

    /// Warns of what could not be used.
    pub(crate) fn remarks(&self) -> impl Iterator<Item = Sentence> {
        self.store.iter().flat_map(|(store, dir)| {
            let notes = store.notes().into_iter();
            notes.map(move |note| Sentence::warning(format!("{}: {note}", dir.display())))
        })
    }
}

/// Returns which facts count for a root.
pub(crate) fn trusted(root: &Root) -> TrustedFacts {
    if root.project().trust.imported_facts {
        TrustedFacts::Imported
    } else {
        TrustedFacts::Own
    }
}

/// Opens the store in a directory.
pub(crate) fn open<'a>(world: World<'a>, dir: &Path) -> Store<'a> {
    Store::new(world.disk.objects(dir), world.clock)
}

/// Opens the cache of modules, which is in the same directory.
pub(crate) fn open_modules<'a>(world: World<'a>, dir: &Path) -> ModuleCache<'a> {
    ModuleCache::new(world.disk.objects(dir), world.clock)
}

/// Returns the directory of the store (`store` rules 3.1); `None` if the user has no directory for caches.
pub(crate) fn directory(env: &dyn Env) -> Option<PathBuf> {
    if let Some(stated) = path(env, VARIABLE) {
        return Some(stated);
    }
    // What is relative there is to be ignored, by the specification of these variables.
    let caches = path(env, "XDG_CACHE_HOME").filter(|dir| dir.is_absolute());
    let caches = caches.or_else(|| {
        if cfg!(windows) {
            path(env, "LOCALAPPDATA")
        } else if cfg!(target_os = "macos") {
            Some(path(env, "HOME")?.join("Library/Caches"))
        } else {
            Some(path(env, "HOME")?.join(".cache"))
        }
    });
    Some(caches?.join(NAME))
}

/// Returns the path that a variable states; an empty one states none.
fn path(env: &dyn Env, name: &str) -> Option<PathBuf> {
    let value = env.var(name)?;
    (!value.is_empty()).then(|| PathBuf::from(value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::mem::{MemEnv, slashed};

    #[track_caller]
    fn check(vars: &[(&str, &str)], expected: Option<&str>) {
        let vars = vars.iter();
        let vars = vars.map(|(name, value)| ((*name).to_owned(), (*value).into()));
        let env = MemEnv {
            vars: vars.collect(),
            ..MemEnv::default()
        };
        assert_eq!(directory(&env).map(slashed).as_deref(), expected);
    }

    #[test]
    fn the_store_is_where_the_user_keeps_caches() {
        check(&[], None);
        check(&[(VARIABLE, "x/y"), ("XDG_CACHE_HOME", "/c")], Some("x/y"));
        if cfg!(unix) {
            check(
                &[(VARIABLE, ""), ("XDG_CACHE_HOME", "/c")],
                Some("/c/lockctl"),
            );
        }
        if cfg!(target_os = "linux") {
            check(&[("HOME", "/h")], Some("/h/.cache/lockctl"));
            check(
                &[("XDG_CACHE_HOME", "c"), ("HOME", "/h")],
                Some("/h/.cache/lockctl"),
            );
        }
    }
}
