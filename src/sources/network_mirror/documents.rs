//! The two documents of the network mirror protocol (rules 8.2 and 8.3).

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::platform::Platform;

/// `index.json`: the versions of a provider. The values behind their names are not read.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Index {
    pub(super) versions: Option<BTreeMap<String, IgnoredAny>>,
}

/// `VERSION.json`: the packages of a version, by platform.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Archives {
    archives: Option<BTreeMap<String, Option<Archive>>>,
}

/// One package. A field that is missing or `null` is empty.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Archive {
    pub(super) url: Option<String>,
    pub(super) hashes: Option<Vec<String>>,
}

impl Archives {
    /// Returns the package for a platform.
    pub(super) fn of(&self, platform: &Platform) -> Option<&Archive> {
        let archives = self.archives.as_ref()?;
        archives.get(&platform.to_string())?.as_ref()
    }

    /// Lists the platforms, sorted, at most so many; names that are none are passed over.
    pub(super) fn platforms(&self, limit: usize) -> Vec<Platform> {
        let mut platforms: Vec<Platform> = self.iter().map(|(platform, _)| platform).collect();
        platforms.truncate(limit);
        platforms.sort();
        platforms
    }

    /// Iterates over all packages; names that are no platform are passed over.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Platform, &Archive)> {
        let archives = self.archives.iter().flatten();
        let known = archives.filter_map(|(name, archive)| Some((name, archive.as_ref()?)));
        known.filter_map(|(name, archive)| Some((name.parse().ok()?, archive)))
    }
}
