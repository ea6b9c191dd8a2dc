//! The installation methods of a CLI configuration, turned into sources that can be asked.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::addr::{ProviderFilter, ProviderPattern, Url};
use crate::cliconfig::{CliConfig, MethodKind, RepositoryTemplate};
use crate::run::World;
use crate::run::user::config::{self, UserConfig};
use crate::sources::filesystem_mirror::FilesystemMirror;
use crate::sources::multi::{Multi, SharedSource, SourceMember};
use crate::sources::net::Net;
use crate::sources::network_mirror::{MirrorUrl, NetworkMirror};
use crate::sources::oci::OciRegistries;
use crate::sources::{About, SourceError, SourceFault, SourceLocation};
use crate::world::FileKind;

/// A permission for network requests, or a ban on them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NetworkUse {
    Allowed,
    Forbidden,
}

/// The installation methods of a flavor; roots share the sources that they have in common.
pub(crate) struct Methods<'a> {
    user: Arc<UserConfig<'a>>,
    world: World<'a>,
    network: NetworkUse,
    net: Net<'a>,
    registry: SharedSource<'a>,
    /// By URL, and by whether the hashes that it states for all platforms count.
    mirrors: BTreeMap<(Url, bool), Result<SharedSource<'a>, SourceError>>,
    oci_registries: Arc<OciRegistries<'a>>,
    oci_mirrors: BTreeMap<String, SharedSource<'a>>,
    scanned: BTreeMap<PathBuf, Result<Arc<FilesystemMirror>, SourceError>>,
}

impl<'a> Methods<'a> {
    pub(crate) fn new(user: Arc<UserConfig<'a>>, world: World<'a>, network: NetworkUse) -> Self {
        let (oci_registries, net) = user.oci_registries();
        Self {
            world,
            network,
            registry: Arc::new(user.registry()),
            user,
            net,
            mirrors: BTreeMap::new(),
            oci_registries,
            oci_mirrors: BTreeMap::new(),
            scanned: BTreeMap::new(),
        }
    }

    /// Returns the CLI configuration that states the methods.
    pub(crate) fn cli_config(&self) -> &CliConfig {
        &self.user.cli
    }

    /// Returns the network that packages are downloaded from.
    pub(crate) fn net(&self) -> &Net<'a> {
        &self.net
    }

    /// Lists the directories that packages of a root are taken from; roots with the same ones share their
    /// source.
    pub(crate) fn dirs(&self, root: &Path) -> Vec<PathBuf> {
        let cli = &self.user.cli;
        if cli.installations.is_empty() {
            // Implied directories that are not there are passed over (`cliconfig` rules 5.1).
            return cli
                .implied_mirrors
                .iter()
                // A relative directory is below the root, because the program would run there.
                .map(|dir| root.join(dir))
                .filter(|dir| self.world.disk.kind(dir).ok() == Some(FileKind::Directory))
                .collect();
        }
        cli.installations
            .iter()
            .flat_map(|block| &block.methods)
            .filter_map(|method| match &method.kind {
                MethodKind::FilesystemMirror(dir) => Some(root.join(dir)),
                _ => None,
            })
            .collect()
    }

    /// Makes the source of a root.
    pub(crate) fn source(&mut self, root: &Path) -> Multi<'a> {
        let user = Arc::clone(&self.user);
        if user.cli.installations.is_empty() {
            return self.implied(root);
        }
        let mut members = Vec::new();
        for method in user
            .cli
            .installations
            .iter()
            .flat_map(|block| &block.methods)
        {
            let source = match &method.kind {
                // A provider under development is never locked.
                MethodKind::DevOverrides(_) => continue,
                MethodKind::Direct => self.direct(),
                MethodKind::FilesystemMirror(dir) => self
                    .scan(&root.join(dir))
                    .map(|mirror| mirror as SharedSource<'a>),
                MethodKind::NetworkMirror {
                    url,
                    trusts_all_hashes,
                } => self.mirror(url, *trusts_all_hashes),
                MethodKind::OciMirror { template } => self.oci_mirror(template),
            };
            members.push(SourceMember {
                source,
                providers: method.providers.clone(),
                download_retries: method.download_retries,
            });
        }
        Multi { members }
    }

    /// Makes the source of a root without `provider_installation`: local directories, and registries for
    /// what none of them has in any version (`cliconfig` rules 5.1).
    fn implied(&mut self, root: &Path) -> Multi<'a> {
        let mut members = Vec::new();
        let mut elsewhere = ProviderFilter::default();
        for dir in self.dirs(root) {
            let scanned = self.scan(&dir);
            if let Ok(mirror) = &scanned {
                let providers = mirror.providers().cloned();
                // The registry is not asked about a provider that a directory holds in any version or platform.
                elsewhere
                    .exclude
                    .extend(providers.map(ProviderPattern::from));
            }
            members.push(SourceMember {
                source: scanned.map(|mirror| mirror as SharedSource<'a>),
                providers: ProviderFilter::default(),
                download_retries: None,
            });
        }
        members.push(SourceMember {
            source: self.direct(),
            providers: elsewhere,
            download_retries: None,
        });
        Multi { members }
    }

    /// Returns the registries of all hosts.
    ///
    /// # Errors
    /// [`SourceFault::Offline`] if the network must not be used.
    pub(crate) fn direct(&self) -> Result<SharedSource<'a>, SourceError> {
        self.check_network(|| "the registry".to_owned())?;
        Ok(Arc::clone(&self.registry))
    }

    fn mirror(
        &mut self,
        url: &Url,
        trusts_all_hashes: bool,
    ) -> Result<SharedSource<'a>, SourceError> {
        self.check_network(|| format!("the mirror {url}"))?;
        let user = &self.user;
        let make = || {
            let base = MirrorUrl::try_from(url.clone())
                .map_err(|error| unasked(url.to_string(), SourceFault::MirrorUrl(error)))?;
            let mut access = user.mirror_access(base);
            access.trusts_all_hashes = trusts_all_hashes;
            let mirror = NetworkMirror::new(self.net.clone(), user.flavor, access);
            Ok(Arc::new(mirror) as SharedSource<'a>)
        };
        self.mirrors
            .entry((url.clone(), trusts_all_hashes))
            .or_insert_with(make)
            .clone()
    }

    fn oci_mirror(
        &mut self,
        template: &RepositoryTemplate,
    ) -> Result<SharedSource<'a>, SourceError> {
        let text = template.to_string();
        self.check_network(|| format!("the OCI mirror {text}"))?;
        let registries = &self.oci_registries;
        let make =
            || Arc::new(config::oci_mirror(registries, template.clone())) as SharedSource<'a>;
        Ok(Arc::clone(
            self.oci_mirrors.entry(text).or_insert_with(make),
        ))
    }

    /// Fails if a place on the network must not be asked.
    fn check_network(&self, place: impl FnOnce() -> String) -> Result<(), SourceError> {
        match self.network {
            NetworkUse::Allowed => Ok(()),
            NetworkUse::Forbidden => Err(unasked(place(), SourceFault::Offline)),
        }
    }

    fn scan(&mut self, dir: &Path) -> Result<Arc<FilesystemMirror>, SourceError> {
        let (disk, flavor) = (self.world.disk, self.user.flavor);
        self.scanned
            .entry(dir.to_owned())
            .or_insert_with(|| FilesystemMirror::scan(disk, dir, flavor).map(Arc::new))
            .clone()
    }
}

/// Makes the error of a source that cannot be asked anything.
fn unasked(place: String, fault: SourceFault) -> SourceError {
    SourceError::new(SourceLocation::Named(place), About::Source, fault)
}
