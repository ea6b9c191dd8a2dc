//! The installation methods of a CLI configuration, turned into sources that can be asked.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::addr::{ProviderFilter, ProviderPattern, Url};
use crate::cliconfig::{CliConfig, Method, MethodKind, RepositoryTemplate};
use crate::flavor::Flavor;
use crate::run::World;
use crate::run::user::host_tokens::HostTokens;
use crate::run::user::network::{self, Traffic};
use crate::sources::SourceError;
use crate::sources::filesystem_mirror::FilesystemMirror;
use crate::sources::multi::{Member, Multi, SharedSource};
use crate::sources::net::Net;
use crate::sources::network_mirror::{MirrorUrl, NetworkMirror};
use crate::sources::oci::OciRegistries;
use crate::world::FileKind;

/// Whether the network may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Network {
    Allowed,
    Forbidden,
}

/// The installation methods of a flavor. Roots share what they have in options.
pub(crate) struct Methods<'a> {
    world: World<'a>,
    flavor: Flavor,
    network: Network,
    config: CliConfig,
    net: Net<'a>,
    tokens: Arc<HostTokens<'a>>,
    registry: SharedSource<'a>,
    /// By URL, and by whether what it states of all platforms counts.
    mirrors: BTreeMap<(Url, bool), Result<SharedSource<'a>, SourceError>>,
    oci_registries: Arc<OciRegistries<'a>>,
    oci_mirrors: BTreeMap<String, SharedSource<'a>>,
    scanned: BTreeMap<PathBuf, Result<Arc<FilesystemMirror>, SourceError>>,
}

impl<'a> Methods<'a> {
    pub(crate) fn new(
        world: World<'a>,
        flavor: Flavor,
        config: CliConfig,
        network: Network,
        traffic: &Traffic<'a>,
    ) -> Self {
        let mut net = network::net_of(world, flavor, &config, traffic);
        let oci_registries = network::oci_registries(world, &mut net, &config);
        let tokens = network::tokens(world, &config);
        let registry = network::registry(&net, flavor, &config, &tokens);
        Self {
            world,
            flavor,
            network,
            registry: Arc::new(registry),
            tokens,
            config,
            net,
            mirrors: BTreeMap::new(),
            oci_registries,
            oci_mirrors: BTreeMap::new(),
            scanned: BTreeMap::new(),
        }
    }

    /// Returns what was read.
    pub(crate) fn config(&self) -> &CliConfig {
        &self.config
    }

