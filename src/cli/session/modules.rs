//! The remote modules of a run: from the cache of the user, and fetched where the command may.

use std::sync::Arc;

use crate::addr::module::RemoteModule;
use crate::cli::World;
use crate::cli::args::{Common, Configuration, ModulesArg};
use crate::cli::session::network::{self, NetworkObserver, Traffic};
use crate::cli::session::store;
use crate::config::{Outside, Unreached};
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

/// What `--modules auto` means to a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::cli) enum AutoModules {
    /// It fetches modules, since it makes requests anyway.
    Fetched,
    /// It takes what is on the disk.
    Cached,
}

/// The outside, and who is informed of what happens on the network.
#[derive(Clone, Copy)]
pub(in crate::cli) struct UserNetwork<'a> {
    pub(in crate::cli) world: World<'a>,
    pub(in crate::cli) observer: NetworkObserver<'a>,
}

/// Opens the cache of modules of the user, unless it is not to be used.
pub(in crate::cli) fn cache<'a>(common: &Common, world: World<'a>) -> Option<ModuleCache<'a>> {
    let dir = store::directory(world.env).filter(|_| !common.no_cache);
    dir.map(|dir| store::open_modules(world, &dir))
}

/// The remote modules of a run.
pub(in crate::cli) struct UserModules<'a> {
    pub(in crate::cli) world: World<'a>,
    /// `None` where only what is installed counts.
    store: Option<ModuleStore<'a>>,
    cache: Option<&'a ModuleCache<'a>>,
    /// Whether no directory of this machine may be named, because the run is confined to one.
    is_confined: bool,
    /// What a module is that could not be fetched.
    pub(in crate::cli) unreached: Unreached,
}

impl<'a> UserModules<'a> {
    /// Prepares to find modules as a command line says; nothing is asked yet.
    pub(in crate::cli) fn new(
        common: &'a Common,
        configuration: &Configuration,
        auto: AutoModules,
        network: UserNetwork<'a>,
        cache: Option<&'a ModuleCache<'a>>,
    ) -> Self {
        let UserNetwork { world, observer } = network;
        let access = match (configuration.modules, auto) {
            (ModulesArg::Installed, _) => None,
            (ModulesArg::Fetch, _) => Some(ModuleAccess::Fetched),
            (ModulesArg::Auto, AutoModules::Fetched) if !common.offline => {
                Some(ModuleAccess::Fetched)
            }
            (ModulesArg::Auto, _) => Some(ModuleAccess::Cached),
        };
        let unreached = match configuration.modules {
            ModulesArg::Fetch => Unreached::Error,
            ModulesArg::Auto | ModulesArg::Installed => Unreached::Unseen,
        };
        let store = access.map(|access| {
            let traffic = Traffic::new(observer);
            let nets = move |flavor| net(common, world, flavor, &traffic);
            ModuleStore::new(access, git(world), Box::new(nets), cache)
        });
        Self {
            world,
            store,
            cache,
            is_confined: configuration.confine.is_some(),
            unreached,
        }
    }

    /// Prepares to find modules for a command that makes no requests unless it is told to, and that shows no
    /// progress.
    pub(in crate::cli) fn quiet(
        common: &'a Common,
        configuration: &Configuration,
        world: World<'a>,
        cache: Option<&'a ModuleCache<'a>>,
    ) -> Self {
        let network = UserNetwork {
            world,
            observer: &network::silent,
        };
        Self::new(common, configuration, AutoModules::Cached, network, cache)
    }

    /// Returns what configuration is read from.
    pub(in crate::cli) fn outside(&self) -> Outside<'_> {
        Outside {
            files: self.world.disk,
            modules: self,
        }
    }

    /// Warns of what of the cache could not be used.
    pub(in crate::cli) fn remarks(&self) -> impl Iterator<Item = Sentence> {
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
pub(in crate::cli) fn kept<'a>(
    world: World<'a>,
    cache: Option<&'a ModuleCache<'a>>,
) -> ModuleStore<'a> {
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
    common: &Common,
    world: World<'a>,
    flavor: Flavor,
    traffic: &Traffic<'a>,
) -> Option<ModuleNet<'a>> {
    let (config, faults) = network::configuration(common, world, flavor, &mut Texts::default());
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
