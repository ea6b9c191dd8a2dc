//! Finding remote modules: by registries, over http, in repositories, in the cache.
//!
//! Within a run each thing is asked for once: the list of versions of a module, the location of a version, the
//! package of an address (rules 8). What cannot change is not asked for again by later runs.

mod failure;
mod git;
mod kept;
mod local;
mod pin;
mod registry;
#[cfg(test)]
mod tests;
mod web;

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::git::{AddressOrigin, GitWorld};
use super::package::{PackageTree, SubdirectoryError, SubdirectoryPattern};
use crate::addr::Hostname;
use crate::addr::module::{ModuleSource, RegistryModule, RemoteModule};
use crate::flavor::Flavor;
use crate::parallel::{self, Memo};
use crate::remote_module::{
    FoundModule, ModuleFailure, ModuleRequest, RemoteModules, RequestedSource, is_leaving,
};
use crate::sources::discovery::Discovery;
use crate::sources::modules::{ModuleLocation, ModuleRegistries, ModuleVersions};
use crate::sources::net::Net;
use crate::store::answers::{AnswerCache, AnswerKind};
use crate::version::Version;

/// Maximum number of answers in a row that only name another address (`sources` rules 13.4).
const MAX_STEPS: usize = 10;

/// Number of modules that are found side by side. Each may be a request or a run of git.
const FOUND_AT_ONCE: NonZeroUsize = NonZeroUsize::new(8).expect("positive");

/// The places that modules may be read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModuleAccess {
    /// From the cache alone.
    Cached,
    /// From the cache, and else from where they are.
    Fetched,
}

/// The network by the rules of a flavor.
pub struct ModuleNet<'a> {
    /// Sends requests. Its credentials for packages are those of netrc, in both programs.
    pub net: Net<'a>,
    /// The registries of all hosts, as `modules.v1` states them.
    pub discovery: Arc<Discovery<'a>>,
}

/// Returns the network of a flavor; `None` if the CLI configuration has errors.
pub type ModuleNets<'a> = dyn Fn(Flavor) -> Option<ModuleNet<'a>> + Send + Sync + 'a;

/// Finds modules, each package once.
pub struct ModuleStore<'a> {
    access: ModuleAccess,
    world: GitWorld<'a>,
    nets: Box<ModuleNets<'a>>,
    cache: Option<&'a AnswerCache<'a>>,
    networks: Memo<Flavor, Option<Arc<FlavorNetwork<'a>>>>,
    versions: Memo<(Flavor, ModuleName), Result<Arc<ModuleVersions>, ModuleFailure>>,
    locations: Memo<(Flavor, ModuleName, Version), Result<Arc<ModuleLocation>, ModuleFailure>>,
    packages: Memo<(Flavor, Box<str>), Result<ModulePackage, ModuleFailure>>,
    /// Packages by what they are kept as, also where there is no cache.
    known: Mutex<BTreeMap<Box<str>, ModulePackage>>,
}

/// The network of a flavor as it is used.
struct FlavorNetwork<'a> {
    net: Net<'a>,
    registries: ModuleRegistries<'a>,
}

/// A module of a registry without its subdirectory.
type ModuleName = (Hostname, [Box<str>; 3]);

/// A package that was found.
#[derive(Clone)]
struct ModulePackage {
    tree: Arc<PackageTree>,
    /// The id of the commit, if it is of a repository.
    commit: Option<Arc<str>>,
    /// The directory of this machine that it is, without links, if it is one.
    place: Option<Arc<Path>>,
}

impl ModulePackage {
    /// Makes a package of files that come from no repository and are not kept yet.
    fn of(tree: PackageTree) -> Self {
        Self {
            tree: Arc::new(tree),
            commit: None,
            place: None,
        }
    }
}

