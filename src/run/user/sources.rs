//! Where the packages of a run come from: what was typed, turned into sources that can be asked.

use std::path::{Path, PathBuf};

use crate::addr::ProviderAddr;
use crate::cliconfig::RepositoryTemplate;
use crate::diag::{Diagnostic, Texts, has_errors};
use crate::flavor::Flavor;
use crate::locker::FlavorSource;
use crate::report::Failure;
use crate::run::World;
use crate::run::options::{PackageChoice, RunOptions};
use crate::run::root::Root;
use crate::run::user::methods::{Methods, Network};
use crate::run::user::network::{self, NetworkObserver, Traffic};
use crate::sources::filesystem_mirror::FilesystemMirror;
use crate::sources::multi::SharedSource;
use crate::sources::net::Net;
use crate::sources::network_mirror::{MirrorUrl, NetworkMirror};
use crate::sources::{Empty, Source, SourceError};

/// The sources of a run, each set up when the first root needs it.
pub(crate) struct Sources<'a> {
    options: &'a RunOptions,
    choice: PackageChoice,
    world: World<'a>,
    traffic: Traffic<'a>,
    /// The sources that the roots so far need.
    setups: Vec<SourceSetup<'a>>,
    /// The CLI configurations that are followed.
    followed: Vec<FollowedConfig<'a>>,
}

/// Where packages come from by the rules of a flavor.
struct SourceSetup<'a> {
    flavor: Flavor,
    /// The directories that it looks into by the CLI configuration, which may be below a root.
    dirs: Vec<PathBuf>,
    net: Net<'a>,
    packages: Packages<'a>,
    registries: Registries<'a>,
    /// What is to be said about the CLI configuration.
    diagnostics: Vec<Diagnostic>,
    /// Whether that was said of a root that counts.
    is_said: bool,
}

/// Which registries may be asked what they state of packages.
enum Registries<'a> {
    /// None.
    None,
    /// Those that the packages come from.
    Packages,
    /// These, beside what the CLI configuration states.
    Beside(SharedSource<'a>),
}

/// Which packages there are.
enum Packages<'a> {
    Of(Box<dyn Source + 'a>),
    /// Unknown: the CLI configuration has errors.
    Unknown,
    /// None are needed, since all providers are built in.
    NotNeeded,
}

/// The CLI configuration of a flavor, if the run follows it.
struct FollowedConfig<'a> {
    flavor: Flavor,
    /// `None` if it has errors.
    methods: Option<Methods<'a>>,
    /// What is to be reported about it, until a source reports it.
    diagnostics: Vec<Diagnostic>,
}

impl<'a> Sources<'a> {
    pub(crate) fn new(
        options: &'a RunOptions,
        choice: PackageChoice,
        world: World<'a>,
        observer: NetworkObserver<'a>,
    ) -> Self {
        Self {
            options,
            choice,
            world,
            traffic: Traffic::new(observer),
            setups: Vec::new(),
            followed: Vec::new(),
        }
    }

