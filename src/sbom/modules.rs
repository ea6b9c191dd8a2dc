//! Go modules of programs as a bill lists them: each once, whatever programs hold it.

use std::collections::{BTreeMap, BTreeSet};

use super::bill::Property;
use super::purl;
use crate::contents::{BuildInfo, BuiltModule};

/// The name of the standard library, as scanners call it.
const STANDARD_LIBRARY: &str = "stdlib";

/// The version of a module that Go did not know.
const DEVELOPMENT: &str = "(devel)";

/// A module that was compiled into a program.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BilledModule {
    /// The path of the module whose source was compiled; a directory where it came from one.
    pub path: String,
    /// The version, if Go knew it.
    pub version: Option<String>,
    /// The checksum of Go, `h1:…`, if the module was downloaded.
    pub sum: Option<String>,
    /// The module that it was compiled in place of, as `PATH@VERSION`.
    pub replaces: Option<String>,
    /// The source came from a directory, so it is no published module.
    pub is_directory: bool,
}

impl BilledModule {
    /// Lists what a program is made of: its main module, those that this one requires, and the standard library.
    #[must_use]
    pub fn all_of(info: &BuildInfo) -> BTreeSet<Self> {
        info.main
            .iter()
            .chain(&info.deps)
            .map(Self::of)
            .chain(Self::standard_library(&info.go_version))
            .collect()
    }

    /// Returns the purl; a directory of the machine that built the program has none.
    #[must_use]
    pub fn purl(&self) -> Option<String> {
        (!self.is_directory).then(|| purl::of_module(&self.path, self.version.as_deref()))
    }

    /// Lists what no field of a format has a place for, as pairs of a name and a value.
    #[must_use]
    pub fn properties(&self) -> Vec<Property> {
        [("go:sum", &self.sum), ("go:replaces", &self.replaces)]
            .into_iter()
            .filter_map(|(name, value)| Some((name.to_owned(), value.clone()?)))
            .collect()
    }

    fn of(module: &BuiltModule) -> Self {
        let text = |text: &str| (!text.is_empty() && text != DEVELOPMENT).then(|| text.to_owned());
        // Go states no checksum of a module that was replaced: what was compiled is the other one.
        let Some(replacement) = &module.replacement else {
            return Self {
                path: module.path.clone(),
                version: text(&module.version),
                sum: text(&module.sum),
                replaces: None,
                is_directory: false,
            };
        };
        Self {
            path: replacement.path.clone(),
            version: text(&replacement.version),
            sum: text(&replacement.sum),
            replaces: Some(format!("{}@{}", module.path, module.version)),
            // Only a replacement by a module has a version; for a directory Go writes that it knows none.
            is_directory: text(&replacement.version).is_none(),
        }
    }

    /// Makes the standard library of a version such as `go1.22.3`, which experiments may follow after a space.
    fn standard_library(go_version: &str) -> Option<Self> {
        // A development version of Go, as `devel go1.27-…`, is no version that an advisory could name.
        let version = go_version.split(' ').next()?.strip_prefix("go")?;
        Some(Self {
            path: STANDARD_LIBRARY.to_owned(),
            version: Some(version.to_owned()),
            sum: None,
            replaces: None,
            is_directory: false,
        })
    }
}

/// Gives each module a name of its own: its purl where that is unique.
pub(super) fn names(modules: &BTreeSet<BilledModule>) -> BTreeMap<&BilledModule, String> {
    let mut uses: BTreeMap<String, usize> = BTreeMap::new();
    modules
        .iter()
        .map(|module| {
            let name = module
                .purl()
                .unwrap_or_else(|| format!("directory:{}", module.path));
            // The same version with two checksums is two modules, and so is one that was replaced in one program only.
            let count = uses.entry(name.clone()).or_default();
            *count += 1;
            // The set is sorted, so that a number goes to the same module in each run.
            let name = if *count == 1 {
                name
            } else {
                format!("{name}#{count}")
            };
            (module, name)
        })
        .collect()
}
