//! The CLI configuration of a flavor with all that follows from it.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::addr::ProviderAddr;
use crate::authenticate::Rules;
use crate::cliconfig::{self, CliConfig, ConfigChoice, MethodKind, RepositoryTemplate};
use crate::diag::{Diagnostic, Severity, SharedTexts, Texts, has_errors};
use crate::flavor::Flavor;
use crate::packages::{Absence, InstallSource, PackagePlace};
use crate::run::World;
use crate::run::root::Root;
use crate::run::session::Session;
use crate::run::user::enforcement;
use crate::run::user::host_tokens::HostTokens;
use crate::run::user::oci_logins::RepositoryLogins;
use crate::sources::discovery::Discovery;
use crate::sources::net::Net;
use crate::sources::network_mirror::{MirrorAccess, MirrorUrl};
use crate::sources::oci::{OciMirror, OciRegistries};
use crate::sources::registry::{HostCredentials, Hosts, Registry};
use crate::upstream::Registries;
use crate::verify::PackageOrigin;
use crate::world::FileKind;

/// The number of the table of texts of the first flavor; modules that roots share count from zero.
const FIRST_NUMBER: u32 = 0x7FFF_FF00;

/// The configuration of the user's machine by the rules of one flavor.
pub(crate) struct UserConfig<'a> {
    pub(crate) flavor: Flavor,
    world: World<'a>,
    /// The CLI configuration; its spans are in the texts of `files`.
    pub(crate) cli: CliConfig,
    faults: Vec<Diagnostic>,
    /// The files of the CLI configuration.
    ///
    /// Threads may read it before the roots are opened in their order, so it has a table of its own.
    files: SharedTexts,
    are_errors_reported: AtomicBool,
    /// Requests by the rules of the flavor and of the CLI configuration.
    pub(crate) net: Net<'a>,
    tokens: Arc<HostTokens<'a>>,
    pub(crate) discovery: Arc<Discovery<'a>>,
}

impl<'a> UserConfig<'a> {
    /// Reads the CLI configuration of a flavor.
    pub(crate) fn read(session: &Session<'a>, flavor: Flavor) -> Self {
        let world = session.world;
        let stated = session.options.cli_config.as_ref();
        let file = stated.map(|path| session.options.below(path));
        let choice = ConfigChoice {
            flavor,
            file: file.as_deref(),
        };
        // The order of files in the texts of the run must not depend on the order of the threads.
        let mut files = Texts::to_share(FIRST_NUMBER + flavor as u32);
        let (cli, faults) = cliconfig::read(world.disk, world.env, &mut files, choice);
        // OpenTofu's `registry_protocols` sets retries and time limits (`cliconfig` rules 2.3).
        let mut net = session.net(flavor);
        let protocols = cli.protocols;
        // A variable of the environment still beats the file, so the environment goes along.
        net.policy = net
            .policy
            .stated(world.env, protocols.retries, protocols.timeout_seconds);
        let tokens = Arc::new(HostTokens::new(world, cli.clone()));
        let hosts = Hosts {
            // A `host` block replaces discovery of that host as a whole (`cliconfig` rules 3.1).
            services: cli.hosts.clone(),
            credentials: credentials(&tokens),
        };
        Self {
            flavor,
            world,
            discovery: Arc::new(Discovery::new(net.clone(), hosts)),
            cli,
            faults,
            files: files.into_shared(),
            are_errors_reported: AtomicBool::new(false),
            net,
            tokens,
        }
    }

    /// Returns true if the CLI configuration has no error.
    pub(crate) fn is_sound(&self) -> bool {
        !has_errors(&self.faults)
    }

    /// Returns all that is wrong with the CLI configuration; its files are among the texts of the run from
    /// then on.
    pub(crate) fn faults(&self, texts: &mut Texts) -> Vec<Diagnostic> {
        texts.mount(&self.files, None);
        self.faults.clone()
    }

    /// Returns the errors of the CLI configuration to the first caller, and nothing to the others: they
    /// concern every root, and are reported with one.
    pub(crate) fn errors_once(&self, texts: &mut Texts) -> Vec<Diagnostic> {
        // Roots are opened by one thread, in their order, so the first one that needs the file reports them.
        if self.are_errors_reported.swap(true, Ordering::Relaxed) {
            return Vec::new();
        }
        let mut errors = self.faults(texts);
        errors.retain(|diagnostic| diagnostic.severity == Severity::Error);
        errors
    }