    /// Returns the sources that the roots so far need, in the order of their places.
    pub(crate) fn by_flavor(&self) -> Vec<FlavorSource<'_>> {
        let sources = self.setups.iter().map(|setup| FlavorSource {
            flavor: setup.flavor,
            source: match &setup.packages {
                Packages::Of(source) => &**source,
                Packages::Unknown | Packages::NotNeeded => &Empty,
            },
            registries: match (&setup.packages, &setup.registries) {
                (Packages::Of(source), Registries::Packages) => Some(&**source),
                (_, Registries::Beside(registry)) => Some(&**registry),
                (_, Registries::Packages | Registries::None) => None,
            },
            net: &setup.net,
        });
        sources.collect()
    }

    /// Returns what keeps a source from being asked: errors of the CLI configuration stop every root
    /// that needs it, while its warnings are said once.
    pub(crate) fn errors(&self, source: usize) -> Option<&[Diagnostic]> {
        let setup = &self.setups[source];
        matches!(setup.packages, Packages::Unknown).then_some(&*setup.diagnostics)
    }

    /// Returns what is to be said about the CLI configuration, until it was [`said`](Self::said).
    pub(crate) fn unsaid(&self, source: usize) -> &[Diagnostic] {
        match &self.setups[source] {
            setup if setup.is_said => &[],
            setup => &setup.diagnostics,
        }
    }

    /// Notes that a root that counts said everything about the CLI configuration.
    pub(crate) fn said(&mut self, source: usize) {
        self.setups[source].is_said = true;
    }

    /// Returns whether packages would come from registries, and none may be asked.
    pub(crate) fn are_closed(&self) -> bool {
        self.options.offline && matches!(self.choice, PackageChoice::Registry)
    }

    /// Returns the place of a source for a root that needs no package.
    pub(crate) fn not_needed(&mut self, flavor: Flavor) -> usize {
        let net = network::net(self.world, flavor, &self.traffic);
        self.add(flavor, net, Packages::NotNeeded, Vec::new())
    }

    /// Returns the place of the source for a root, setting it up if no other root needed it before.
    ///
    /// # Errors
    /// If the source that was typed cannot be used.
    pub(crate) fn source(&mut self, root: &Root, texts: &mut Texts) -> Result<usize, Failure> {
        let flavor = root.flavor;
        if self.follows() {
            return Ok(self.followed_source(root, texts));
        }
        let mut known = self.setups.iter();
        if let Some(at) = known.position(|one| one.serves(flavor)) {
            return Ok(at);
        }
        let mut net = network::net(self.world, flavor, &self.traffic);
        let (packages, diagnostics) = match &self.choice {
            PackageChoice::FilesystemMirror(dir) => (self.mirror(dir, flavor)?, Vec::new()),
            PackageChoice::NetworkMirror(url) => self.net_mirror(url, flavor, texts)?,
            PackageChoice::OciMirror(template) => {
                self.oci_mirror(template, flavor, &mut net, texts)?
            }
            PackageChoice::Registry | PackageChoice::CliConfiguration => {
                self.registry(flavor, texts)?
            }
        };
        let at = self.add(flavor, net, packages, diagnostics);
        if matches!(self.choice, PackageChoice::Registry) {
            self.setups[at].registries = Registries::Packages;
        }
        Ok(at)
    }

    /// Lists the providers that a root needs no package of, since they are run from a directory and the
    /// program does not lock them (`cliconfig` rules 5.5).
    pub(crate) fn overridden(&mut self, root: &Root, texts: &mut Texts) -> Vec<ProviderAddr> {
        if !self.follows() || root.flavor.locks_overridden() {
            return Vec::new();
        }
        match &self.followed(root.flavor, texts).methods {
            Some(methods) => methods.config().overridden().into_iter().collect(),
            None => Vec::new(),
        }
    }

    fn add(
        &mut self,
        flavor: Flavor,
        net: Net<'a>,
        packages: Packages<'a>,
        diagnostics: Vec<Diagnostic>,
    ) -> usize {
        self.setups.push(SourceSetup {
            flavor,
            dirs: Vec::new(),
            net,
            packages,
            registries: Registries::None,
            diagnostics,
            is_said: false,
        });
        self.setups.len() - 1
    }

    fn follows(&self) -> bool {
        matches!(self.choice, PackageChoice::CliConfiguration)
    }

    /// Returns the CLI configuration of a flavor.
    fn followed(&mut self, flavor: Flavor, texts: &mut Texts) -> &mut FollowedConfig<'a> {
        let known = self.followed.iter().position(|one| one.flavor == flavor);
        let at = known.unwrap_or_else(|| {
            let (config, mut diagnostics) =
                network::configuration(self.options, self.world, flavor, texts);
            diagnostics.extend(config.installed_twice());
            let network = if self.options.offline {
                Network::Forbidden
            } else {
                Network::Allowed
            };
            let is_sound = !has_errors(&diagnostics);
            let methods =
                is_sound.then(|| Methods::new(self.world, flavor, config, network, &self.traffic));
            self.followed.push(FollowedConfig {
                flavor,
                methods,
                diagnostics,
            });
            self.followed.len() - 1
        });
        &mut self.followed[at]
    }

    /// Returns the place of the source that the CLI configuration states for a root.
    fn followed_source(&mut self, root: &Root, texts: &mut Texts) -> usize {
        let flavor = root.flavor;
        let followed = self.followed(flavor, texts);
        let dirs = match &followed.methods {
            Some(methods) => methods.dirs(&root.dir),
            None => Vec::new(),
        };
        let known = self.setups.iter();
        let mut known = known.map(|one| one.serves(flavor) && one.dirs == dirs);
        if let Some(at) = known.position(|serves| serves) {
            return at;
        }
        let followed = self.followed(flavor, texts);
        let (packages, registries, net, diagnostics) = match &mut followed.methods {
            Some(methods) => (
                Packages::Of(Box::new(methods.source(&root.dir))),
                methods
                    .direct()
                    .map_or(Registries::None, Registries::Beside),
                Some(methods.net().clone()),
                std::mem::take(&mut followed.diagnostics),
            ),
            // Each root reports why it is not locked.
            None => (
                Packages::Unknown,
                Registries::None,
                None,
                followed.diagnostics.clone(),
            ),
        };
        let net = net.unwrap_or_else(|| network::net(self.world, flavor, &self.traffic));
        self.setups.push(SourceSetup {
            flavor,
            dirs,
            net,
            packages,
            registries,
            diagnostics,
            is_said: false,
        });
        self.setups.len() - 1
    }

    fn mirror(&self, dir: &Path, flavor: Flavor) -> Result<Packages<'a>, Failure> {
        let dir = self.options.below(dir);
        let mirror = FilesystemMirror::scan(self.world.disk, &dir, flavor).map_err(|error| {
            let is_top = matches!(&error, SourceError::Unreadable { path, .. } if *path == dir);
            let help = if is_top {
                "name the top directory of a filesystem mirror"
            } else {
                "make it readable"
            };
            Failure::from_error(&error).help(help)
        })?;
        Ok(Packages::Of(Box::new(mirror)))
    }

    fn net_mirror(
        &self,
        url: &MirrorUrl,
        flavor: Flavor,
        texts: &mut Texts,
    ) -> Result<(Packages<'a>, Vec<Diagnostic>), Failure> {
        self.check_online("a network mirror")?;
        let (config, diagnostics) = network::configuration(self.options, self.world, flavor, texts);
        let packages = if has_errors(&diagnostics) {
            Packages::Unknown
        } else {
            let net = network::net_of(self.world, flavor, &config, &self.traffic);
            let tokens = network::tokens(self.world, &config);
            let access = network::access(url.clone(), &tokens);
            let mirror = NetworkMirror::new(net, flavor, access);
            Packages::Of(Box::new(mirror))
        };
        Ok((packages, diagnostics))
    }

    /// Makes the mirror that was typed; `net` downloads its packages from then on.
    fn oci_mirror(
        &self,
        template: &RepositoryTemplate,
        flavor: Flavor,
        net: &mut Net<'a>,
        texts: &mut Texts,
    ) -> Result<(Packages<'a>, Vec<Diagnostic>), Failure> {
        self.check_online("an OCI mirror")?;
        let (config, diagnostics) = network::configuration(self.options, self.world, flavor, texts);
        if has_errors(&diagnostics) {
            return Ok((Packages::Unknown, diagnostics));
        }
        *net = network::net_of(self.world, flavor, &config, &self.traffic);
        let registries = network::oci_registries(self.world, net, &config);
        let mirror = network::oci_mirror(&registries, template.clone());
        Ok((Packages::Of(Box::new(mirror)), diagnostics))
    }

    /// Fails where the network would be needed and must not be used.
    fn check_online(&self, place: &str) -> Result<(), Failure> {
        if !self.options.offline {
            return Ok(());
        }
        let cause = format!("they come from {place}, and --offline forbids network requests");
        Err(Failure {
            title: "packages cannot be fetched".to_owned(),
            causes: vec![cause],
            help: Some("leave out --offline, or name a mirror with --fs-mirror DIR".to_owned()),
        })
    }

    fn registry(
        &self,
        flavor: Flavor,
        texts: &mut Texts,
    ) -> Result<(Packages<'a>, Vec<Diagnostic>), Failure> {
        self.check_online("registries")?;
        let (config, mut diagnostics) =
            network::configuration(self.options, self.world, flavor, texts);
        diagnostics.extend(config.not_followed(flavor));
        let packages = if has_errors(&diagnostics) {
            Packages::Unknown
        } else {
            let net = network::net_of(self.world, flavor, &config, &self.traffic);
            let tokens = network::tokens(self.world, &config);
            let registry = network::registry(&net, flavor, &config, &tokens);
            Packages::Of(Box::new(registry))
        };
        Ok((packages, diagnostics))
    }
}

impl SourceSetup<'_> {
    /// Returns whether packages of a flavor come from here.
    fn serves(&self, flavor: Flavor) -> bool {
        self.flavor == flavor && !matches!(self.packages, Packages::NotNeeded)
    }
}
