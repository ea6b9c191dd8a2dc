//! Packages whose modules are pinned: the commit of the pin, and the hash of all files.

use std::sync::Arc;

use super::failure;
use super::git::KeptAddress;
use super::{ModuleAccess, ModulePackage, ModuleStore};
use crate::addr::module::RemoteModule;
use crate::archive::{self, FileDigest};
use crate::diag::rules;
use crate::hash::{Hash, h1_of_digests};
use crate::modules::git::{AddressOrigin, GitFiles, GitLimits, GitRequest, fetch_package};
use crate::remote_module::{
    ModuleFailure, ModuleFailureKind, ModulePin, ModuleRequest, PinRequest,
};

/// Returns the address of the package that a pin names: of a repository with the commit instead of the ref.
pub(super) fn address(module: &RemoteModule, pin: PinRequest<'_>) -> RemoteModule {
    match pin {
        PinRequest::Kept(ModulePin {
            commit: Some(commit),
            ..
        }) if is_git(module) => at_commit(module, commit),
        _ => module.clone(),
    }
}

/// Returns the cache key of a package that a hash alone fixes: of an archive, whose address may hold other files later.
pub(super) fn question(module: &RemoteModule, pin: PinRequest<'_>) -> Option<String> {
    match pin {
        PinRequest::Kept(pin) if !is_git(module) => Some(key(module, &pin.hash)),
        _ => None,
    }
}

fn key(module: &RemoteModule, hash: &Hash) -> String {
    let package = RemoteModule {
        sub: "".into(),
        ..module.clone()
    };
    format!("{} {}", package.shown(), hash.as_str())
}

fn is_git(module: &RemoteModule) -> bool {
    module.forced_kind().0 == Some("git")
}

fn at_commit(module: &RemoteModule, commit: &str) -> RemoteModule {
    let (url, query) = module
        .package
        .split_once('?')
        .unwrap_or((&module.package, ""));
    // A commit may not be the tip of a branch, so that a shallow clone by name does not find it.
    let is_kept = |argument: &&str| {
        let name = argument.split('=').next().unwrap_or_default();
        !argument.is_empty() && !["ref", "depth"].contains(&name)
    };
    let mut arguments: Vec<&str> = query.split('&').filter(is_kept).collect();
    let reference = format!("ref={commit}");
    arguments.push(&reference);
    RemoteModule {
        package: format!("{url}?{}", arguments.join("&")).into(),
        sub: module.sub.clone(),
    }
}

impl ModuleStore<'_> {
    /// Hashes a package that is pinned, and compares it with the pin.
    ///
    /// # Errors
    /// If it is another package, or a file of it could not be read.
    pub(super) fn pinned(
        &self,
        package: &mut ModulePackage,
        address: &RemoteModule,
        origin: AddressOrigin,
        request: &ModuleRequest<'_>,
    ) -> Result<Option<Hash>, ModuleFailure> {
        let pin = match request.pin {
            PinRequest::Unused => return Ok(None),
            PinRequest::New => None,
            PinRequest::Kept(pin) => Some(pin),
        };
        // A directory of this machine is hashed where it is: a package keeps no large files.
        let digests = match &package.place {
            Some(place) => archive::dir::hash_module(self.world.disk, place)
                .map(|hashed| hashed.files)
                .map_err(|error| failure::missing(error.to_string()))?,
            None => self.digests(package, address, origin, request)?,
        };
        let named = digests.iter().map(|file| (&*file.name, file.digest));
        let hash = h1_of_digests(named).map_err(|error| failure::missing(error.to_string()))?;
        let Some(pin) = pin.filter(|pin| pin.hash != hash) else {
            return Ok(Some(hash));
        };
        let found = match (&pin.version, &package.commit) {
            // A version comes first: users know it, and its registry chose the commit.
            (Some(version), _) => format!("version {version} has the hash {hash} now"),
            (None, Some(commit)) => format!("commit {commit} has the hash {hash}"),
            (None, None) => format!("the package has the hash {hash} now"),
        };
        let help = "find out why it changed; `lockctl update --pins` pins what is there now";
        Err(ModuleFailure {
            kind: ModuleFailureKind::Refused(rules::MODULE_MOVED),
            title: "Module is not the pinned one",
            cause: format!("{found}, and {} is pinned", pin.hash),
            help: Some(help.to_owned()),
        })
    }

    /// Keeps a package by its hash, unless it is kept by its commit or is a directory of this machine.
    pub(super) fn keep_pinned(
        &self,
        module: &RemoteModule,
        package: &ModulePackage,
        hash: Option<&Hash>,
    ) {
        if let Some(hash) = hash.filter(|_| !is_git(module) && package.place.is_none()) {
            let question = key(module, hash);
            if self.kept(&question).is_none() {
                self.keep(&question, package);
            }
        }
    }

    /// Returns the digests of all files; of a repository, large files are fetched for them.
    fn digests(
        &self,
        package: &mut ModulePackage,
        address: &RemoteModule,
        origin: AddressOrigin,
        request: &ModuleRequest<'_>,
    ) -> Result<Vec<FileDigest>, ModuleFailure> {
        if let Some(digests) = package.tree.digests() {
            return Ok(digests);
        }
        let commit = package.commit.as_deref().filter(|_| is_git(address));
        let Some(commit) = commit else {
            let cause = "the package has files that are too large to be hashed";
            return Err(failure::missing(cause));
        };
        if self.access == ModuleAccess::Cached {
            return Err(failure::not_fetched());
        }
        let whole = at_commit(address, commit);
        let question = KeptAddress::read(&whole)?.question(commit);
        // Another call of the run may have read them.
        if let Some(digests) = self.kept(&question).and_then(|kept| kept.tree.digests()) {
            return Ok(digests);
        }
        let request = GitRequest {
            package: &whole.package,
            origin,
            flavor: request.flavor,
            files: GitFiles::All,
        };
        let fetched = fetch_package(self.world, &request, GitLimits::MODULE)
            .map_err(|error| failure::git(&error))?;
        let digests = fetched.tree.digests().unwrap_or_default();
        package.tree = Arc::new(fetched.tree);
        // Kept again, with the digests of the large files.
        self.keep(&question, package);
        Ok(digests)
    }
}
