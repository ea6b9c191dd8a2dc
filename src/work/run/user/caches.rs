//! The directory of the user's caches: facts about packages, modules that were fetched, and advisories.

use std::path::{Path, PathBuf};

use crate::run::World;
use crate::store::Store;
use crate::store::answers::AnswerCache;
use crate::world::Env;

/// Names the directory of the store.
pub(crate) const VARIABLE: &str = "LOCKCTL_CACHE_DIR";

/// The name of the directory in the user's directory for caches.
const NAME: &str = "lockctl";

/// Opens the store in a directory.
pub(crate) fn open_store<'a>(world: World<'a>, dir: &Path) -> Store<'a> {
    Store::new(world.disk.objects(dir), world.clock)
}

/// Opens the cache of answers about modules and advisories, which is in the same directory.
pub(crate) fn open_answers<'a>(world: World<'a>, dir: &Path) -> AnswerCache<'a> {
    AnswerCache::new(world.disk.objects(dir), world.clock)
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
