//! The sources of packages of a run: the choice of the user, turned into sources that can be asked.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use crate::addr::ProviderAddr;
use crate::diag::{Diagnostic, Texts, has_errors};
use crate::flavor::Flavor;
use crate::locker::FlavorSource;
use crate::lockfile::LockFile;
use crate::project::PackageSource;
use crate::report::{Failure, RootResult};
use crate::requirement::Requirements;
use crate::run::root::Root;
use crate::run::session::Session;
use crate::run::user::config;
use crate::run::user::methods::{Methods, NetworkUse};
use crate::sources::filesystem_mirror::FilesystemMirror;
use crate::sources::multi::SharedSource;
use crate::sources::net::Net;
use crate::sources::network_mirror::NetworkMirror;
use crate::sources::{Empty, Source, SourceFault};

/// The sources of a run, each set up when the first root needs it, and named by its number from then on.
pub(crate) struct Sources<'a> {
    session: Rc<Session<'a>>,
    /// The place that was typed, which counts for every root.
    typed: Option<PackageSource>,
    setups: Vec<SourceSetup<'a>>,
    followed: Vec<FollowedConfig<'a>>,
}

/// A source of packages by the rules of a flavor.
struct SourceSetup<'a> {
    flavor: Flavor,
    /// The place that packages come from: project files may state different ones.
    choice: PackageSource,
    /// The directories that it looks into by the CLI configuration, which may be below a root.
    dirs: Vec<PathBuf>,
    net: Net<'a>,
    /// `None` if no package is needed, because all providers are built in, or if the CLI configuration has errors.
    packages: Option<Box<dyn Source + 'a>>,
    /// A package will be asked for.
    is_needed: bool,
    statements: StatementSource<'a>,
    /// Faults of the CLI configuration.
    diagnostics: Vec<Diagnostic>,
    /// The faults were reported with a root that did not start over.
    is_reported: bool,
}

/// The registries that are asked for their statements on packages.
enum StatementSource<'a> {
    None,
    /// The registries that the packages come from.
    Packages,
    /// These registries, beside the sources that the CLI configuration states.
    Beside(SharedSource<'a>),
}

/// The CLI configuration of a flavor, if packages come from where it states.
struct FollowedConfig<'a> {
    flavor: Flavor,
    /// `None` if it has errors.
    methods: Option<Methods<'a>>,
    /// Its faults, until they are those of a source.
    diagnostics: Vec<Diagnostic>,
}

impl<'a> Sources<'a> {
    pub(crate) fn new(session: Rc<Session<'a>>, typed: Option<PackageSource>) -> Self {
        Self {
            session,
            typed,
            setups: Vec::new(),
            followed: Vec::new(),
        }
    }