impl<'a> ModuleStore<'a> {
    /// Makes a store; nothing is asked yet.
    #[must_use]
    pub fn new(
        access: ModuleAccess,
        world: GitWorld<'a>,
        nets: Box<ModuleNets<'a>>,
        cache: Option<&'a AnswerCache<'a>>,
    ) -> Self {
        Self {
            access,
            world,
            nets,
            cache,
            networks: Memo::default(),
            versions: Memo::default(),
            locations: Memo::default(),
            packages: Memo::default(),
            known: Mutex::default(),
        }
    }

    /// Returns the network of a flavor.
    ///
    /// # Errors
    /// If none may be used.
    fn network(&self, flavor: Flavor) -> Result<Arc<FlavorNetwork<'a>>, ModuleFailure> {
        if self.access == ModuleAccess::Cached {
            return Err(failure::not_fetched());
        }
        self.networks
            .get(&flavor, || {
                let ModuleNet { net, discovery } = (self.nets)(flavor)?;
                let registries = ModuleRegistries::new(net.clone(), flavor, discovery);
                Some(Arc::new(FlavorNetwork { net, registries }))
            })
            .ok_or_else(failure::no_configuration)
    }

    /// Finds the package of an address, which may be that of an earlier call.
    fn package(
        &self,
        module: &RemoteModule,
        origin: AddressOrigin,
        flavor: Flavor,
    ) -> Result<ModulePackage, ModuleFailure> {
        permit(module, origin)?;
        // The subdirectory is no part of the question: calls of several directories share the package
        // (rules 1.1).
        let question = (flavor, module.package.clone());
        self.packages
            .get(&question, || self.fetch(module, origin, flavor, MAX_STEPS))
    }

    /// Fetches a package, as far as it is not kept, from its address; at most `steps` answers that name another
    /// address are followed.
    fn fetch(
        &self,
        module: &RemoteModule,
        origin: AddressOrigin,
        flavor: Flavor,
        steps: usize,
    ) -> Result<ModulePackage, ModuleFailure> {
        let (force, rest) = module.forced_kind();
        let scheme = scheme_of(rest);
        match (force.unwrap_or(&scheme), &*scheme) {
            ("http" | "https", "http" | "https") => self.fetch_web(module, rest, flavor, steps),
            ("file", "file") => self.read_disk(rest, flavor),
            // A forced kind decides, with any scheme: `git::https://…`.
            ("git", _) => self.fetch_git(module, origin, flavor),
            (kind @ ("s3" | "gcs" | "hg"), _) => Err(failure::unsupported(kind, flavor)),
            ("oci", _) if flavor.is_opentofu() => Err(failure::unsupported("oci", flavor)),
            (kind, _) => Err(failure::unknown_kind(kind)),
        }
    }

    /// Follows an address that a server named: its subdirectory becomes the package (`sources` rules 13.4).
    fn step(
        &self,
        named: &RemoteModule,
        origin: AddressOrigin,
        flavor: Flavor,
        steps: usize,
    ) -> Result<ModulePackage, ModuleFailure> {
        permit(named, origin)?;
        // The programs fetch the whole package and cut the directory out of it (`sources` rules 13.4).
        let package = RemoteModule {
            sub: "".into(),
            ..named.clone()
        };
        let whole = self.fetch(&package, origin, flavor, steps)?;
        if named.sub.is_empty() {
            return Ok(whole);
        }
        let of_sub = |error| failure::named_directory(error, &named.sub);
        let dir = whole
            .tree
            .expand(&named.sub, SubdirectoryPattern::Glob)
            .map_err(of_sub)?;
        let tree = whole.tree.below(&dir).map_err(|error| {
            if is_leaving(&error) {
                of_sub(SubdirectoryError::Leaves)
            } else {
                failure::missing(error.to_string())
            }
        })?;
        Ok(ModulePackage {
            commit: whole.commit,
            ..ModulePackage::of(tree)
        })
    }

    /// Returns a package that this run or an earlier one kept.
    fn kept(&self, question: &str) -> Option<ModulePackage> {
        if let Some(package) = self.known().get(question) {
            return Some(package.clone());
        }
        let cached = self.cache?.find(AnswerKind::Packages, question)?;
        let package = kept::read_package(&cached.answer)?;
        self.known().insert(question.into(), package.clone());
        Some(package)
    }

    /// Keeps a package for this run and for later ones.
    fn keep(&self, question: &str, package: &ModulePackage) {
        if let Some(cache) = self.cache {
            cache.keep(AnswerKind::Packages, question, &kept::package(package));
        }
        self.known().insert(question.into(), package.clone());
    }

    fn known(&self) -> MutexGuard<'_, BTreeMap<Box<str>, ModulePackage>> {
        // No step under the lock leaves it half done, so that a panic of another thread does not matter.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RemoteModules for ModuleStore<'_> {
    fn find(&self, request: &ModuleRequest<'_>) -> Result<FoundModule, ModuleFailure> {
        match request.source {
            RequestedSource::Remote(module) => {
                let address = pin::address(module, request.pin);
                let kept = pin::question(module, request.pin);
                let mut package = match kept.and_then(|question| self.kept(&question)) {
                    Some(package) => package,
                    None => self.package(&address, AddressOrigin::User, request.flavor)?,
                };
                let dir = package
                    .tree
                    .expand(&module.sub, SubdirectoryPattern::Glob)
                    .map_err(|error| failure::module_directory(error, &module.sub))?;
                // Before anything is kept: a package that is not the pinned one must not be found by later runs.
                let hash = self.pinned(&mut package, &address, AddressOrigin::User, request)?;
                self.keep_pinned(module, &package, hash.as_ref());
                Ok(FoundModule {
                    hash,
                    ..found(module, package, dir)
                })
            }
            RequestedSource::Registry(module, wanted) => {
                self.registry_module(module, wanted, request)
            }
        }
    }

    /// Finds all of them side by side; each result is kept until it is asked for (rules 8.8).
    fn prepare(&self, requests: &[ModuleRequest<'_>]) {
        // What is kept is read faster than threads start.
        if self.access == ModuleAccess::Fetched {
            parallel::map(FOUND_AT_ONCE, requests, |request| {
                let _ = self.find(request);
            });
        }
    }
}

