//! Advisories by the modules that they name.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{Advisory, GoModulePath};

/// Advisories, indexed by the modules that they name.
#[derive(Clone, Debug, Default)]
pub struct AdvisoryDatabase {
    /// By the path of a module in lower case, without its major suffix.
    by_base: BTreeMap<Box<str>, Vec<Arc<Advisory>>>,
    /// By the provider type in the name of the module.
    by_type: BTreeMap<Box<str>, Vec<Arc<Advisory>>>,
}

/// The modules that advisories are needed for.
#[derive(Clone, Debug, Default)]
pub struct ModuleSelection {
    /// Paths in lower case, without major suffixes.
    bases: BTreeSet<Box<str>>,
    /// Types of providers whose namespace on GitHub is not known.
    types: BTreeSet<Box<str>>,
}

impl ModuleSelection {
    pub(super) fn add_base(&mut self, base: &str) {
        if !self.bases.contains(base) {
            self.bases.insert(base.into());
        }
    }

    pub(super) fn add_type(&mut self, type_name: &str) {
        self.types.insert(type_name.to_lowercase().into());
    }

    /// Returns true if advisories about a module are needed.
    pub fn has(&self, path: &str) -> bool {
        let path = GoModulePath::new(path);
        self.bases.contains(path.base())
            || path
                .provider_type()
                .is_some_and(|type_name| self.types.contains(type_name))
    }

    /// Returns true if some module of an advisory is needed.
    pub fn has_any_of(&self, advisory: &Advisory) -> bool {
        advisory
            .modules
            .iter()
            .any(|module| self.has(module.path.as_str()))
    }
}

impl AdvisoryDatabase {
    /// Takes advisories in any order; those that were withdrawn are left out.
    pub fn new(advisories: impl IntoIterator<Item = Advisory>) -> Self {
        let mut database = Self::default();
        for advisory in advisories
            .into_iter()
            .filter(|advisory| !advisory.is_withdrawn)
        {
            let advisory = Arc::new(advisory);
            let paths = || advisory.modules.iter().map(|module| &module.path);
            // Sets, because an advisory lists a module once for each major version, and all of these share a base.
            let bases: BTreeSet<&str> = paths().map(GoModulePath::base).collect();
            let types: BTreeSet<&str> = paths().filter_map(GoModulePath::provider_type).collect();
            for (names, lists) in [
                (bases, &mut database.by_base),
                (types, &mut database.by_type),
            ] {
                for name in names {
                    lists
                        .entry(name.into())
                        .or_default()
                        .push(Arc::clone(&advisory));
                }
            }
        }
        // Sorted by identifier, so that the order of files or requests does not change the output.
        let lists = database.by_base.values_mut();
        for list in lists.chain(database.by_type.values_mut()) {
            list.sort_by(|left, right| left.id.cmp(&right.id));
        }
        database
    }

    /// Returns the advisories about a module, by its path in lower case without a major suffix.
    pub(super) fn about(&self, base: &str) -> &[Arc<Advisory>] {
        self.by_base.get(base).map_or(&[], Vec::as_slice)
    }

    /// Returns the advisories about modules whose name has a provider type.
    pub(super) fn about_type(&self, type_name: &str) -> &[Arc<Advisory>] {
        self.by_type.get(type_name).map_or(&[], Vec::as_slice)
    }
}
