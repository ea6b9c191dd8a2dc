//! The builds of the packages of a release, side by side.

use std::collections::BTreeSet;
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
