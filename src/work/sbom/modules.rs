//! Go modules of programs as a bill lists them: each once, regardless of the number of programs.

use std::collections::{BTreeMap, BTreeSet};

use super::bill::Property;
use super::purl;
use crate::contents::{BuildInfo, BuiltModule};

/// The name of the standard library in vulnerability scanners.
const STANDARD_LIBRARY: &str = "stdlib";

/// The version that Go writes if it does not know the version of a module.
const DEVELOPMENT: &str = "(devel)";

/// A module that was compiled into a program.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BilledModule {
    /// The path of the module whose source was compiled, or its directory.
    pub path: String,
    /// The version, if Go knew it.
    pub version: Option<String>,
    /// The checksum of Go, `h1:…`, if the module was downloaded.
    pub sum: Option<String>,
    /// The module that it was compiled in place of, as `PATH@VERSION`.
    pub replaces: Option<String>,
    /// The source came from a directory, so it is not a published module.
    pub is_directory: bool,
}

impl BilledModule {
    /// Lists the modules of a program: its main module, the dependencies, and the standard library.
    pub fn all_of(info: &BuildInfo) -> BTreeSet<Self> {
        // Experiments may follow after a space. Advisories name no development versions of Go, such as `devel go1.27-…`.
        let version = info
            .go_version
            .split(' ')
            .next()
            .and_then(|version| version.strip_prefix("go"));
        let standard_library = version.map(|version| Self {
            path: STANDARD_LIBRARY.to_owned(),
            version: Some(version.to_owned()),
            sum: None,
            replaces: None,
            is_directory: false,
        });
        info.main
            .iter()
            .chain(&info.deps)
            .map(Self::of)
            .chain(standard_library)
            .collect()
    }

    /// Returns the purl; a directory of the machine that built the program has none.
    pub fn purl(&self) -> Option<String> {
        (!self.is_directory).then(|| purl::of_module(&self.path, self.version.as_deref()))
    }

    /// Lists the data without a field in the formats, as pairs of a name and a value.
    pub fn properties(&self) -> Vec<Property> {
        [("go:sum", &self.sum), ("go:replaces", &self.replaces)]
            .into_iter()
            .filter_map(|(name, value)| Some((name.to_owned(), value.clone()?)))
            .collect()
    }

    fn of(module: &BuiltModule) -> Self {
        let text = |text: &str| (!text.is_empty() && text != DEVELOPMENT).then(|| text.to_owned());
        // Go states no checksum of a replaced module, because the replacement was compiled.
        let Some(replacement) = &module.replacement else {
            return Self {
                path: module.path.clone(),
                version: text(&module.version),
                sum: module.sum.clone(),
                replaces: None,
                is_directory: false,
            };
        };
        Self {
            path: replacement.path.clone(),
            version: text(&replacement.version),
            sum: replacement.sum.clone(),
            replaces: Some(format!("{}@{}", module.path, module.version)),
            // Only a replacement by a module has a version; for a directory Go writes `(devel)`.
            is_directory: text(&replacement.version).is_none(),
        }
    }
}

/// Gives each module a unique name: its purl, with a number if several modules have the same purl.
pub(super) fn names(modules: &BTreeSet<BilledModule>) -> BTreeMap<&BilledModule, String> {
    let mut uses: BTreeMap<String, usize> = BTreeMap::new();
    modules
        .iter()
        .map(|module| {
            let name = module
                .purl()
                .unwrap_or_else(|| format!("directory:{}", module.path));
            // Modules with the same purl may differ in their checksums, or in the module that they replace.
            let count = uses.entry(name.clone()).or_default();
            *count += 1;
            // The set is sorted, so each run gives the same number to a module.
            let name = if *count == 1 {
                name
            } else {
                format!("{name}#{count}")
            };
            (module, name)
        })
        .collect()
}
