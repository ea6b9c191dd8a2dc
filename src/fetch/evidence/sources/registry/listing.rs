//! The list of a provider's versions (rules 2).

use std::collections::BTreeMap;

use super::documents::VersionList;
use super::text;
use crate::flavor::Flavor;
use crate::platform::Platform;
use crate::sources::cut;
use crate::version::Version;

/// The plugin protocols that the programs support (rules 3.2).
const PROTOCOLS: std::ops::Range<u64> = 5..7;

/// Maximum number of platforms of a version; the most that any release has are some thirty.
const MAX_PLATFORMS: usize = 200;

/// Maximum number of warnings that are passed on.
const MAX_WARNINGS: usize = 20;

/// The versions that a registry lists of a provider.
#[derive(Debug, Default)]
pub(super) struct ProviderListing {
    pub(super) versions: BTreeMap<Version, VersionListing>,
    pub(super) warnings: Vec<String>,
}

/// The list's entry about a version.
#[derive(Clone, Debug, Default)]
pub struct VersionListing {
    /// The plugin protocols, as the registry states them.
    pub protocols: Vec<String>,
    /// The platforms that the registry lists, sorted.
    pub platforms: Vec<Platform>,
}

/// Reads a list of versions; missing numbers are zero, and duplicates become one.
pub(super) fn listing(list: VersionList, flavor: Flavor) -> Result<ProviderListing, String> {
    let mut versions = BTreeMap::new();
    for listed in list.versions.unwrap_or_default() {
        let written = text(&listed.version);
        match written.parse::<Version>() {
            // `1.0` and `1.0.0` are one version here; what the later entry says of it counts.
            Ok(version) => {
                // Names that are no platform are left out.
                let mut platforms: Vec<Platform> = listed
                    .platforms
                    .unwrap_or_default()
                    .iter()
                    .take(MAX_PLATFORMS)
                    .filter_map(|stated| {
                        let name = format!("{}_{}", text(&stated.os), text(&stated.arch));
                        name.parse().ok()
                    })
                    .collect();
                // The order of the registry means nothing: `all` and messages list platforms in the order of
                // their names.
                platforms.sort();
                platforms.dedup();
                let protocols = listed.protocols.unwrap_or_default();
                let listing = VersionListing {
                    protocols,
                    platforms,
                };
                versions.insert(version, listing);
            }
            // Terraform from 1.15 on skips it; to the others one such text fails the whole query (rules
            // 2.3).
            Err(_) if flavor.skips_unreadable_versions() => {}
            Err(_) => return Err(format!("it lists {:?}, which is no version", cut(written))),
        }
    }
    let warnings = list.warnings.unwrap_or_default();
    Ok(ProviderListing {
        versions,
        warnings: warnings
            .iter()
            .take(MAX_WARNINGS)
            .map(|warning| cut(warning))
            .collect(),
    })
}

/// Returns whether one of the protocols is supported; the error is the text that is no version.
pub(super) fn supported(protocols: &[String]) -> Result<bool, &str> {
    let mut any = false;
    for protocol in protocols {
        let version: Version = protocol.parse().map_err(|_| &**protocol)?;
        any |= PROTOCOLS.contains(&version.major);
    }
    Ok(any)
}
