//! The job that mirrors packages: what it needs of each root, and the mirror of all.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::rc::Rc;

use crate::config::Loaded;
use crate::coverage::Attributions;
use crate::diag::Texts;
use crate::driver::{Job, OpenResult};
use crate::flavor::Flavor;
use crate::locker::{DOWNLOADS, FlavorSource, SignatureDemands};
use crate::lockfile::LockFile;
use crate::mirror::bundle::Bundle;
use crate::mirror::{
    self, ExistingCheck, MirrorExtent, MirrorOutcome, MirrorSettings, MirroredRoot, Place,
};
use crate::mirroring::bundle::{self, PlannedBundle};
use crate::mirroring::{MirrorArgs, report};
use crate::package::WantedPlatforms;
use crate::packages::PackageMemo;
use crate::project::PackageSource;
use crate::report::json::RootStatus;
use crate::report::{CommandResult, Failure, RootResult, Sentence};
use crate::requirement::Requirements;
use crate::run::commands;
use crate::run::facts;
use crate::run::platforms::{self, PlatformChoice};
use crate::run::root::Root;
use crate::run::session::Session;
use crate::run::typed_addr::NamedForRun;
use crate::run::user::enforcement;
use crate::run::user::sources::Sources;
use crate::sources::filesystem_mirror::FilesystemMirror;
use crate::verify::policy;
use crate::world::FileKind;
use crate::{parallel, upstream};

/// The job that mirrors packages.
pub(super) struct MirrorJob<'r, 'a> {
    args: &'r MirrorArgs,
    /// The sources that were typed, in query order.
    typed: Vec<PackageSource>,
    /// The providers that are mirrored, if some are named.
    named: NamedForRun,
    session: Rc<Session<'a>>,
    platforms: PlatformChoice,
    packages: PackageMemo<'a>,
    /// The sources that packages may come from, in query order; the last ones are those of project files.
    sources: Vec<Sources<'a>>,
    registry: Sources<'a>,
    /// The directories that packages may be copied from, as the program of each flavor reads them.
    directories: BTreeMap<(Flavor, PathBuf), FilesystemMirror>,
    /// The bundles that packages may be copied from, which are the same in every flavor.
    bundles: BTreeMap<PathBuf, Bundle>,
    /// The bundle to write.
    planned: Option<PlannedBundle>,
    outcome: Option<MirrorOutcome>,
}

/// The number of a root's source in one of the sources of the job, with its name; `None` if it has none there.
type RootSource = Option<(String, usize)>;

/// A root whose packages are mirrored.
pub(super) struct OpenMirrorRoot {
    root: Root,
    /// Its lock file, without the entries of providers that are not mirrored.
    lock: LockFile,
    platforms: WantedPlatforms,
    demands: SignatureDemands,
    sources: Vec<RootSource>,
    /// The number of its registries; `None` if no request may be made.
    registry: Option<usize>,
}

impl<'r, 'a> MirrorJob<'r, 'a> {
    pub(super) fn new(
        session: Rc<Session<'a>>,
        args: &'r MirrorArgs,
        planned: Option<PlannedBundle>,
    ) -> Self {
        let net_mirror = args.net_mirror.clone().map(PackageSource::NetworkMirror);
        let oci_mirror = args.oci_mirror.clone().map(PackageSource::OciMirror);
        let typed: Vec<PackageSource> = [net_mirror, oci_mirror, args.installation.clone()]
            .into_iter()
            .flatten()
            .collect();
        let of_typed = typed.iter().cloned().map(Some);
        let sources = |choice| Sources::new(Rc::clone(&session), choice);
        Self {
            args,
            named: NamedForRun::new(args.providers.clone()),
            platforms: platforms::typed(&args.platforms.platforms),
            packages: PackageMemo::new(session.world.disk, parallel::cores()),
            sources: of_typed.chain([None]).map(sources).collect(),
            registry: sources(Some(PackageSource::Registry)),
            typed,
            directories: BTreeMap::new(),
            bundles: BTreeMap::new(),
            planned,
            outcome: None,
            session,
        }
    }

