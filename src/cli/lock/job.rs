//! The job that locks roots: what it needs of each, and the packages of all.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;

use super::args::LockOptions;
use super::ending;
use super::in_use::LockedRoots;
use super::moves::{Moves, NamedInRoots};
use super::rows::EvidenceRows;
use super::{dropped, remarks};
use crate::addr::ProviderAddr;
use crate::cli::args::job_count;
use crate::config::{BackendUse, Loaded};
use crate::diag::{Texts, has_errors};
use crate::hash::Hashes;
use crate::locker::{
    self, Contradicted, DOWNLOADS, LockError, LockSettings, Locked, RootRequest, SignatureDemands,
};
use crate::lockfile::LockFile;
use crate::package::{AgePolicy, ClaimPolicy, WantedPlatforms};
use crate::platform::Platform;
use crate::project::Policy;
use crate::report::{Failure, RootResult, Sentence};
use crate::resolve::Goals;
use crate::run::facts::{self, UserFacts};
use crate::run::options::ConfigurationOptions;
use crate::run::platforms::{self, PlatformChoice};
use crate::run::root::Root;
use crate::run::unseen::{CallNames, UnseenParts};
use crate::run::user::config::UserConfigs;
use crate::run::user::enforcement;
use crate::run::user::modules::UserModules;
use crate::run::user::sources::Sources;
use crate::run::{Job, OpenResult};
use crate::store::KeepOnly;
use crate::verify::packages::{PackageMemo, PackagePlace};
use crate::verify::policy;
use crate::world::{Exclusive, FileKind, Replaced};

/// The remark on a unit of Terragrunt for which no lock file is created.
const STAYS_IN_CACHE: &str =
    "`copy_terraform_lock_file = false` says that this unit has no lock file; none is created";

/// The job that locks roots.
pub(in crate::cli) struct LockJob<'a> {
    pub(super) options: &'a LockOptions,
    pub(super) user: Arc<UserConfigs<'a>>,
    moves: Option<&'a Moves>,
    modules: UserModules<'a>,
    configuration: ConfigurationOptions,
    /// The providers that are named, as far as roots require them.
    named: NamedInRoots,
    platforms: PlatformChoice,
    packages: PackageMemo<'a>,
    pub(super) sources: Sources<'a>,
    facts: UserFacts<'a>,
    settings: LockSettings,
    pub(super) evidence: EvidenceRows,
    /// Remarks on the flavor of a root that were made: once is enough.
    flavor_remarks: BTreeSet<String>,
    /// The versions that the roots have locked so far.
    pub(super) locked: LockedRoots,
}

/// A root that is ready to be locked.
pub(in crate::cli) struct OpenRoot {
    pub(in crate::cli) root: Root,
    pub(in crate::cli) loaded: Loaded,
    /// The lock file to start from, if it is not that of the root.
    start: Option<StartingLock>,
    pub(super) goals: Goals,
    platforms: WantedPlatforms,
    demands: SignatureDemands,
    claims: ClaimPolicy,
    /// Providers that are run from a directory and need no package, and entries that stay as they are.
    overridden: Vec<ProviderAddr>,
    /// The number of its source.
    pub(super) source: usize,
}

/// A lock file that a run starts from in place of that of the root.
#[derive(Debug)]
pub(in crate::cli) struct StartingLock {
    pub(in crate::cli) lock: LockFile,
    /// Hashes that were recorded of its versions on another registry.
    pub(in crate::cli) elsewhere: BTreeMap<ProviderAddr, Hashes>,
    /// Entries that stay as they are.
    pub(in crate::cli) kept: Vec<ProviderAddr>,
}

/// The outcome of the work for a root.
pub(in crate::cli) type LockOutcome = Result<Locked, Vec<LockError>>;

impl<'a> LockJob<'a> {
    pub(super) fn new(
        user: Arc<UserConfigs<'a>>,
        options: &'a LockOptions,
        moves: Option<&'a Moves>,
        modules: UserModules<'a>,
        configuration: ConfigurationOptions,
    ) -> Self {
        let world = user.world;
        Self {
            options,
            moves,
            modules,
            configuration,
            named: NamedInRoots::default(),
            platforms: platforms::typed(&options.platforms.platforms),
            packages: PackageMemo::new(world.disk, job_count(options.jobs)),
            sources: Sources::new(Arc::clone(&user), options.source.choice()),
            facts: UserFacts::new(user.options, world),
            settings: LockSettings {
                jobs: job_count(options.jobs),
                // Downloads wait for the network and hashing for a core, so that their usual numbers differ.
                downloads: options.jobs.unwrap_or(DOWNLOADS),
                enforced: enforcement(world.env),
                prove: options.prove,
                contradicted: if options.repair {
                    Contradicted::Replaced
                } else {
                    Contradicted::Alarm
                },
            },
            user,
            evidence: EvidenceRows::default(),
            flavor_remarks: BTreeSet::new(),
            locked: LockedRoots::default(),
        }
    }

    /// Warns of facts and modules that are kept and could not be used.
    pub(super) fn remarks(&self) -> Vec<Sentence> {
        self.facts.remarks().chain(self.modules.remarks()).collect()
    }

