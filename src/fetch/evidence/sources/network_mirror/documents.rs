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
    pub(super) fn of(&self, platform: &Platform) -> Option<&Archive> {
        self.archives.as_ref()?.get(&platform.to_string())?.as_ref()
    }

    /// Returns the platforms, sorted, at most `limit`; names that are none are skipped.
    pub(super) fn platforms(&self, limit: usize) -> Vec<Platform> {
        let mut platforms: Vec<Platform> = self.iter().map(|(platform, _)| platform).collect();
        platforms.truncate(limit);
        platforms.sort();
        platforms
    }

    /// Returns an iterator over all packages; names that are no platform are skipped.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Platform, &Archive)> {
        self.archives
            .iter()
            .flatten()
            .filter_map(|(name, archive)| Some((name.parse().ok()?, archive.as_ref()?)))
    }
}
