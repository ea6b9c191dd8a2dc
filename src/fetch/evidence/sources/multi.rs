//! Several sources side by side (rules 10).
//!
//! Versions are those of all sources that are for a provider; a package comes from the first of
//! them that has it.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::SystemTime;

use super::{About, Offer, Source, SourceError, SourceFault, SourceLocation, retry};
use crate::addr::{ProviderAddr, ProviderFilter};
use crate::package::{PackageId, PackageMeta};
use crate::platform::Platform;
use crate::version::Version;

/// A source that others are beside.
pub type SharedSource<'a> = Arc<dyn Source + Send + Sync + 'a>;

/// One of several sources.
#[derive(Clone)]
pub struct SourceMember<'a> {
    /// The source, or why it cannot be asked: then every provider that it is for fails.
    pub source: Result<SharedSource<'a>, SourceError>,
    pub providers: ProviderFilter,
    /// The number of times to repeat its downloads, if that is configured.
    pub download_retries: Option<usize>,
}

impl<'a> SourceMember<'a> {
    /// Returns the source, or why the question cannot be put to it.
    fn ask(&self, about: impl FnOnce() -> About) -> Result<&SharedSource<'a>, SourceError> {
        self.source.as_ref().map_err(|error| SourceError {
            about: about(),
            ..error.clone()
        })
    }
}

/// Sources in query order.
#[derive(Clone, Default)]
pub struct Multi<'a> {
    /// The sources in the order of the configuration.
    pub members: Vec<SourceMember<'a>>,
}

impl<'a> Multi<'a> {
    /// Returns an iterator over the sources that are for a provider.
    fn of(&self, provider: &ProviderAddr) -> impl Iterator<Item = &SourceMember<'a>> {
        self.members
            .iter()
            // `include` and `exclude` decide who is asked at all (rules 10.4).
            .filter(|member| member.providers.allows(provider))
    }

    /// Returns an iterator over the sources that are for a provider and can be asked.
    fn usable(&self, provider: &ProviderAddr) -> impl Iterator<Item = &SharedSource<'a>> {
        self.of(provider)
            .filter_map(|member| member.source.as_ref().ok())
    }
}

impl Source for Multi<'_> {
    /// Returns the versions of all sources that know the provider.
    fn versions(&self, provider: &ProviderAddr) -> Result<Offer, SourceError> {
        let mut versions = BTreeSet::new();
        let mut warnings = Vec::new();
        let mut unknown = Vec::new();
        // One source after the other, so that none behind a failure is queried.
        for member in self.of(provider) {
            match member.ask(|| About::versions(provider))?.versions(provider) {
                Ok(offer) => {
                    // The newest version may be one that only a later source has (rules 10.1).
                    versions.extend(offer.versions);
                    warnings.extend(offer.warnings);
                }
                // Only a source that does not know the provider is skipped; any other failure is one of the
                // whole (rules 10.2).
                Err(error) if error.is_unknown_provider() => unknown.push(error),
                Err(error) => return Err(error),
            }
        }
        if versions.is_empty() {
            return Err(SourceError::nowhere(provider, unknown));
        }
        Ok(Offer {
            versions: versions.into_iter().collect(),
            warnings,
        })
    }

    fn platforms(&self, provider: &ProviderAddr, version: &Version) -> Vec<Platform> {
        let mut platforms: Vec<Platform> = self
            .usable(provider)
            .flat_map(|source| source.platforms(provider, version))
            .collect();
        platforms.sort();
        platforms.dedup();
        platforms
    }

    /// Returns the latest date that any source states.
    fn published(&self, provider: &ProviderAddr, version: &Version) -> Option<SystemTime> {
        self.usable(provider)
            .filter_map(|source| source.published(provider, version))
            .max()
    }

    /// Finds a package where the first source has it. One that lists no such version is asked all the
    /// same (rules 10.3).
    fn package(&self, id: &PackageId) -> Result<PackageMeta, SourceError> {
        let mut lacking = Vec::new();
        for member in self.of(&id.provider) {
            match member.ask(|| About::package(id))?.package(id) {
                Err(error) if error.is_unknown_provider() || error.lacks_platform() => {
                    lacking.push(error);
                }
                answer => {
                    let configured = member
                        .download_retries
                        // OpenTofu takes any number (rules 10.5); a slip such as 10000 would keep the run
                        // waiting for days.
                        .map(|retries| retries.min(retry::MAX_RETRIES));
                    return answer.map(|meta| PackageMeta {
                        download_retries: configured.or(meta.download_retries),
                        ..meta
                    });
                }
            }
        }
        match <[SourceError; 1]>::try_from(lacking) {
            Ok([only]) if only.lacks_platform() => Err(only),
            _ => {
                let offered = self.platforms(&id.provider, &id.version);
                Err(SourceError::new(
                    SourceLocation::Several,
                    About::package(id),
                    SourceFault::NoPackage { offered },
                ))
            }
        }
    }
}