    /// Prepares a root for the work; `start` is the lock file to start from, if it is not that of the root.
    ///
    /// The faults of the lock file and of the configuration are [reported](is_sound) already.
    ///
    /// # Errors
    /// If the root cannot be locked.
    pub(in crate::cli) fn open_from(
        &mut self,
        start: Option<StartingLock>,
        root: Root,
        loaded: Loaded,
        texts: &mut Texts,
        result: &mut RootResult,
    ) -> Result<OpenResult<OpenRoot>, Failure> {
        // Terragrunt would neither read nor keep a lock file beside such a unit.
        if self.stays_in_cache(&root) {
            result.remark(STAYS_IN_CACHE);
            result.changed = Some(false);
            return Ok(OpenResult::Finished);
        }
        // Goals and needed providers follow from the lock file that the run starts from, not from the one on disk.
        let lock = start
            .as_ref()
            .map_or(&root.document().lock, |start| &start.lock);
        let Some(goals) = self.goals(&root, &loaded, lock)? else {
            ending::not_concerned(result, &root);
            return Ok(OpenResult::Finished);
        };
        let requirements = &loaded.requirements;
        let mut needed: Vec<&ProviderAddr> = requirements.providers.keys().collect();
        if !requirements.is_complete() {
            // A module or state that cannot be read may require the other entries.
            needed.extend(lock.providers.keys());
        }
        let mut overridden = self.sources.overridden(&root, texts);
        for provider in requirements.providers.keys() {
            if overridden.contains(provider) {
                let name = provider.short(root.flavor);
                result.remark(format!("{name} is in dev_overrides: it is not locked"));
            }
        }
        // An entry that stays as it is needs no package, as one that is run from a directory.
        overridden.extend(start.iter().flat_map(|start| &start.kept).cloned());
        let needs_package =
            |addr: &ProviderAddr| !addr.is_builtin(root.flavor) && !overridden.contains(addr);
        let needs_packages = needed.iter().any(|addr| needs_package(addr));
        if root.lock.is_none() && !needs_packages {
            let unseen = UnseenParts::new(&loaded, &self.configuration, self.user.options);
            ending::nothing_required(result, &root, &unseen);
            return Ok(OpenResult::Finished);
        }
        // Before any request: a provider that the project file forbids is not even asked about.
        let refused = policy::not_lockable(
            root.project(),
            &root.project_name(),
            needed.iter().copied().filter(|addr| needs_package(addr)),
            requirements,
            root.flavor,
        );
        if !refused.is_empty() {
            result.refuse(refused);
            return Ok(OpenResult::Finished);
        }
        // With `--offline`, recorded hashes and facts alone complete the entries; no source is needed for that.
        let source = if needs_packages && !self.sources.are_closed() {
            self.sources.source(&root, texts)?
        } else {
            self.sources.not_needed(root.flavor)
        };
        if let Some(errors) = self.sources.errors(source) {
            result.faults(errors);
            return Ok(OpenResult::Finished);
        }
        let covered = self.covered_platforms(&root, texts)?;
        if let Some(remark) = root.flavor_remark()
            && self.flavor_remarks.insert(remark.clone())
        {
            result.remark(remark);
        }
        let platforms = self.platforms.of_root(&root, &needed, &covered);
        // Wanted and dropped platforms are known only here: a project file may name both.
        dropped::check(self.options, &root, &needed, &platforms)?;
        Ok(OpenResult::Ready(OpenRoot {
            platforms,
            demands: policy::demands(root.project(), root.flavor),
            claims: root.project().trust.claims(root.flavor),
            root,
            loaded,
            start,
            goals,
            overridden,
            source,
        }))
    }

    /// Returns true if Terragrunt keeps the lock file of a unit in its cache, and there is none beside it.
    fn stays_in_cache(&self, root: &Root) -> bool {
        let world = self.user.world;
        root.lock.is_none() && root.unit_lock_use(world.disk, world.env).stays_in_cache
    }

    /// Returns the versions that a root is to move to; `None` if no provider that is named concerns it.
    fn goals(
        &mut self,
        root: &Root,
        loaded: &Loaded,
        lock: &LockFile,
    ) -> Result<Option<Goals>, Failure> {
        let Some(moves) = self.moves else {
            return Ok(Some(Goals::default()));
        };
        let unseen = UnseenParts::new(loaded, &self.configuration, self.user.options);
        let unseen = unseen.remark(CallNames::Listed, "and may require it");
        moves.goals(root, loaded, lock, unseen, &mut self.named)
    }

    /// Returns the platforms that the lock file of a root is known to cover, where these are wanted.
    fn covered_platforms(
        &mut self,
        root: &Root,
        texts: &mut Texts,
    ) -> Result<Vec<Platform>, Failure> {
        if !self.platforms.needs_locked() {
            return Ok(Vec::new());
        }
        let mirror = self.options.source.fs_mirror.as_ref();
        let mirror = mirror.map(|dir| PackagePlace::named_mirror(self.user.options.below(dir)));
        // Errors of the CLI configuration matter where packages come from, and are reported there.
        let user = self.user.of(root.flavor);
        let places = user.package_places(root, mirror.as_slice(), texts);
        let facts = match &root.lock {
            Some(lock) if !self.options.prove => self.facts.about(root, &lock.document.lock),
            _ => BTreeMap::new(),
        };
        let mut covered = platforms::locked(root, &mut self.packages, &places, &facts)?;
        // A platform that is to be dropped must not come back because it is covered.
        covered.retain(|platform| !self.options.drop_platforms.contains(platform));
        Ok(covered)
    }

