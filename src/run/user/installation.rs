//! The sources from which the program of a root installs, read once for each flavor.

use crate::addr::ProviderAddr;
use crate::authenticate::Rules;
use crate::cliconfig::{CliConfig, MethodKind};
use crate::diag::{Diagnostic, Severity, Texts};
use crate::flavor::Flavor;
use crate::run::World;
use crate::run::options::RunOptions;
use crate::run::root::Root;
use crate::run::user::enforcement;
use crate::run::user::network::{self, Traffic};
use crate::verify::packages::{InstallSource, PackagePlace};
use crate::verify::upstream::Registries;

/// The installation methods of every flavor that came up in a run.
pub(crate) struct Installations<'a> {
    options: &'a RunOptions,
    world: World<'a>,
    read: Vec<Installation<'a>>,
}

/// The installation methods of a flavor.
pub(crate) struct Installation<'a> {
    flavor: Flavor,
    pub(crate) config: CliConfig,
    is_sound: bool,
    /// `None` until somebody asks.
    registries: Option<Registries<'a>>,
}

impl<'a> Installations<'a> {
    pub(crate) fn new(options: &'a RunOptions, world: World<'a>) -> Self {
        Self {
            options,
            world,
            read: Vec::new(),
        }
    }

    /// Returns the installation methods of a flavor; with the errors of its CLI configuration, if it
    /// had to be read for that.
    ///
    /// What else could be said about it is said by `lock`, which follows it further.
    pub(crate) fn of(
        &mut self,
        flavor: Flavor,
        texts: &mut Texts,
    ) -> (&mut Installation<'a>, Vec<Diagnostic>) {
        let known = self
            .read
            .iter()
            .position(|installation| installation.flavor == flavor);
        let mut errors = Vec::new();
        let at = known.unwrap_or_else(|| {
            let (config, mut found) =
                network::configuration(self.options, self.world, flavor, texts);
            found.retain(|diagnostic| diagnostic.severity == Severity::Error);
            errors = found;
            self.read.push(Installation {
                flavor,
                config,
                is_sound: errors.is_empty(),
                registries: None,
            });
            self.read.len() - 1
        });
        (&mut self.read[at], errors)
    }
}

/// Lists where the program installs a provider from, in its order (`cliconfig` rules 5.1 and 5.2).
pub(crate) fn sources(
    config: &CliConfig,
    root: &Root,
    provider: &ProviderAddr,
) -> Vec<InstallSource> {
    if config.installations.is_empty() {
        return config
            .local_mirrors()
            .into_iter()
            .map(|mirror| InstallSource::Directory {
                dir: root.dir.join(mirror.dir),
                must_exist: false,
            })
            .chain([InstallSource::RegistryUnlessHeld])
            .collect();
    }
    config
        .installations
        .iter()
        .flat_map(|block| &block.methods)
        .filter(|method| method.providers.allows(provider))
        .filter_map(|method| match &method.kind {
            MethodKind::DevOverrides(_) => None,
            MethodKind::Direct => Some(InstallSource::Registry),
            MethodKind::NetworkMirror { .. } => Some(InstallSource::NetworkMirror),
            MethodKind::OciMirror { .. } => Some(InstallSource::OciMirror),
            MethodKind::FilesystemMirror(dir) => Some(InstallSource::Directory {
                dir: root.dir.join(dir),
                must_exist: true,
            }),
        })
        .collect()
}

impl<'a> Installation<'a> {
    /// Lists the directories in which packages are for a root, in the order of the program; behind
    /// them those that the user names.
    pub(crate) fn places(
        &self,
        root: &Root,
        world: World<'_>,
        named: &[PackagePlace],
    ) -> Vec<PackagePlace> {
        let cache = self.config.cache_dir.iter();
        let mirrors = self
            .config
            .local_mirrors()
            .into_iter()
            .filter_map(|mirror| {
                let dir = root.dir.join(&mirror.dir);
                match mirror.named {
                    Some((file, span)) => Some(PackagePlace::configured_mirror(
                        dir,
                        mirror.providers,
                        file,
                        span,
                    )),
                    None => PackagePlace::implied_mirror(world.disk, dir),
                }
            });
        std::iter::once(PackagePlace::installed(root.providers_dir(world.env)))
            .chain(cache.map(|dir| PackagePlace::cache(root.dir.join(dir))))
            .chain(mirrors)
            .chain(named.iter().cloned())
            .collect()
    }

    /// Returns the registries; `None` if errors of the CLI configuration keep from asking them.
    pub(crate) fn registries(
        &mut self,
        world: World<'a>,
        traffic: &Traffic<'a>,
    ) -> Option<&mut Registries<'a>> {
        if !self.is_sound {
            return None;
        }
        let flavor = self.flavor;
        let config = &self.config;
        Some(self.registries.get_or_insert_with(|| {
            let net = network::net_of(world, flavor, config, traffic);
            let tokens = network::tokens(world, config);
            let registry = network::registry(&net, flavor, config, &tokens);
            let rules = Rules {
                flavor,
                enforced: enforcement(world.env),
            };
            Registries::new(Box::new(registry), net, rules)
        }))
    }
}
