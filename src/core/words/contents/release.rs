//! The builds of the packages of a release, for comparison.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{BuildInfo, ProgramContents};
use crate::hash::Hash;
use crate::platform::Platform;

/// The known builds of the packages of a locked release.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReleaseBuilds {
    /// The packages of the release that the lock file names, by platform, then by `zh:`.
    pub packages: Vec<PackageBuild>,
}

/// The build of the program in a package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackageBuild {
    pub platform: Platform,
    /// The `zh:` of the package; `None` if only its files are available.
    pub zh: Option<Hash>,
    /// The `h1:` of the package, if it is known.
    pub h1: Option<Hash>,
    /// The contents of the program; `None` if it was not read.
    pub contents: Option<Arc<ProgramContents>>,
}

impl PackageBuild {
    /// The build information, if it is known.
    #[must_use]
    pub fn info(&self) -> Option<&BuildInfo> {
        self.contents.as_ref()?.build_info()
    }
}

impl ReleaseBuilds {
    /// Iterates over the packages with build information.
    pub fn known(&self) -> impl Iterator<Item = (&Platform, &BuildInfo)> {
        self.packages
            .iter()
            .filter_map(|package| Some((&package.platform, package.info()?)))
    }

    /// Returns the platforms with a package that was not read, sorted.
    #[must_use]
    pub fn unread(&self) -> BTreeSet<&Platform> {
        self.packages
            .iter()
            .filter(|package| package.contents.is_none())
            .map(|package| &package.platform)
            .collect()
    }
}

/// A difference between packages of one release; all of them should be built from the same source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BuildDisagreement {
    /// The packages were built from different commits; the value has the platforms of each commit.
    Commits(BTreeMap<String, BTreeSet<Platform>>),
    /// Some packages were built from source that differed from its commit, and others were not.
    Dirty {
        dirty: BTreeSet<Platform>,
        clean: BTreeSet<Platform>,
    },
}

impl ReleaseBuilds {
    /// Returns the known commits that the packages were built from, with their platforms.
    #[must_use]
    pub fn commits(&self) -> BTreeMap<String, BTreeSet<Platform>> {
        self.platforms_by(|info| info.commit().map(str::to_owned))
    }

    /// Groups the platforms of known packages by a value of their build information; skips packages without it.
    pub fn platforms_by<K: Ord>(
        &self,
        key: impl Fn(&BuildInfo) -> Option<K>,
    ) -> BTreeMap<K, BTreeSet<Platform>> {
        let mut groups: BTreeMap<K, BTreeSet<Platform>> = BTreeMap::new();
        for (platform, info) in self.known() {
            if let Some(key) = key(info) {
                groups.entry(key).or_default().insert(platform.clone());
            }
        }
        groups
    }

    /// Lists the differences between packages that should have none.
    #[must_use]
    pub fn disagreements(&self) -> Vec<BuildDisagreement> {
        let mut disagreements = Vec::new();
        // A package whose commit is unknown contradicts no other package, and is not in the map.
        let commits = self.commits();
        if commits.len() > 1 {
            disagreements.push(BuildDisagreement::Commits(commits));
        }
        let mut states = self.platforms_by(BuildInfo::is_dirty);
        // A release that is dirty on every platform is consistent: publishers who build with generated files have such
        // releases.
        if let (Some(dirty), Some(clean)) = (states.remove(&true), states.remove(&false)) {
            disagreements.push(BuildDisagreement::Dirty { dirty, clean });
        }
        disagreements
    }
}

/// Returns the path of a module without its major version: `x.example/m` for `x.example/m/v2`.
#[must_use]
pub fn without_major(path: &str) -> &str {
    let is_major = |end: &str| {
        end.strip_prefix('v').is_some_and(|digits| {
            !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
        })
    };
    // Modules of gopkg.in have the version after a dot (`yaml.v3`); it is a part of the name and stays.
    match path.rsplit_once('/') {
        Some((start, end)) if is_major(end) => start,
        _ => path,
    }
}
