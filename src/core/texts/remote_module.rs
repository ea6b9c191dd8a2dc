//! Requests for remote modules, and the packages that answer them.
//!
//! Readers of configuration use [`RemoteModules`], which hides the network and the cache; a package is a tree
//! of files that never touches the disk.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Serialize;

use crate::addr::module::{RegistryModule, RemoteModule};
use crate::flavor::Flavor;
use crate::hash::Hash;
use crate::version::{CoreConstraints, Version};
use crate::world::{Files, Layer};

/// Finding remote modules. Many threads may ask at once.
pub trait RemoteModules: Sync {
    /// Finds the module that a call asks for.
    ///
    /// Two requests for one package within a run get the same files.
    ///
    /// # Errors
    /// If the module may not be fetched, could not be, or must not be used.
    fn find(&self, request: &ModuleRequest<'_>) -> Result<FoundModule, ModuleFailure>;

    /// Announces later requests, so that they can be answered in parallel. Only `find` reports what fails.
    fn prepare(&self, _requests: &[ModuleRequest<'_>]) {}
}

/// A request for the module of a call.
#[derive(Clone, Copy, Debug)]
pub struct ModuleRequest<'a> {
    /// The source of the call.
    pub source: RequestedSource<'a>,
    /// The rules for reading sources and versions.
    pub flavor: Flavor,
    /// The pin of the call, where calls are pinned.
    pub pin: PinRequest<'a>,
}

/// The source of a call of a remote module.
#[derive(Clone, Copy, Debug)]
pub enum RequestedSource<'a> {
    /// A module of a registry, and which versions will do; any version if that is not stated.
    Registry(&'a RegistryModule, Option<&'a CoreConstraints>),
    /// A package with a full address.
    Remote(&'a RemoteModule),
}

/// The files of a package: paths are relative to its top, which is the empty path. A link that leads out of
/// the package is an error wherever it is followed.
pub type PackageFiles = Arc<dyn Files + Send + Sync>;

/// A module that was found.
#[derive(Clone)]
pub struct FoundModule {
    /// The files of its package.
    pub files: PackageFiles,
    /// The directory of the module in the package; empty for the package itself.
    pub dir: PathBuf,
    /// The address of the package: two modules with the same one share their files.
    pub package: Arc<str>,
    /// The name of the package in messages, without anything secret.
    pub shown: Arc<str>,
    /// The version that was selected, for a module of a registry.
    pub version: Option<Version>,
    /// The id of the commit, for a module of a repository.
    pub commit: Option<Arc<str>>,
    /// The directory of this machine that the package is, without links: the programs link to such a package,
    /// so that what it calls is there.
    pub place: Option<Arc<Path>>,
    /// The `h1:` hash of the package, if the request was about a pin.
    pub hash: Option<Hash>,
    /// Warnings about the module: a title of the program and a sentence each.
    pub warnings: Vec<(&'static str, String)>,
}

/// The failure to find a module.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{cause}")]
pub struct ModuleFailure {
    /// The kind of failure, which decides about retries and severity.
    pub kind: ModuleFailureKind,
    /// The title of the program, where it has one.
    pub title: &'static str,
    /// The cause, in one sentence without anything secret.
    pub cause: String,
    /// The next step of the user, if there is one.
    pub help: Option<String>,
}

/// The kind of a failure to find a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModuleFailureKind {
    /// The module is not on this machine, and this run does not fetch.
    NotFetched,
    /// Its kind of source is not supported here.
    Unsupported,
    /// The place where it is did not answer, or refused access: another attempt may succeed.
    Unreachable,
    /// There is no such module, version or directory, or its package is broken.
    Missing,
    /// The module is unsafe: lockctl refuses it, whether or not a program reads it. Holds the name of the rule.
    Refused(&'static str),
}

/// A path or a link leads out of its package.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it leads out of the package")]
pub struct LeavesPackage;

impl From<LeavesPackage> for io::Error {
    fn from(leaves: LeavesPackage) -> Self {
        Self::new(io::ErrorKind::PermissionDenied, leaves)
    }
}

/// Returns whether an error of [`PackageFiles`] means that a path leads out of the package.
#[must_use]
pub fn is_leaving(error: &io::Error) -> bool {
    error
        .get_ref()
        .is_some_and(|inner| inner.is::<LeavesPackage>())
}

/// Finds nothing: for runs that read only what is installed.
#[derive(Clone, Copy, Debug, Default)]
pub struct InstalledOnly;

impl RemoteModules for InstalledOnly {
    fn find(&self, _: &ModuleRequest<'_>) -> Result<FoundModule, ModuleFailure> {
        Err(ModuleFailure {
            kind: ModuleFailureKind::NotFetched,
            title: "Module not installed",
            cause: "the module is not installed".to_owned(),
            help: None,
        })
    }
}

/// The files of a module that was found, by the names that messages have for them.
#[derive(Clone, Copy)]
pub struct NamedFiles<'a>(pub &'a FoundModule);

impl Layer for NamedFiles<'_> {
    fn base(&self) -> &dyn Files {
        &*self.0.files
    }

    fn name(&self, path: &Path) -> String {
        self.0.name_of(path)
    }
}

impl FoundModule {
    /// Returns what messages call a path of the package: the name of the package, `//` and the path.
    #[must_use]
    pub fn name_of(&self, path: &Path) -> String {
        if path.as_os_str().is_empty() {
            return self.shown.to_string();
        }
        // Paths in a package have slashes on every system.
        let path = path.display().to_string().replace('\\', "/");
        format!("{}//{path}", self.shown)
    }
}

/// The pin of a call that a request is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PinRequest<'a> {
    /// Calls of this root are not pinned.
    Unused,
    /// The call has no pin yet, or another one is wanted: the source is asked, and the package is hashed.
    New,
    /// The pinned version or commit is wanted, and its package must have the pinned hash.
    Kept(&'a ModulePin),
}

/// A pinned module of a file of pins.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Pin"))]
pub struct ModulePin {
    /// The source of the call in normal form, without what may be secret.
    pub source: String,
    /// The version, of a module of a registry.
    pub version: Option<Version>,
    /// The id of the commit, of a package of a repository.
    pub commit: Option<String>,
    /// The hash of the package.
    pub hash: Hash,
}