    /// Makes the registries of all hosts.
    pub(crate) fn registry(&self) -> Registry<'a> {
        Registry::new(self.net.clone(), self.flavor, Arc::clone(&self.discovery))
    }

    /// Returns the registries as `verify` asks them.
    pub(crate) fn registries(&self) -> Registries<'a> {
        let rules = Rules {
            flavor: self.flavor,
            enforced: enforcement(self.world.env),
        };
        Registries::new(Box::new(self.registry()), self.net.clone(), rules)
    }

    /// Returns a network mirror with its credentials; hashes that it states for all platforms do not count.
    pub(crate) fn mirror_access(&self, url: MirrorUrl) -> MirrorAccess<'a> {
        MirrorAccess {
            url,
            credentials: credentials(&self.tokens),
            trusts_all_hashes: false,
        }
    }

    /// Makes the registries of OCI artifacts, with the credentials of the CLI configuration and of the files of
    /// other tools, and the network that downloads packages with the same credentials.
    pub(crate) fn oci_registries(&self) -> (Arc<OciRegistries<'a>>, Net<'a>) {
        let mut net = self.net.clone();
        // Files of other tools are read only if some repository asks for credentials.
        let logins = RepositoryLogins::new(self.world, self.cli.clone());
        let credentials = Box::new(move |repository: &_| logins.credentials(repository));
        let registries = Arc::new(OciRegistries::new(net.clone(), credentials));
        net.package_credentials =
            registries.package_credentials(Arc::clone(&net.package_credentials));
        (registries, net)
    }

    /// Lists the directories with packages for a root, in the order of the program; `named`, those that the
    /// user names, come last.
    pub(crate) fn package_places(
        &self,
        root: &Root,
        named: &[PackagePlace],
        texts: &mut Texts,
    ) -> Vec<PackagePlace> {
        let mut places = vec![PackagePlace::installed(root.providers_dir(self.world.env))];
        // The program links a cached package before it asks any source (`cliconfig` rules 6.1).
        if let Some(dir) = &self.cli.cache_dir {
            let dir = root.dir.join(dir);
            places.push(PackagePlace::new(PackageOrigin::Cache, dir, Absence::Fine));
        }
        for mirror in self.cli.local_mirrors() {
            let dir = root.dir.join(&mirror.dir);
            let absence = match mirror.named {
                Some((file, span)) => {
                    texts.mount(&self.files, None);
                    Absence::Fault(file, span)
                }
                // The program looks for it by itself, and passes over what is no directory.
                None if self.world.disk.kind(&dir).ok() != Some(FileKind::Directory) => continue,
                None => Absence::Fine,
            };
            places.push(PackagePlace {
                providers: mirror.providers,
                ..PackagePlace::new(PackageOrigin::Mirror, dir, absence)
            });
        }
        places.extend_from_slice(named);
        places
    }

    /// Lists the sources that the program installs a provider from, in its order (`cliconfig` rules 5.1 and
    /// 5.2).
    pub(crate) fn install_sources(
        &self,
        root: &Root,
        provider: &ProviderAddr,
    ) -> Vec<InstallSource> {
        let directory = |dir: PathBuf, must_exist| InstallSource::Directory {
            dir: root.dir.join(dir),
            must_exist,
        };
        if self.cli.installations.is_empty() {
            return self
                .cli
                .local_mirrors()
                .into_iter()
                .map(|mirror| directory(mirror.dir, false))
                .chain([InstallSource::RegistryUnlessHeld])
                .collect();
        }
        self.cli
            .installations
            .iter()
            .flat_map(|block| &block.methods)
            .filter(|method| method.providers.allows(provider))
            .filter_map(|method| match &method.kind {
                MethodKind::DevOverrides(dirs) => dirs
                    .contains_key(provider)
                    .then_some(InstallSource::Overridden),
                MethodKind::Direct => Some(InstallSource::Registry),
                MethodKind::NetworkMirror { .. } => Some(InstallSource::NetworkMirror),
                MethodKind::OciMirror { .. } => Some(InstallSource::OciMirror),
                MethodKind::FilesystemMirror(dir) => Some(directory(dir.clone(), true)),
            })
            .collect()
    }
}

/// Makes a mirror of OCI artifacts.
pub(crate) fn oci_mirror<'a>(
    registries: &Arc<OciRegistries<'a>>,
    template: RepositoryTemplate,
) -> OciMirror<'a> {
    let repository = move |provider: &_| {
        let repository = template.repository(provider);
        repository.map_err(|error| error.to_string())
    };
    OciMirror::new(Arc::clone(registries), Box::new(repository))
}

fn credentials<'a>(tokens: &Arc<HostTokens<'a>>) -> Box<HostCredentials<'a>> {
    let tokens = Arc::clone(tokens);
    Box::new(move |host| tokens.credentials(host))
}
