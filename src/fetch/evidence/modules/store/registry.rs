//! Modules of registries: a version, a location, a package (`sources` rules 12).

use std::sync::Arc;

use super::{
    ModuleAccess, ModulePackage, ModuleStore, failure, found, kept, name_of, permit, scheme_of,
};
use crate::addr::Url;
use crate::addr::module::{RegistryModule, RemoteModule};
use crate::flavor::Flavor;
use crate::modules::archive::{ArchiveKind, MAX_ARCHIVE_BYTES, read_archive};
use crate::modules::git::AddressOrigin;
use crate::modules::package::SubdirectoryPattern;
use crate::remote_module::{FoundModule, ModuleFailure, ModulePin, ModuleRequest, PinRequest};
use crate::sources::modules::{DirectToken, ModuleLocation};
use crate::store::answers::AnswerKind;
use crate::version::{CoreConstraints, Version};

/// The title of the warning about what is no version.
const ODD_LIST: &str = "Invalid response from remote module registry";

/// Maximum number of texts that are no versions in a warning.
const MAX_SHOWN: usize = 5;

impl ModuleStore<'_> {
    /// Finds a module of a registry.
    pub(super) fn registry_module(
        &self,
        module: &RegistryModule,
        wanted: Option<&CoreConstraints>,
        request: &ModuleRequest<'_>,
    ) -> Result<FoundModule, ModuleFailure> {
        let flavor = request.flavor;
        let (version, unreadable) = self.select_version(module, wanted, request)?;
        let question = version_question(module, &version, flavor);
        let cached = self
            .cache
            .filter(|_| !self.pins_anew(request))
            .and_then(|cache| cache.find(AnswerKind::Locations, &question))
            .and_then(|cached| kept::read_location(&cached.answer));
        let is_cached = cached.is_some();
        let mut location = match cached {
            Some(location) => Arc::new(location),
            None => self.ask_location(module, &version, flavor)?,
        };
        let mut package = self.located(module, &version, &location, request);
        // Signed URLs and moved repositories fail after some time, while a cached location has no end
        // (rules 8.2).
        if package.is_err() && is_cached && self.access == ModuleAccess::Fetched {
            // The package may have moved since, and its old place be gone.
            location = self.ask_location(module, &version, flavor)?;
            package = self.located(module, &version, &location, request);
        }
        let mut package = package?;
        let address = location.address();
        // The directory in the location comes first (rules 2.3).
        let sub = match (&*address.sub, &*module.sub) {
            ("", sub) | (sub, "") => sub.to_owned(),
            (outer, inner) => format!("{outer}/{inner}"),
        };
        let dir = package
            .tree
            .expand(&sub, SubdirectoryPattern::Path)
            .map_err(|error| failure::registry_directory(error, &sub, flavor))?;
        let hash = self.pinned(&mut package, &address, AddressOrigin::Server, request)?;
        let shown = RegistryModule {
            sub: "".into(),
            ..module.clone()
        };
        Ok(FoundModule {
            shown: format!("{shown} {version}").into(),
            hash,
            warnings: unreadable
                .iter()
                .take(MAX_SHOWN)
                .map(|text| {
                    let host = &module.host;
                    let sentence =
                        format!("the registry at {host} lists {text:?}, which is no version");
                    (ODD_LIST, sentence)
                })
                .collect(),
            version: Some(version),
            ..found(&address, package, dir)
        })
    }

    /// Selects the version of a module; returns the texts in the list that are no versions as well.
    fn select_version(
        &self,
        module: &RegistryModule,
        wanted: Option<&CoreConstraints>,
        request: &ModuleRequest<'_>,
    ) -> Result<(Version, Vec<String>), ModuleFailure> {
        if let PinRequest::Kept(ModulePin {
            version: Some(version),
            ..
        }) = request.pin
        {
            return Ok((version.clone(), Vec::new()));
        }
        let flavor = request.flavor;
        let question = question(module);
        let cached = self
            .cache
            .and_then(|cache| cache.find(AnswerKind::Versions, &question))
            .and_then(|cached| kept::read_versions(&cached.answer))
            // A kept list may lack newer versions, so it is used only if it settles the choice, or if nothing
            // else may be read (rules 8.2).
            .filter(|versions| self.access == ModuleAccess::Cached || versions.settles(wanted));
        let versions = match cached {
            Some(versions) => Arc::new(versions),
            None => self.versions.get(&(flavor, name_of(module)), || {
                let versions = self
                    .network(flavor)?
                    .registries
                    .versions(module)
                    .map_err(|error| failure::registry(&error, flavor))?;
                if let Some(cache) = self.cache {
                    let text = kept::versions(&versions);
                    cache.keep(AnswerKind::Versions, &question, text.as_bytes());
                }
                Ok(Arc::new(versions))
            })?,
        };
        let version = versions
            .select(wanted, flavor)
            .map_err(|error| failure::selection(&error))?;
        Ok((version.clone(), versions.unreadable.clone()))
    }

    fn ask_location(
        &self,
        module: &RegistryModule,
        version: &Version,
        flavor: Flavor,
    ) -> Result<Arc<ModuleLocation>, ModuleFailure> {
        let question = (flavor, name_of(module), version.clone());
        self.locations.get(&question, || {
            let location = self
                .network(flavor)?
                .registries
                .location(module, version)
                .map_err(|error| failure::registry(&error, flavor))?;
            if let (Some(cache), Some(text)) = (self.cache, kept::location(&location)) {
                let question = version_question(module, version, flavor);
                cache.keep(AnswerKind::Locations, &question, text.as_bytes());
            }
            Ok(Arc::new(location))
        })
    }

    /// Returns true if a pin is made of what the registry names now: a version may have been published again.
    fn pins_anew(&self, request: &ModuleRequest<'_>) -> bool {
        request.pin == PinRequest::New && self.access == ModuleAccess::Fetched
    }

    /// Finds the package at a location. It is kept by the version and the location: neither changes.
    fn located(
        &self,
        module: &RegistryModule,
        version: &Version,
        location: &ModuleLocation,
        request: &ModuleRequest<'_>,
    ) -> Result<ModulePackage, ModuleFailure> {
        let flavor = request.flavor;
        let address = location.address();
        // What may be secret is left out of it, and is not what the package depends on.
        let place = RemoteModule {
            sub: "".into(),
            ..address.clone()
        };
        let kept_as = format!(
            "{} {}",
            version_question(module, version, flavor),
            place.shown()
        );
        let fetch = || {
            let package = match location {
                ModuleLocation::Direct { url, token } => {
                    self.direct(module, url, *token, flavor)?
                }
                ModuleLocation::Source(_) => {
                    // The registry's own URL may be plain http, by a `host` block; only for a plain location that
                    // matters, and is looked up.
                    let is_plain = scheme_of(address.forced_kind().1) == "http";
                    let network = self.network(flavor).ok().filter(|_| is_plain);
                    let is_encrypted =
                        network.is_none_or(|network| network.registries.is_encrypted(module));
                    let origin = if is_encrypted {
                        AddressOrigin::Server
                    } else {
                        AddressOrigin::PlainServer
                    };
                    // The directory that is named with it must be in the package as well.
                    permit(&address, origin)?;
                    self.package(&place, AddressOrigin::PlainServer, flavor)?
                }
            };
            self.keep(&kept_as, &package);
            Ok(package)
        };
        if self.pins_anew(request) {
            // Asked once in a run, whatever is kept.
            return self.packages.get(&(flavor, kept_as.as_str().into()), fetch);
        }
        self.kept(&kept_as).map_or_else(fetch, Ok)
    }

    /// Fetches a package by one request, whose kind its content shows.
    fn direct(
        &self,
        module: &RegistryModule,
        url: &Url,
        token: DirectToken,
        flavor: Flavor,
    ) -> Result<ModulePackage, ModuleFailure> {
        let network = self.network(flavor)?;
        let mut file = network
            .registries
            .direct(self.world.disk, module, url, token, MAX_ARCHIVE_BYTES)
            .map_err(|error| failure::download(&error))?
            .file;
        // The address says nothing about the kind, so the first bytes decide.
        let kind = ArchiveKind::of_content(&mut file)
            .map_err(|error| failure::missing(error.to_string()))?
            .ok_or_else(|| failure::missing("the package is no archive of a known kind"))?;
        let tree = read_archive(kind, file).map_err(|error| failure::package(&error))?;
        Ok(ModulePackage::of(tree))
    }
}

fn question(module: &RegistryModule) -> String {
    let RegistryModule {
        host,
        namespace,
        name,
        system,
        ..
    } = module;
    format!("{}/{namespace}/{name}/{system}", host.ascii())
}

/// The programs read some answers differently, so each has its own.
fn version_question(module: &RegistryModule, version: &Version, flavor: Flavor) -> String {
    let program = flavor.command();
    format!("{program} {} {version}", question(module))
}