    fn settings(&self) -> MirrorSettings<'r> {
        let args = self.args;
        MirrorSettings {
            dir: &args.dir,
            jobs: args.jobs.unwrap_or_else(parallel::cores),
            // Downloads wait for the network and hashing for a core, so that their usual numbers differ.
            downloads: args.jobs.unwrap_or(DOWNLOADS),
            enforced: enforcement(self.session.world.env),
            extent: args.extent(),
            existing: if args.trust_existing {
                ExistingCheck::Sizes
            } else {
                ExistingCheck::Hashes
            },
            layout: args.layout(),
            oci_layout: args.oci_layout.as_deref(),
        }
    }

    /// Returns the platforms that are wanted of each provider: typed ones, those of the project file, those that
    /// the entry is known to be for, or the common ones.
    fn wanted(&mut self, root: &Root, known: &Attributions) -> Result<WantedPlatforms, Failure> {
        // `--platform locked` looks at installed packages, which takes time; nothing else needs them.
        let locked = if self.platforms.needs_locked() {
            platforms::locked(root, &mut self.packages, &[], known)?
        } else {
            Vec::new()
        };
        let providers: Vec<_> = root.document().lock.providers.keys().collect();
        let mut wanted = self.platforms.of_root(root, &providers, &locked);
        platforms::prefer_covered(&mut wanted, known);
        Ok(wanted)
    }

    /// Sets up the sources of a root; `None` if the CLI configuration has errors, which are reported.
    fn sources(
        &mut self,
        root: &Root,
        texts: &mut Texts,
        result: &mut RootResult,
    ) -> Result<Option<Vec<RootSource>>, Failure> {
        // No package is fetched, so no mirror has to answer.
        if self.args.extent() != MirrorExtent::Place {
            return Ok(Some(Vec::new()));
        }
        let mut numbers = Vec::new();
        for (at, sources) in self.sources.iter_mut().enumerate() {
            let choice = match self.typed.get(at) {
                Some(typed) => Some(typed.clone()),
                // What is typed takes the place of what the project file states.
                None if self.typed.is_empty() => root.package_source(),
                None => None,
            };
            let named = choice.filter(|choice| *choice != PackageSource::Registry);
            let Some(choice) = named else {
                numbers.push(None);
                continue;
            };
            let Some(number) = sources.of_root(root, true, texts, result)? else {
                return Ok(None);
            };
            numbers.push(Some((choice.name(), number)));
        }
        Ok(Some(numbers))
    }

    fn registry(
        &mut self,
        root: &Root,
        texts: &mut Texts,
        result: &mut RootResult,
    ) -> Result<Option<Option<usize>>, Failure> {
        // `--check` is for CI, and answers the same with and without a network.
        if self.session.options.offline || self.args.extent() == MirrorExtent::Check {
            return Ok(Some(None));
        }
        let number = self.registry.of_root(root, true, texts, result)?;
        Ok(number.map(Some))
    }

    /// Scans the directories, and opens the bundles, that packages may be copied from.
    fn scan(&mut self, flavor: Flavor) -> Result<(), Failure> {
        let disk = self.session.world.disk;
        for dir in &self.args.from {
            // By flavor, since an address without a host means another one in each; roots of one flavor share a scan.
            let key = (flavor, dir.clone());
            if self.directories.contains_key(&key) || self.args.extent() == MirrorExtent::Check {
                continue;
            }
            match disk.kind(dir) {
                Ok(FileKind::File) => {
                    if !self.bundles.contains_key(dir) {
                        let bundle = bundle::open(disk, dir, "--from")?;
                        self.bundles.insert(dir.clone(), bundle);
                    }
                    continue;
                }
                Ok(FileKind::Symlink | FileKind::Other) => {
                    return Err(Failure::new(format!(
                        "{} is neither a directory nor a bundle",
                        dir.display()
                    ))
                    .help("copy it to a file first: a bundle is read at more than one place"));
                }
                // The scan reports a missing path.
                Ok(FileKind::Directory) | Err(_) => {}
            }
            let scanned = FilesystemMirror::scan(disk, dir, flavor);
            let mirror = scanned.map_err(|error| {
                Failure::from_error(&error)
                    .help("name with --from the top directory of a filesystem mirror, or a bundle")
            })?;
            self.directories.insert(key, mirror);
        }
        Ok(())
    }

    /// Removes what no lock file needs, if that is wanted and every lock file could be read, and completes the
    /// result.
    pub(super) fn finish_mirror(mut self, result: &mut CommandResult) {
        let settings = self.settings();
        let Some(mut outcome) = self.outcome.take() else {
            return;
        };
        // What an unread lock file needs is not known, and would be removed.
        let all_read = result
            .roots()
            .iter()
            .all(|root| root.status != RootStatus::Failed);
        if self.args.prune && all_read {
            let disk = self.session.world.disk;
            mirror::prune(disk, self.session.facts.get(), &settings, &mut outcome);
        }
        report::complete(result, &outcome, self.args, all_read);
        if let Some(planned) = self.planned {
            // An incomplete bundle would be noticed only on the far side, where nothing can be fetched.
            if result.exit > 0 {
                result.remarks.push(Sentence::warning(
                    "no bundle was written, because the mirror lacks packages that the lock files need",
                ));
            } else {
                match planned.write(self.session.world, &settings, &outcome) {
                    Ok(written) => result.bundle = Some(written),
                    Err(failure) => report::fail_all(result, &failure),
                }
            }
        }
        if let Some(file) = &self.args.write_cli_config {
            match report::write_cli_config(self.session.world, self.args, file, &outcome, result) {
                Ok(lines) => result.remarks.extend(lines),
                Err(failure) => report::fail_all(result, &failure),
            }
        }
        result.remarks.extend(self.session.facts.remarks());
    }
}

