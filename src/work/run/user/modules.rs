//! The remote modules of a run: from the cache of the user, and fetched where the command may.

use std::sync::Arc;

use crate::addr::module::RemoteModule;
use crate::config::{ConfigSources, Unreached};
use crate::flavor::Flavor;
use crate::modules::git::GitWorld;
use crate::modules::store::{ModuleAccess, ModuleNet, ModuleStore};
use crate::remote_module::{
    FoundModule, InstalledOnly, ModuleFailure, ModuleFailureKind, ModuleRequest, RemoteModules,
    RequestedSource,
};
use crate::report::Sentence;
use crate::run::World;
use crate::run::options::{Configuration, ModuleChoice};
use crate::run::session::Session;
use crate::sources::net::Net;
use crate::store::answers::AnswerCache;
use crate::workspace::{EnvironmentUse, Reading};

/// The meaning of `--modules auto` for a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AutoModules {
    /// Modules are fetched, since the command makes requests anyway.
    Fetched,
    /// Modules are read from the cache alone.
    Cached,
}

/// The remote modules of a run.
pub(crate) struct UserModules<'a> {
    world: World<'a>,
    configuration: &'a Configuration,
    /// `None` where only what is installed counts.
    store: Option<ModuleStore<'a>>,
    cache: Option<&'a AnswerCache<'a>>,
}

impl<'a> UserModules<'a> {
    /// Prepares to find modules as a command line says; nothing is asked yet.
    pub(crate) fn new<'b: 'a>(
        session: &'a Session<'b>,
        configuration: &'a Configuration,
        auto: AutoModules,
    ) -> Self {
        let access = match (configuration.modules, auto) {
            (ModuleChoice::Installed, _) => None,
            (ModuleChoice::Fetch, _) => Some(ModuleAccess::Fetched),
            (ModuleChoice::Auto, AutoModules::Fetched) if !session.options.offline => {
                Some(ModuleAccess::Fetched)
            }
            // Cached packages never change: they are kept under the commit or the checksum that was asked for.
            (ModuleChoice::Auto, _) => Some(ModuleAccess::Cached),
        };
        let (world, cache) = (session.world, session.cached_answers());
        let store = access.map(|access| {
            let nets = move |flavor| net(session, flavor);
            ModuleStore::new(access, git(world), Box::new(nets), cache)
        });
        Self {
            world,
            configuration,
            store,
            cache,
        }
    }

    /// Returns the sources and options for reading the configuration of every root of the run.
    pub(crate) fn reading(&self) -> Reading<'_> {
        let options = self.configuration;
        let sources = ConfigSources {
            files: self.world.disk,
            modules: self,
        };
        Reading {
            test_directory: options.test_directory.as_deref(),
            strict_modules: options.strict_modules,
            reads_state: !options.no_state,
            environment: if self.is_confined() {
                EnvironmentUse::Hidden
            } else {
                EnvironmentUse::Read
            },
            values: &options.values.0,
            unreached: match options.modules {
                ModuleChoice::Fetch => Unreached::Error,
                ModuleChoice::Auto | ModuleChoice::Installed => Unreached::Unseen,
            },
            ..Reading::new(sources, self.world.env)
        }
    }

    /// Returns true if calls of modules elsewhere on this machine fail.
    fn is_confined(&self) -> bool {
        self.configuration.confine.is_some()
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
            // Git would read it, although the files of the run are confined.
            RequestedSource::Remote(module) if self.is_confined() && is_on_this_machine(module) => {
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
            RequestedSource::Remote(module) => !self.is_confined() || !is_on_this_machine(module),
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
pub(crate) fn kept<'s>(session: &'s Session<'_>) -> ModuleStore<'s> {
    let cache = session.cached_answers();
    ModuleStore::new(
        ModuleAccess::Cached,
        git(session.world),
        Box::new(|_| None),
        cache,
    )
}

/// Returns the modules as their sources name them now, whatever the cache holds.
pub(crate) fn upstream<'s>(session: &'s Session<'_>) -> ModuleStore<'s> {
    ModuleStore::new(
        ModuleAccess::Fetched,
        git(session.world),
        Box::new(move |flavor| net(session, flavor)),
        None,
    )
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
fn net<'a>(user: &Session<'a>, flavor: Flavor) -> Option<ModuleNet<'a>> {
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
