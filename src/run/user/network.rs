//! The CLI configuration of the program, turned into registries that can be used.

use std::sync::Arc;

use crate::cliconfig::{self, CliConfig, ConfigChoice, Netrc, RepositoryTemplate};
use crate::diag::{Diagnostic, Texts};
use crate::flavor::Flavor;
use crate::run::World;
use crate::run::options::RunOptions;
use crate::run::user::host_tokens::HostTokens;
use crate::run::user::oci_logins::RepositoryLogins;
use crate::sources::discovery::Discovery;
use crate::sources::net::{Event, Net, PackageCredentials};
use crate::sources::network_mirror::{MirrorAccess, MirrorUrl};
use crate::sources::oci::{OciMirror, OciRegistries};
use crate::sources::outages::Outages;
use crate::sources::registry::{HostCredentials, HostHelper, Hosts, Registry};
use crate::sources::retry::Policy;

/// Who is informed of what happens on the network.
pub(crate) type NetworkObserver<'a> = &'a (dyn Fn(&Event<'_>) + Sync);

/// What the networks of a run share, whatever the flavor and the source.
#[derive(Clone)]
pub(crate) struct Traffic<'a> {
    observer: NetworkObserver<'a>,
    outages: Arc<Outages>,
}

impl<'a> Traffic<'a> {
    /// Begins a run, in which no host has failed yet.
    pub(crate) fn new(observer: NetworkObserver<'a>) -> Self {
        Self {
            observer,
            outages: Arc::default(),
        }
    }
}

/// Makes the network of a flavor, with what `~/.netrc` holds for packages where that counts.
pub(crate) fn net<'a>(world: World<'a>, flavor: Flavor, traffic: &Traffic<'a>) -> Net<'a> {
    let package_credentials: PackageCredentials<'a> = match flavor.reads_netrc() {
        true => netrc_credentials(world),
        false => Arc::new(|_| None),
    };
    Net {
        http: world.http,
        clock: world.clock,
        policy: Policy::of(world.env, flavor),
        package_credentials,
        observer: traffic.observer,
        outages: Arc::clone(&traffic.outages),
    }
}

/// Returns what `~/.netrc` holds for packages: it is sent over encrypted connections only, and not beside a
/// password in the URL.
pub(crate) fn netrc_credentials<'a>(world: World<'_>) -> PackageCredentials<'a> {
    let netrc = Netrc::read(world.disk, world.env);
    Arc::new(move |url| {
        let may = url.origin().encrypted && !url.has_user();
        may.then(|| netrc.find(&url.host_and_port())).flatten()
    })
}

/// Is informed of what happens on the network, and shows nothing.
pub(crate) fn silent(_: &Event<'_>) {}

/// Reads the CLI configuration that a flavor has; returns it with all its problems.
pub(crate) fn configuration(
    options: &RunOptions,
    world: World<'_>,
    flavor: Flavor,
    texts: &mut Texts,
) -> (CliConfig, Vec<Diagnostic>) {
    let file = options.cli_config.as_ref();
    let file = file.map(|path| options.below(path));
    let wanted = ConfigChoice {
        flavor,
        file: file.as_deref(),
    };
    cliconfig::read(world.disk, world.env, texts, wanted)
}

/// Makes the network as a CLI configuration states it.
pub(crate) fn net_of<'a>(
    world: World<'a>,
    flavor: Flavor,
    config: &CliConfig,
    traffic: &Traffic<'a>,
) -> Net<'a> {
    let mut net = net(world, flavor, traffic);
    let stated = config.protocols;
    net.policy = net
        .policy
        .stated(world.env, stated.retries, stated.timeout_seconds);
    net
}

/// Makes the registries of all hosts.
pub(crate) fn registry<'a>(
    net: &Net<'a>,
    flavor: Flavor,
    config: &CliConfig,
    tokens: &Arc<HostTokens<'a>>,
) -> Registry<'a> {
    let discovery = Arc::new(discovery(net, config, tokens));
    Registry::new(net.clone(), flavor, discovery)
}

/// Makes what finds the services of hosts.
pub(crate) fn discovery<'a>(
    net: &Net<'a>,
    config: &CliConfig,
    tokens: &Arc<HostTokens<'a>>,
) -> Discovery<'a> {
    let hosts = Hosts {
        services: config.hosts.clone(),
        helper: helper(tokens),
        credentials: credentials(tokens),
    };
    Discovery::new(net.clone(), hosts)
}

/// Returns a network mirror with what is sent to it; what it states of all platforms does not count.
pub(crate) fn access<'a>(url: MirrorUrl, tokens: &Arc<HostTokens<'a>>) -> MirrorAccess<'a> {
    MirrorAccess {
        url,
        helper: helper(tokens),
        credentials: credentials(tokens),
        trusts_all_hashes: false,
    }
}

/// Makes the registries of OCI artifacts, with the credentials that a CLI configuration and the files of
/// other tools hold; packages are downloaded from them with the same.
pub(crate) fn oci_registries<'a>(
    world: World<'a>,
    net: &mut Net<'a>,
    config: &CliConfig,
) -> Arc<OciRegistries<'a>> {
    let logins = RepositoryLogins::new(world, config.clone());
    let credentials = Box::new(move |repository: &_| logins.credentials(repository));
    let registries = Arc::new(OciRegistries::new(net.clone(), credentials));
    net.package_credentials = registries.package_credentials(Arc::clone(&net.package_credentials));
    registries
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

/// Returns what is sent to hosts by a CLI configuration.
pub(crate) fn tokens<'a>(world: World<'a>, config: &CliConfig) -> Arc<HostTokens<'a>> {
    Arc::new(HostTokens::new(world, config.clone()))
}

fn credentials<'a>(tokens: &Arc<HostTokens<'a>>) -> Box<HostCredentials<'a>> {
    let tokens = Arc::clone(tokens);
    Box::new(move |host| tokens.credentials(host))
}

fn helper<'a>(tokens: &Arc<HostTokens<'a>>) -> Box<HostHelper<'a>> {
    let tokens = Arc::clone(tokens);
    Box::new(move |host| tokens.failure(host))
}