/// Refuses an address that is unsafe: by its text, or because of who chose it (rules 8.4).
fn permit(module: &RemoteModule, origin: AddressOrigin) -> Result<(), ModuleFailure> {
    if let Some(danger) = ModuleSource::Remote(module.clone()).danger() {
        return Err(failure::danger(&danger));
    }
    let (force, rest) = module.forced_kind();
    match (origin, &*scheme_of(rest)) {
        (AddressOrigin::User, _) => Ok(()),
        // A registry could otherwise have files of this machine read and shown (rules 8.4).
        (_, "file") => Err(failure::local_path(module)),
        _ if force == Some("file") => Err(failure::local_path(module)),
        // Who asked by https would get a module that anybody on the way could have changed (rules 8.4).
        (AddressOrigin::Server, "http") => Err(failure::unencrypted(module)),
        _ => Ok(()),
    }
}

/// Returns the scheme of a URL in lower case.
fn scheme_of(url: &str) -> String {
    let (scheme, _) = url.split_once(':').unwrap_or((url, ""));
    scheme.to_ascii_lowercase()
}

/// Makes the answer about a module of a package.
fn found(package_address: &RemoteModule, package: ModulePackage, dir: PathBuf) -> FoundModule {
    let address = RemoteModule {
        sub: "".into(),
        ..package_address.clone()
    };
    FoundModule {
        files: package.tree,
        dir,
        package: Arc::from(&*address.package),
        shown: address.shown().into(),
        version: None,
        commit: package.commit,
        place: package.place,
        hash: None,
        warnings: Vec::new(),
    }
}

fn name_of(module: &RegistryModule) -> ModuleName {
    let parts = [&module.namespace, &module.name, &module.system];
    (module.host.clone(), parts.map(Clone::clone))
}
