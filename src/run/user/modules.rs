//! The remote modules of a run: from the cache of the user, and fetched where the command may.

use std::sync::Arc;

use crate::addr::module::RemoteModule;
use crate::config::{ConfigSources, Unreached};
use crate::diag::{Texts, has_errors};
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
use crate::run::facts;
use crate::run::options::{ConfigurationOptions, ModuleChoice, RunOptions};
use crate::run::user::network::{self, NetworkObserver, Traffic};

/// What `--modules auto` means to a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AutoModules {
    /// It fetches modules, since it makes requests anyway.
    Fetched,
    /// It takes what is on the disk.
    Cached,
}

/// The outside, and who is informed of what happens on the network.
#[derive(Clone, Copy)]
pub(crate) struct UserNetwork<'a> {
    pub(crate) world: World<'a>,
    pub(crate) observer: NetworkObserver<'a>,
}

/// Opens the cache of modules of the user, unless it is not to be used.
pub(crate) fn cache<'a>(options: &RunOptions, world: World<'a>) -> Option<ModuleCache<'a>> {
    let dir = facts::directory(world.env).filter(|_| !options.no_cache);
    dir.map(|dir| facts::open_modules(world, &dir))
}

/// The remote modules of a run.
pub(crate) struct UserModules<'a> {
    pub(crate) world: World<'a>,
    /// `None` where only what is installed counts.
    store: Option<ModuleStore<'a>>,
    cache: Option<&'a ModuleCache<'a>>,
    /// Whether no directory of this machine may be named, because the run is confined to one.
    is_confined: bool,
    /// What a module is that could not be fetched.
    pub(crate) unreached: Unreached,
}

impl<'a> UserModules<'a> {
    /// Prepares to find modules as a command line says; nothing is asked yet.
    pub(crate) fn new(
        options: &'a RunOptions,
        configuration: &ConfigurationOptions,
        auto: AutoModules,
        network: UserNetwork<'a>,
        cache: Option<&'a ModuleCache<'a>>,
    ) -> Self {
        let UserNetwork { world, observer } = network;
        let access = match (configuration.modules, auto) {
            (ModuleChoice::Installed, _) => None,
            (ModuleChoice::Fetch, _) => Some(ModuleAccess::Fetched),
            (ModuleChoice::Auto, AutoModules::Fetched) if !options.offline => {
                Some(ModuleAccess::Fetched)
            }
            (ModuleChoice::Auto, _) => Some(ModuleAccess::Cached),
        };
        let unreached = match configuration.modules {
            ModuleChoice::Fetch => Unreached::Error,
            ModuleChoice::Auto | ModuleChoice::Installed => Unreached::Unseen,
        };
        let store = access.map(|access| {
            let traffic = Traffic::new(observer);
            let nets = move |flavor| net(options, world, flavor, &traffic);
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

    /// Prepares to find modules for a command that makes no requests unless it is told to, and that shows no
    /// progress.
    pub(crate) fn quiet(
        options: &'a RunOptions,
        configuration: &ConfigurationOptions,
        world: World<'a>,
        cache: Option<&'a ModuleCache<'a>>,
    ) -> Self {
        let network = UserNetwork {
            world,
            observer: &network::silent,
        };
        Self::new(options, configuration, AutoModules::Cached, network, cache)
    }

    /// Returns what configuration is read from.
    pub(crate) fn outside(&self) -> ConfigSources<'_> {
        ConfigSources {
            files: self.world.disk,
            modules: self,
        }
    }

    /// Warns of what of the cache could not be used.
    pub(crate) fn remarks(&self) -> impl Iterator<Item = Sentence> {
        let notes = self.cache.iter().flat_map(|cache| cache.notes());
        notes.map(Sentence::warning)
    }
}

impl RemoteModules for UserModules<'_> {
    fn find(&self, request: &ModuleRequest<'_>) -> Result<FoundModule, ModuleFailure> {
        let Some(store) = &self.store else {
            return InstalledOnly.find(request);
        };
        match request.source {
            // Git would read it, whatever the files of the run are confined to.
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

/// Makes the network of a flavor; `None` if its CLI configuration has errors, which are reported where
/// packages come from.
fn net<'a>(
    options: &RunOptions,
    world: World<'a>,
    flavor: Flavor,
    traffic: &Traffic<'a>,
) -> Option<ModuleNet<'a>> {
    let (config, faults) = network::configuration(options, world, flavor, &mut Texts::default());
    if has_errors(&faults) {
        return None;
    }
    let mut net = network::net_of(world, flavor, &config, traffic);
    // For modules both programs read it.
    net.package_credentials = network::netrc_credentials(world);
    let tokens = network::tokens(world, &config);
    let discovery = network::discovery(&net, &config, &tokens);
    Some(ModuleNet {
        net,
        discovery: Arc::new(discovery),
    })
}