    /// Returns the network that packages are downloaded from.
    pub(crate) fn net(&self) -> &Net<'a> {
        &self.net
    }

    /// Lists the directories that packages of a root are taken from; roots with the same ones share their
    /// source. A relative one is below the root, in which the program would run.
    pub(crate) fn dirs(&self, root: &Path) -> Vec<PathBuf> {
        if self.config.installations.is_empty() {
            let dirs = self.config.implied_mirrors().iter();
            let dirs = dirs.map(|dir| root.join(dir));
            let disk = self.world.disk;
            // Those that are not there are passed over (`cliconfig` rules 5.1).
            return dirs
                .filter(|dir| disk.kind(dir).ok() == Some(FileKind::Directory))
                .collect();
        }
        let methods = self
            .config
            .installations
            .iter()
            .flat_map(|block| &block.methods);
        let dirs = methods.filter_map(|method| match &method.kind {
            MethodKind::FilesystemMirror(dir) => Some(root.join(dir)),
            _ => None,
        });
        dirs.collect()
    }

    /// Makes the source of a root.
    pub(crate) fn source(&mut self, root: &Path) -> Multi<'a> {
        if self.config.installations.is_empty() {
            return self.implied(root);
        }
        let methods = self
            .config
            .installations
            .iter()
            .flat_map(|block| &block.methods);
        let methods: Vec<Method> = methods.cloned().collect();
        let members = methods.into_iter().filter_map(|method| {
            let source = match method.kind {
                MethodKind::DevOverrides(_) => return None,
                MethodKind::Direct => self.direct(),
                MethodKind::FilesystemMirror(dir) => self.directory(&root.join(dir)),
                MethodKind::NetworkMirror {
                    url,
                    trusts_all_hashes,
                } => self.mirror((url, trusts_all_hashes)),
                MethodKind::OciMirror { template } => self.oci_mirror(template),
            };
            Some(Member {
                source,
                providers: method.providers,
                download_retries: method.download_retries,
            })
        });
        Multi {
            members: members.collect(),
        }
    }

    /// Makes the source of a root without `provider_installation`: local directories, and registries for
    /// what none of them has in any version (`cliconfig` rules 5.1).
    fn implied(&mut self, root: &Path) -> Multi<'a> {
        let mut members = Vec::new();
        let mut elsewhere = ProviderFilter::default();
        for dir in self.dirs(root) {
            let scanned = self.scan(&dir);
            if let Ok(mirror) = &scanned {
                let found = mirror.providers().cloned();
                elsewhere.exclude.extend(found.map(ProviderPattern::from));
            }
            members.push(Member {
                source: scanned.map(|mirror| mirror as SharedSource<'a>),
                providers: ProviderFilter::default(),
                download_retries: None,
            });
        }
        members.push(Member {
            source: self.direct(),
            providers: elsewhere,
            download_retries: None,
        });
        Multi { members }
    }

    /// Returns the registries of all hosts.
    ///
    /// # Errors
    /// [`SourceError::Offline`] if the network must not be used.
    pub(crate) fn direct(&self) -> Result<SharedSource<'a>, SourceError> {
        match self.network {
            Network::Allowed => Ok(Arc::clone(&self.registry)),
            Network::Forbidden => Err(SourceError::Offline {
                place: "the registry".to_owned(),
            }),
        }
    }

    fn mirror(&mut self, asked: (Url, bool)) -> Result<SharedSource<'a>, SourceError> {
        let (url, trusts_all_hashes) = &asked;
        if self.network == Network::Forbidden {
            return Err(SourceError::Offline {
                place: format!("the mirror {url}"),
            });
        }
        if let Some(known) = self.mirrors.get(&asked) {
            return known.clone();
        }
        let source = match MirrorUrl::try_from(url.clone()) {
            Ok(base) => {
                let mut access = network::access(base, &self.tokens);
                access.trusts_all_hashes = *trusts_all_hashes;
                let mirror = NetworkMirror::new(self.net.clone(), self.flavor, access);
                Ok(Arc::new(mirror) as SharedSource<'a>)
            }
            Err(error) => Err(SourceError::MirrorUrl(error)),
        };
        self.mirrors.insert(asked, source.clone());
        source
    }

    fn oci_mirror(
        &mut self,
        template: RepositoryTemplate,
    ) -> Result<SharedSource<'a>, SourceError> {
        let text = template.to_string();
        if self.network == Network::Forbidden {
            return Err(SourceError::Offline {
                place: format!("the OCI mirror {text}"),
            });
        }
        let registries = &self.oci_registries;
        let made = self.oci_mirrors.entry(text);
        let made = made.or_insert_with(|| Arc::new(network::oci_mirror(registries, template)));
        Ok(Arc::clone(made))
    }

    fn directory(&mut self, dir: &Path) -> Result<SharedSource<'a>, SourceError> {
        self.scan(dir).map(|mirror| mirror as SharedSource<'a>)
    }

    fn scan(&mut self, dir: &Path) -> Result<Arc<FilesystemMirror>, SourceError> {
        let (disk, flavor) = (self.world.disk, self.flavor);
        let scan = || FilesystemMirror::scan(disk, dir, flavor).map(Arc::new);
        self.scanned
            .entry(dir.to_owned())
            .or_insert_with(scan)
            .clone()
    }
}
