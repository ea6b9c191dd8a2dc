//! The builds of the packages of a release, side by side.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{BuildInfo, ProgramContents};
use crate::hash::Hash;
use crate::platform::Platform;

/// The builds of the packages of a locked release, as far as they are known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReleaseBuilds {
    /// The packages of the release that the lock file names, by platform, then by `zh:`.
    pub packages: Vec<PackageBuild>,
}

/// The build of the program in a package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackageBuild {
    pub platform: Platform,
    /// The `zh:` of the package, unless only its files are at hand.
    pub zh: Option<Hash>,
    /// The `h1:` of the package, if somebody hashed it.
    pub h1: Option<Hash>,
    /// The contents of the program; `None` if nobody looked.
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

    /// Returns the platforms of which nobody looked at a package, sorted.
    #[must_use]
    pub fn unread(&self) -> BTreeSet<&Platform> {
        self.packages
            .iter()
            .filter(|package| package.contents.is_none())
            .map(|package| &package.platform)
            .collect()
    }
}

/// Something in which the packages of one release differ, although one source should have made all of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BuildDisagreement {
    /// They were built from different commits; the platforms of each, by commit.
    Commits(BTreeMap<String, BTreeSet<Platform>>),
    /// Some were built from source that differed from its commit, and others were not.
    Dirty {
        dirty: BTreeSet<Platform>,
        clean: BTreeSet<Platform>,
    },
}

impl ReleaseBuilds {
    /// Returns the commits that the packages were built from, as far as they are known, with their platforms.
    #[must_use]
    pub fn commits(&self) -> BTreeMap<String, BTreeSet<Platform>> {
        self.platforms_by(|info| info.commit().map(str::to_owned))
    }

    /// Groups the platforms of known packages by what their build information says, if it says that.
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
        // A package whose commit is unknown contradicts no other one, and is not among them.
        let commits = self.commits();
        if commits.len() > 1 {
            disagreements.push(BuildDisagreement::Commits(commits));
        }
        let mut states = self.platforms_by(BuildInfo::is_dirty);
        // A build that is dirty everywhere is one that all platforms agree on: whoever builds with generated files has it.
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
    // Modules of gopkg.in have the version behind a dot (`yaml.v3`), which is a part of their name and stays.
    match path.rsplit_once('/') {
        Some((start, end)) if is_major(end) => start,
        _ => path,
    }
}