impl Job for MirrorJob<'_, '_> {
    type Opened = OpenMirrorRoot;
    type Done = ();

    fn open(
        &mut self,
        root: Root,
        _: Option<Loaded>,
        texts: &mut Texts,
        result: &mut RootResult,
    ) -> Result<OpenResult<OpenMirrorRoot>, Failure> {
        if root.sound_lock_of(&self.args.roots, result)?.is_none() {
            return Ok(OpenResult::Finished);
        }
        let mut lock = root.document().lock.clone();
        let named = self.named.of_root(lock.providers.keys(), root.flavor)?;
        if !self.named.is_empty() {
            lock.providers.retain(|addr, _| named.contains(addr));
        }
        let versions = lock
            .providers
            .iter()
            .map(|(provider, entry)| (provider, Some(&entry.version)));
        let refused = policy::not_lockable(
            root.project(),
            &root.project_name(),
            versions,
            &Requirements::default(),
            root.flavor,
        );
        // Before anything is fetched: what the policy denies must not get into the mirror.
        if result.forbid(refused) {
            return Ok(OpenResult::Finished);
        }
        let known = self.session.facts.about(&root, &lock);
        let platforms = self.wanted(&root, &known)?;
        self.scan(root.flavor)?;
        let Some(sources) = self.sources(&root, texts, result)? else {
            return Ok(OpenResult::Finished);
        };
        let Some(registry) = self.registry(&root, texts, result)? else {
            return Ok(OpenResult::Finished);
        };
        // Only complete roots are noted: a plan for a part of them would be taken for all.
        if let Some(planned) = &mut self.planned {
            planned.note(&root, &self.session);
        }
        Ok(OpenResult::Ready(OpenMirrorRoot {
            demands: upstream::demands(root.project(), root.flavor),
            platforms,
            sources,
            registry,
            lock,
            root,
        }))
    }

    fn obstacles(&self) -> Vec<Failure> {
        let commands = commands::of_all(self.session.options, &self.args.roots);
        let below = if self.args.roots.recursive {
            ""
        } else {
            "; with -r, lock files below are read, too"
        };
        self.named
            .unmatched()
            .map(|typed| {
                Failure::new(format!(
                    "{typed} cannot be mirrored: no lock file has an entry for it"
                ))
                .help(format!(
                    "`lockctl show{}` lists what is locked{below}",
                    commands.roots
                ))
            })
            .collect()
    }

    fn work(&mut self, roots: Vec<(OpenMirrorRoot, &mut RootResult)>, _: &Texts) -> Vec<()> {
        let sources: Vec<Vec<FlavorSource<'_>>> =
            self.sources.iter().map(Sources::by_number).collect();
        // By number, because thousands of roots share a few sources.
        let registries = self.registry.by_number();
        let places: Vec<Vec<Place<'_>>> = roots
            .iter()
            .map(|(opened, _)| {
                let flavor = opened.root.flavor;
                let copied = self.args.from.iter().filter_map(|dir| {
                    if let Some(bundle) = self.bundles.get(dir) {
                        return Some(Place::Bundle(bundle));
                    }
                    let mirror = self.directories.get(&(flavor, dir.clone()))?;
                    Some(Place::Directory(dir.clone(), mirror))
                });
                let named = opened
                    .sources
                    .iter()
                    .zip(&sources)
                    .filter_map(|(source, all)| {
                        let (name, number) = source.as_ref()?;
                        Some(Place::Source(Some(name.clone()), &all[*number]))
                    });
                // Last: what is near, or named by the user, spares the registry.
                let registry = opened.registry.map(|number| &registries[number]);
                let registry = registry.map(|registry| Place::Source(None, registry));
                copied.chain(named).chain(registry).collect()
            })
            .collect();
        let locked: Vec<MirroredRoot<'_>> = roots
            .iter()
            .zip(&places)
            .map(|((opened, _), places)| MirroredRoot {
                flavor: opened.root.flavor,
                lock: &opened.lock,
                platforms: &opened.platforms,
                trusted: facts::trusted(&opened.root),
                demands: &opened.demands,
                registry: opened.registry.map(|number| &registries[number]),
                places,
            })
            .collect();
        let disk = self.session.world.disk;
        let outcome = mirror::run(disk, self.session.facts.get(), &self.settings(), &locked);
        drop(locked);
        let results = roots.into_iter().map(|(_, result)| result).collect();
        // All roots are reported at once: a release counts for each of them, and was fetched once.
        report::roots(results, &outcome, self.args);
        self.outcome = Some(outcome);
        Vec::new()
    }
}
