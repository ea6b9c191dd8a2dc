//! Builds of locked packages, for `show --build`.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::Serialize;

use crate::contents::{BuildInfo, BuiltModule, ReleaseBuilds, Setting};
use crate::hash::Hash;
use crate::package::AttestedBuild;
use crate::platform::Platform;

/// The builds of the packages of a locked release.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "ReleaseBuilds"))]
pub struct ReleaseBuildRow {
    /// All known packages are built from the same commit; null if no commit is known.
    pub same_commit: Option<bool>,
    /// All known packages hold the same modules; null if no package is known. Platforms may need different ones.
    pub same_modules: Option<bool>,
    /// The programs name the commits that attestations state for their packages; null if none of both is known.
    pub attested_commit: Option<bool>,
    /// The packages, by platform; a package without any known data is left out.
    pub packages: Vec<PackageBuildRow>,
    /// The same data as values.
    #[serde(skip)]
    pub builds: ReleaseBuilds,
}

/// The build of the program in one package.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "PackageBuild"))]
pub struct PackageBuildRow {
    /// The platform of the package.
    pub platform: Platform,
    /// The `zh:` of the package; null if only its files are available.
    pub zh: Option<Hash>,
    /// The `h1:` of the package; null if it is unknown.
    pub h1: Option<Hash>,
    /// The state of the contents.
    pub contents: ContentsKnowledge,
    /// The build information; null if it is unknown.
    pub build: Option<Arc<GoBuildRow>>,
    /// The build that an attestation states; null if none is known.
    pub attested: Option<AttestedBuild>,
}

/// The state of the contents of a package.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ContentsKnowledge {
    /// The program has build information.
    Known,
    /// The program was read, and has no readable build information.
    Unknown,
    /// The program was not read.
    NotRead,
}

/// The build information of a Go program, as `go version -m` prints it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "GoBuild"))]
pub struct GoBuildRow {
    /// The version of Go, with experiments after a space.
    pub go_version: String,
    /// The path of the main package; null if it is not stated.
    pub path: Option<String>,
    /// The module of the main package; null without module support.
    pub main: Option<BuiltModule>,
    /// The commit of the source; null if Go did not record it.
    pub commit: Option<String>,
    /// The time of that commit, in RFC 3339; null if Go did not record it.
    pub time: Option<String>,
    /// The source differed from that commit; null if Go did not record it.
    pub dirty: Option<bool>,
    /// The other modules in the program, in the order of the program.
    pub modules: Vec<BuiltModule>,
    /// The settings of the build, in the order of the program.
    pub settings: Vec<Setting>,
}

impl ReleaseBuildRow {
    /// Counts the platforms whose builds are known, and names their differences.
    #[must_use]
    pub fn coverage(&self) -> String {
        let known: BTreeSet<&Platform> =
            self.builds.known().map(|(platform, _)| platform).collect();
        let every: BTreeSet<&Platform> = self
            .packages
            .iter()
            .map(|package| &package.platform)
            .collect();
        let mut text = format!("{} of {}", known.len(), every.len());
        // Different commits are a fault of the publisher; different modules may be needed by the platforms.
        if self.same_commit == Some(false) {
            text += ", other commits";
        }
        if self.same_modules == Some(false) {
            text += ", other modules";
        }
        text
    }
}

impl From<&BuildInfo> for GoBuildRow {
    fn from(info: &BuildInfo) -> Self {
        Self {
            go_version: info.go_version.clone(),
            // Go writes an empty text for an unknown path.
            path: Some(&info.path).filter(|path| !path.is_empty()).cloned(),
            main: info.main.clone(),
            commit: info.commit().map(str::to_owned),
            time: info.time().map(str::to_owned),
            dirty: info.is_dirty(),
            modules: info.deps.clone(),
            // All settings, including those with a field of their own, so that the text of Go is complete.
            settings: info.settings.clone(),
        }
    }
}
