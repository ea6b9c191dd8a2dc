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

#[cfg(test)]
mod tests {
    use std::io;
    use std::path::PathBuf;
    use std::sync::Mutex;

    use super::*;
    use crate::addr::ProviderPattern;
    use crate::flavor::Flavor;
    use crate::hash::Hashes;
    use crate::package::{Local, Location};

    const FLAVOR: Flavor = Flavor::Terraform1_11;

    /// A source that has packages for one platform, and writes down what it is asked.
    struct Shelf {
        name: &'static str,
        versions: &'static [&'static str],
        platform: &'static str,
        fails: bool,
        asked: Arc<Mutex<Vec<String>>>,
    }

    impl Shelf {
        fn error(&self, about: About, fault: SourceFault) -> SourceError {
            SourceError::new(SourceLocation::Directory(self.name.into()), about, fault)
        }

        fn answer(&self, what: &str) -> Result<(), SourceError> {
            self.asked
                .lock()
                .expect("no panic")
                .push(format!("{} {what}", self.name));
            if self.fails {
                let fault = SourceFault::Unreadable {
                    path: self.name.into(),
                    cause: io::Error::other("broken"),
                };
                return Err(self.error(About::Source, fault));
            }
            Ok(())
        }
    }

    impl Source for Shelf {
        fn versions(&self, provider: &ProviderAddr) -> Result<Offer, SourceError> {
            self.answer("versions")?;
            if self.versions.is_empty() {
                let fault = SourceFault::unknown_provider();
                return Err(self.error(About::versions(provider), fault));
            }
            let versions = self
                .versions
                .iter()
                .map(|text| text.parse().expect("valid"));
            Ok(Offer {
                versions: versions.collect(),
                warnings: Vec::new(),
            })
        }

        fn platforms(&self, _: &ProviderAddr, version: &Version) -> Vec<Platform> {
            let has = self.versions.contains(&&*version.to_string());
            has.then(|| self.platform.parse().expect("valid"))
                .into_iter()
                .collect()
        }

        fn package(&self, id: &PackageId) -> Result<PackageMeta, SourceError> {
            self.answer("package")?;
            let offered = self.platforms(&id.provider, &id.version);
            if !offered.contains(&id.platform) {
                let fault = SourceFault::NoPackage { offered };
                return Err(self.error(About::package(id), fault));
            }
            Ok(PackageMeta {
                id: id.clone(),
                location: Location::Local(Local::Archive(PathBuf::from(self.name))),
                evidence: None,
                stated: Hashes::default(),
                claims: None,
                download_retries: None,
            })
        }
    }

    /// A source as `NAME VERSION,VERSION PLATFORM [INCLUDE] [!EXCLUDE] [fails]`.
    type Row = (
        &'static str,
        &'static [&'static str],
        &'static str,
        &'static str,
    );

    /// Asks for `acme/demo` 1.0.0 for linux_amd64; returns the versions, the place of the package, and
    /// who was asked.
    fn ask(rows: &[Row]) -> (String, String, Vec<String>) {
        let asked = Arc::new(Mutex::new(Vec::new()));
        let members = rows.iter().map(|(name, versions, platform, filter)| {
            let patterns = |text: &str| ProviderPattern::parse(text, FLAVOR).expect("valid");
            let mut providers = ProviderFilter::default();
            match filter.strip_prefix('!') {
                Some(excluded) => providers.exclude.push(patterns(excluded)),
                None if filter.contains('/') => providers.include.push(patterns(filter)),
                None => {}
            }
            SourceMember {
                source: Ok(Arc::new(Shelf {
                    name,
                    versions,
                    platform,
                    fails: *filter == "fails",
                    asked: Arc::clone(&asked),
                })),
                providers,
                download_retries: None,
            }
        });
        let multi = Multi {
            members: members.collect(),
        };
        let provider = ProviderAddr::parse("acme/demo", FLAVOR).expect("valid");
        let versions = multi.versions(&provider).map(|offer| {
            let texts: Vec<String> = offer.versions.iter().map(ToString::to_string).collect();
            texts.join(" ")
        });
        let id = PackageId {
            provider,
            version: "1.0.0".parse().expect("valid"),
            platform: "linux_amd64".parse().expect("valid"),
        };
        let package = multi.package(&id).map(|meta| meta.location.to_string());
        let text =
            |answer: Result<String, SourceError>| answer.unwrap_or_else(|e| format!("! {e}"));
        let asked = asked.lock().expect("no panic").clone();
        (text(versions), text(package), asked)
    }

    #[test]
    fn versions_are_united_and_the_first_that_has_a_package_gives_it() {
        let rows: [Row; 3] = [
            ("a", &["1.0.0"], "linux_arm64", ""),
            ("b", &["2.0.0", "1.0.0"], "linux_amd64", ""),
            ("c", &["1.0.0", "3.0.0"], "linux_amd64", ""),
        ];
        let (versions, place, asked) = ask(&rows);
        assert_eq!((&*versions, &*place), ("1.0.0 2.0.0 3.0.0", "b"));
        assert_eq!(
            asked,
            [
                "a versions",
                "b versions",
                "c versions",
                "a package",
                "b package"
            ]
        );
    }

    #[test]
    fn a_source_that_does_not_know_the_provider_is_passed_over() {
        let rows: [Row; 2] = [
            ("a", &[], "linux_amd64", ""),
            ("b", &["1.0.0"], "linux_amd64", ""),
        ];
        let (versions, place, _) = ask(&rows);
        assert_eq!((&*versions, &*place), ("1.0.0", "b"));
        let (versions, place, _) = ask(&rows[..1]);
        assert_eq!(
            versions,
            "! the mirror in a has no package of registry.terraform.io/acme/demo"
        );
        assert!(
            place.starts_with("! the mirror in a has no package of"),
            "{place}"
        );
    }

    #[test]
    fn any_other_failure_is_one_of_the_whole() {
        let rows: [Row; 2] = [
            ("a", &["1.0.0"], "linux_amd64", "fails"),
            ("b", &["1.0.0"], "linux_amd64", ""),
        ];
        let (versions, place, asked) = ask(&rows);
        let failure = "! the mirror in a cannot be read";
        assert_eq!((&*versions, &*place), (failure, failure));
        assert_eq!(asked, ["a versions", "a package"]);
    }

    #[test]
    fn include_and_exclude_say_who_is_asked() {
        let rows: [Row; 3] = [
            ("a", &["1.0.0"], "linux_amd64", "other/*"),
            ("b", &["1.0.0"], "linux_amd64", "!acme/demo"),
            ("c", &["1.0.0"], "linux_amd64", "acme/*"),
        ];
        let (versions, place, asked) = ask(&rows);
        assert_eq!((&*versions, &*place), ("1.0.0", "c"));
        assert_eq!(asked, ["c versions", "c package"]);
        let (versions, _, asked) = ask(&rows[..2]);
        assert_eq!(
            versions,
            "! no source of packages is for registry.terraform.io/acme/demo"
        );
        assert!(asked.is_empty());
    }

    #[test]
    fn what_no_source_has_lacks_the_platform() {
        let rows: [Row; 2] = [
            ("a", &["1.0.0"], "linux_arm64", ""),
            ("b", &["1.0.0"], "darwin_arm64", ""),
        ];
        let (_, place, _) = ask(&rows);
        assert_eq!(
            place,
            "! no source has a package of registry.terraform.io/acme/demo 1.0.0 for linux_amd64"
        );
    }
}
