//! The remote modules of a run: from the cache of the user, and fetched where the command may.

use std::sync::Arc;

use crate::addr::module::RemoteModule;
use crate::config::{ConfigSources, Unreached};
use crate::flavor::Flavor;
use crate::modules::cache::ModuleCache;
use crate::modules::git::GitWorld;
use crate::modules::store::{ModuleAccess, ModuleNet, ModuleStore};
use crate::remote_module::{
    FoundModule, InstalledOnly, ModuleFailure, ModuleFailureKind, ModuleRequest, RemoteModules,
    RequestedSource,
};
use crate::report::Sentence;
use crate::run::World;
use crate::run::options::{ConfigurationOptions, ModuleChoice, RunOptions};
use crate::run::user::caches;
use crate::run::user::config::{UserConfigs, silent};
use crate::sources::net::Net;
use crate::workspace::{EnvironmentUse, Reading};

/// The meaning of `--modules auto` for a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AutoModules {
    /// Modules are fetched, since the command makes requests anyway.
    Fetched,
    /// Modules are read from the cache alone.
    Cached,
}

/// Opens the cache of modules of the user, unless it is not to be used.
pub(crate) fn cache<'a>(options: &RunOptions, world: World<'a>) -> Option<ModuleCache<'a>> {
    let dir = caches::directory(world.env).filter(|_| !options.no_cache);
    dir.map(|dir| caches::open_modules(world, &dir))
}

/// The remote modules of a run.
pub(crate) struct UserModules<'a> {
    world: World<'a>,
    /// `None` where only what is installed counts.
    store: Option<ModuleStore<'a>>,
    cache: Option<&'a ModuleCache<'a>>,
    /// The run is confined to a directory, so calls of modules elsewhere on this machine fail.
    is_confined: bool,
    /// The severity of a module that could not be fetched.
    unreached: Unreached,
}

impl<'a> UserModules<'a> {
    /// Prepares to find modules for a command that makes no requests by default and
    /// shows no progress.
    pub(crate) fn quiet(
        options: &'a RunOptions,
        configuration: &ConfigurationOptions,
        world: World<'a>,
        cache: Option<&'a ModuleCache<'a>>,
    ) -> Self {
        let user = Arc::new(UserConfigs::new(options, world, &silent));
        Self::new(user, configuration, AutoModules::Cached, cache)
    }

    /// Prepares to find modules as a command line says; nothing is asked yet.
    pub(crate) fn new(
        user: Arc<UserConfigs<'a>>,
        configuration: &ConfigurationOptions,
        auto: AutoModules,
        cache: Option<&'a ModuleCache<'a>>,
    ) -> Self {
        let world = user.world;
        let access = match (configuration.modules, auto) {
            (ModuleChoice::Installed, _) => None,
            (ModuleChoice::Fetch, _) => Some(ModuleAccess::Fetched),
            (ModuleChoice::Auto, AutoModules::Fetched) if !user.options.offline => {
                Some(ModuleAccess::Fetched)
            }
            // Cached packages never change: they are kept under the commit or the checksum that was asked for.
            (ModuleChoice::Auto, _) => Some(ModuleAccess::Cached),
        };
        let unreached = match configuration.modules {
            ModuleChoice::Fetch => Unreached::Error,
            ModuleChoice::Auto | ModuleChoice::Installed => Unreached::Unseen,
        };
        let store = access.map(|access| {
            let nets = move |flavor| net(&user, flavor);
            ModuleStore::new(access, git(world), Box::new(nets), cache)
        });
        Self {
            world,
            store,
            cache,
            is_confined: configuration.is_confined,
            unreached,
        }
    }

    /// Returns the sources and options for reading the configuration of every root of the run.
    pub(crate) fn reading<'r>(&'r self, options: &'r ConfigurationOptions) -> Reading<'r> {
        let sources = ConfigSources {
            files: self.world.disk,
            modules: self,
        };
        Reading {
            test_directory: options.test_directory.as_deref(),
            strict_modules: options.strict_modules,
            reads_state: options.reads_state,
            environment: if self.is_confined {
                EnvironmentUse::Hidden
            } else {
                EnvironmentUse::Read
            },
            values: &options.values,
            unreached: self.unreached,
            ..Reading::new(sources, self.world.env)
        }
    }

    /// Warns of what of the cache could not be used.
    pub(crate) fn remarks(&self) -> impl Iterator<Item = Sentence> {
        self.cache
            .iter()
            .flat_map(|cache| cache.notes())
            .map(Sentence::warning)
    }
}

impl RemoteModules for UserModules<'_> {
    fn find(&self, request: &ModuleRequest<'_>) -> Result<FoundModule, ModuleFailure> {
        let Some(store) = &self.store else {
            return InstalledOnly.find(request);
        };
        match request.source {
            // Git would read it, even though the files of the run are confined.
            RequestedSource::Remote(module) if self.is_confined && is_on_this_machine(module) => {
                Err(ModuleFailure {
                    kind: ModuleFailureKind::Missing,
                    title: "Failed to download module",
                    cause: "it is outside of the directory that confines this run".to_owned(),
                    help: Some(
                        "keep the module below that directory, and call it by a path".to_owned(),
                    ),
                })
            }
            _ => store.find(request),
        }
    }

    fn prepare(&self, requests: &[ModuleRequest<'_>]) {
        let Some(store) = &self.store else {
            return;
        };
        // A module that `find` refuses must not be fetched ahead of it.
        let mut allowed = requests.to_vec();
        allowed.retain(|request| match request.source {
            RequestedSource::Remote(module) => !self.is_confined || !is_on_this_machine(module),
            RequestedSource::Registry(..) => true,
        });
        store.prepare(&allowed);
    }
}

/// Returns whether a package is in a directory of this machine.
fn is_on_this_machine(module: &RemoteModule) -> bool {
    let (_, address) = module.forced_kind();
    let address = address.to_ascii_lowercase();
    address.starts_with("file:") || !address.contains("://")
}

/// Returns the modules that the cache holds, and no others.
pub(crate) fn kept<'a>(world: World<'a>, cache: Option<&'a ModuleCache<'a>>) -> ModuleStore<'a> {
    ModuleStore::new(ModuleAccess::Cached, git(world), Box::new(|_| None), cache)
}

fn git(world: World<'_>) -> GitWorld<'_> {
    GitWorld {
        run: world.run,
        disk: world.disk,
        env: world.env,
    }
}

/// Returns the network of a flavor; `None` if its CLI configuration has errors, which are reported where
/// packages come from.
fn net<'a>(user: &UserConfigs<'a>, flavor: Flavor) -> Option<ModuleNet<'a>> {
    let config = user.of(flavor);
    config.is_sound().then(|| ModuleNet {
        net: Net {
            // Terraform reads it for packages of providers, too; OpenTofu only for modules.
            package_credentials: user.netrc_credentials(),
            ..config.net.clone()
        },
        discovery: Arc::clone(&config.discovery),
    })
}