    /// Returns how old a release must be to be selected for a root.
    fn age(&self, root: &Root) -> Option<AgePolicy> {
        let policy = root.project().policy.as_ref();
        match self.moves.and_then(|moves| moves.min_age) {
            Some(min_age) => {
                let undated = policy.map(|policy| policy.undated).unwrap_or_default();
                AgePolicy::new(min_age, undated)
            }
            None => policy.and_then(Policy::age),
        }
    }
}

impl Job for LockJob<'_> {
    type Loaded = Loaded;
    type Opened = OpenRoot;
    type Done = (OpenRoot, LockOutcome);

    fn threads(&self) -> NonZeroUsize {
        job_count(self.options.jobs)
    }

    fn load(&self, root: &Root, texts: &mut Texts) -> Loaded {
        let backend = BackendUse::LeftAlone;
        self.modules.load(root, &self.configuration, backend, texts)
    }

    fn open(
        &mut self,
        root: Root,
        loaded: Loaded,
        texts: &mut Texts,
        result: &mut RootResult,
    ) -> Result<OpenResult<OpenRoot>, Failure> {
        if is_sound(&root, &loaded, result)? {
            self.open_from(None, root, loaded, texts, result)
        } else {
            Ok(OpenResult::Finished)
        }
    }

    fn obstacles(&self) -> Vec<Failure> {
        let Some(moves) = self.moves else {
            return Vec::new();
        };
        let world = self.user.world;
        moves.unknown(&self.named, |typed| {
            let kind = world.disk.kind(&self.user.options.below(Path::new(typed)));
            kind.is_ok_and(|kind| kind == FileKind::Directory)
        })
    }

    fn work(&mut self, roots: Vec<OpenRoot>) -> Vec<Self::Done> {
        let sources = self.sources.by_number();
        let nothing_elsewhere = BTreeMap::new();
        let requests: Vec<RootRequest<'_>> = roots
            .iter()
            .map(|opened| RootRequest {
                source: &sources[opened.source],
                requirements: &opened.loaded.requirements,
                lock: opened.start_lock(),
                elsewhere: opened
                    .start
                    .as_ref()
                    .map_or(&nothing_elsewhere, |start| &start.elsewhere),
                goals: &opened.goals,
                age: self.age(&opened.root),
                platforms: &opened.platforms,
                dropped: &self.options.drop_platforms,
                demands: &opened.demands,
                claims: &opened.claims,
                trusted: facts::trusted(&opened.root),
                overridden: &opened.overridden,
            })
            .collect();
        let (disk, facts) = (self.user.world.disk, self.facts.get());
        let outcomes = if self.sources.are_closed() {
            locker::complete(facts, &self.settings, &requests)
        } else if self.options.prove {
            // Every package is downloaded again, so known facts do not count, but new ones are kept.
            locker::run(disk, &KeepOnly(facts), &self.settings, &requests)
        } else {
            locker::run(disk, facts, &self.settings, &requests)
        };
        drop(requests);
        roots.into_iter().zip(outcomes).collect()
    }

    fn finish(
        &mut self,
        (opened, outcome): Self::Done,
        held: Option<&Exclusive>,
        texts: &Texts,
        result: &mut RootResult,
    ) -> Result<Replaced, Failure> {
        self.report_sources(&opened, result);
        match outcome {
            Ok(locked) => {
                self.report_state(&opened, &locked, result);
                self.write(&opened, &locked, held, result)
            }
            Err(errors) => {
                self.report_errors(&opened, &errors, texts, result);
                Ok(Replaced::Done)
            }
        }
    }
}

impl OpenRoot {
    /// Returns the lock file that the run starts from.
    pub(in crate::cli) fn start_lock(&self) -> &LockFile {
        match &self.start {
            Some(start) => &start.lock,
            None => &self.root.document().lock,
        }
    }
}

/// Reports what is wrong with the lock file and the configuration of a root; returns true if both can be
/// worked with.
///
/// # Errors
/// If there is no configuration.
pub(in crate::cli) fn is_sound(
    root: &Root,
    loaded: &Loaded,
    result: &mut RootResult,
) -> Result<bool, Failure> {
    let lock_faults = root.lock.as_ref().map(|lock| &*lock.diagnostics);
    let lock_faults = lock_faults.unwrap_or_default();
    result.faults(lock_faults);
    if !loaded.found {
        return Err(root.no_configuration());
    }
    let about_configuration = loaded
        .diagnostics
        .iter()
        .filter(|diagnostic| !remarks::is_about_state(diagnostic));
    result.faults(about_configuration);
    Ok(!has_errors(lock_faults) && !has_errors(&loaded.diagnostics))
}