    /// Returns the sources that the roots so far need, in the order of their numbers.
    pub(crate) fn by_number(&self) -> Vec<FlavorSource<'_>> {
        self.setups
            .iter()
            .map(|setup| FlavorSource {
                flavor: setup.flavor,
                source: setup.packages.as_deref().unwrap_or(&Empty),
                registries: match &setup.statements {
                    StatementSource::Packages => setup.packages.as_deref(),
                    StatementSource::Beside(registry) => Some(&**registry),
                    StatementSource::None => None,
                },
                net: &setup.net,
            })
            .collect()
    }

    /// Returns the number of the source for a root, if packages are needed of it; `None` if the CLI
    /// configuration has errors, which are reported.
    ///
    /// Errors stop every root that needs the source, while warnings are reported once.
    ///
    /// # Errors
    /// If the mirror that was chosen cannot be used.
    pub(crate) fn of_root(
        &mut self,
        root: &Root,
        is_needed: bool,
        texts: &mut Texts,
        result: &mut RootResult,
    ) -> Result<Option<usize>, Failure> {
        let number = if is_needed {
            self.source(root, texts)?
        } else {
            self.add(SourceSetup {
                is_needed: false,
                ..self.unset(root.flavor, self.choice(root))
            })
        };
        let setup = &self.setups[number];
        if setup.is_needed && setup.packages.is_none() {
            result.faults(&setup.diagnostics);
            return Ok(None);
        }
        Ok(Some(number))
    }

    /// Returns the faults of the CLI configuration that are not [`reported`](Self::reported) yet.
    pub(crate) fn unreported(&self, source: usize) -> &[Diagnostic] {
        let setup = &self.setups[source];
        if setup.is_reported {
            &[]
        } else {
            &setup.diagnostics
        }
    }

    /// Records that all faults of the CLI configuration were reported with a root that did not start over.
    pub(crate) fn reported(&mut self, source: usize) {
        self.setups[source].is_reported = true;
    }

    /// Returns true if the packages of a root would come from registries, and no request may be made.
    pub(crate) fn are_closed(&self, root: &Root) -> bool {
        self.session.options.offline && matches!(self.choice(root), PackageSource::Registry)
    }

    /// Returns the place that the packages of a root come from: as typed, else as its project file states.
    fn choice(&self, root: &Root) -> PackageSource {
        self.typed
            .clone()
            .or_else(|| root.package_source())
            .unwrap_or(PackageSource::Registry)
    }

    /// Returns the number of the source for a root; the first root that needs it sets it up.
    fn source(&mut self, root: &Root, texts: &mut Texts) -> Result<usize, Failure> {
        let (flavor, choice) = (root.flavor, self.choice(root));
        let is_followed = choice == PackageSource::CliConfiguration;
        let mut dirs = Vec::new();
        if is_followed && let Some(methods) = &self.followed(flavor, texts).methods {
            dirs = methods.dirs(&root.dir);
        }
        // A relative directory is another one below each root, so the flavor and the choice do not name a source.
        let number = self.setups.iter().position(|setup| {
            setup.is_needed
                && setup.flavor == flavor
                && setup.choice == choice
                && setup.dirs == dirs
        });
        if let Some(number) = number {
            return Ok(number);
        }
        let setup = if is_followed {
            let mut setup = self.unset(flavor, choice);
            setup.dirs = dirs;
            let followed = self.followed(flavor, texts);
            match &mut followed.methods {
                Some(methods) => {
                    setup.net = methods.net().clone();
                    setup.packages = Some(Box::new(methods.source(&root.dir)));
                    if let Ok(registries) = methods.direct() {
                        setup.statements = StatementSource::Beside(registries);
                    }
                    setup.diagnostics = std::mem::take(&mut followed.diagnostics);
                }
                // Each root reports why it is not locked.
                None => setup.diagnostics.clone_from(&followed.diagnostics),
            }
            setup
        } else {
            self.chosen(choice, root, texts)?
        };
        Ok(self.add(setup))
    }

    fn add(&mut self, setup: SourceSetup<'a>) -> usize {
        self.setups.push(setup);
        self.setups.len() - 1
    }

    /// Begins to set up a source.
    fn unset(&self, flavor: Flavor, choice: PackageSource) -> SourceSetup<'a> {
        SourceSetup {
            flavor,
            choice,
            dirs: Vec::new(),
            net: self.session.net(flavor),
            packages: None,
            is_needed: true,
            statements: StatementSource::None,
            diagnostics: Vec::new(),
            is_reported: false,
        }
    }

    /// Lists the providers that a root needs no package of.
    pub(crate) fn overridden(&mut self, root: &Root, texts: &mut Texts) -> Vec<ProviderAddr> {
        let follows = self.choice(root) == PackageSource::CliConfiguration;
        if !follows || root.flavor.locks_overridden() {
            return Vec::new();
        }
        match &self.followed(root.flavor, texts).methods {
            // They run from a directory, and the program does not lock them (`cliconfig` rules 5.5).
            Some(methods) => methods.cli_config().overridden().into_iter().collect(),
            None => Vec::new(),
        }
    }

    /// Returns the CLI configuration of a flavor.
    fn followed(&mut self, flavor: Flavor, texts: &mut Texts) -> &mut FollowedConfig<'a> {
        let number = self
            .followed
            .iter()
            .position(|followed| followed.flavor == flavor)
            .unwrap_or_else(|| {
                let user = self.session.of(flavor);
                let mut diagnostics = user.faults(texts);
                diagnostics.extend(user.cli.installed_twice());
                let network = if self.session.options.offline {
                    NetworkUse::Forbidden
                } else {
                    NetworkUse::Allowed
                };
                let is_sound = !has_errors(&diagnostics);
                self.followed.push(FollowedConfig {
                    flavor,
                    methods: is_sound.then(|| Methods::new(user, self.session.world, network)),
                    diagnostics,
                });
                self.followed.len() - 1
            });
        &mut self.followed[number]
    }

    /// Sets up the source that was chosen, if that is not the CLI configuration.
    fn chosen(
        &self,
        choice: PackageSource,
        root: &Root,
        texts: &mut Texts,
    ) -> Result<SourceSetup<'a>, Failure> {
        let flavor = root.flavor;
        let mut setup = self.unset(flavor, choice);
        let place = match &setup.choice {
            PackageSource::FilesystemMirror(dir) => {
                // No CLI configuration is read for it: its errors are none of this run.
                setup.packages = Some(Box::new(self.directory(dir, root)?));
                return Ok(setup);
            }
            PackageSource::NetworkMirror(_) => "a network mirror",
            PackageSource::OciMirror(_) => "an OCI mirror",
            PackageSource::Registry | PackageSource::CliConfiguration => "registries",
        };
        if self.session.options.offline {
            return Err(offline(place));
        }
        let user = self.session.of(flavor);
        setup.diagnostics = user.faults(texts);
        if setup.choice == PackageSource::Registry {
            // The program asks registries in spite of the block (`cliconfig` rules 5.6), which may surprise its
            // author.
            setup.diagnostics.extend(user.cli.not_followed(flavor));
            setup.statements = StatementSource::Packages;
        }
        if !has_errors(&setup.diagnostics) {
            setup.packages = Some(match &setup.choice {
                PackageSource::NetworkMirror(url) => {
                    let access = user.mirror_access(url.clone());
                    Box::new(NetworkMirror::new(user.net.clone(), flavor, access))
                }
                PackageSource::OciMirror(template) => {
                    let registries;
                    (registries, setup.net) = user.oci_registries();
                    Box::new(config::oci_mirror(&registries, template.clone()))
                }
                _ => Box::new(user.registry()),
            });
        }
        Ok(setup)
    }

    /// Scans the filesystem mirror in a directory.
    fn directory(&self, dir: &Path, root: &Root) -> Result<FilesystemMirror, Failure> {
        FilesystemMirror::scan(self.session.world.disk, dir, root.flavor).map_err(|error| {
            let is_top =
                matches!(&*error.fault, SourceFault::Unreadable { path, .. } if *path == dir);
            let help = match (is_top, &self.typed) {
                (true, Some(_)) => "name the top directory of a filesystem mirror".to_owned(),
                // The directory was not typed, so the help names the file that states it.
                (true, None) => format!(
                    "name the top directory of a filesystem mirror as fs_mirror in {}, or use another \
                     source, as in --installation registry",
                    root.project_name()
                ),
                (false, _) => "make it readable".to_owned(),
            };
            Failure::from_error(&error).help(help)
        })
    }
}

/// Lists the providers whose source may be asked for a root: those that are required,
/// and perhaps those that are locked.
pub(crate) fn needed<'r>(
    requirements: &'r Requirements,
    lock: &'r LockFile,
) -> Vec<&'r ProviderAddr> {
    let mut needed = Vec::from_iter(requirements.providers.keys());
    // A module or state that cannot be read may require any locked provider.
    if !requirements.is_complete() {
        needed.extend(lock.providers.keys());
    }
    needed
}

/// Returns the failure of packages that would come from a place on the network.
fn offline(place: &str) -> Failure {
    Failure::new(format!("{place} cannot be asked"))
        .because("--offline forbids network requests")
        .help("leave out --offline, or name a mirror with --fs-mirror DIR")
}
