//! The run that locks the roots of a command line, whatever becomes of versions.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::num::NonZeroUsize;
use std::path::Path;

use super::args::LockOptions;
use super::dropped;
use super::evidence::EvidenceRows;
use super::in_use::{ComparedRun, LockedRoots};
use super::moves::{Found, Moves};
use super::provenance;
use super::result::{self, Ending};
use crate::addr::ProviderAddr;
use crate::cli::advice::required::Required;
use crate::cli::args::{Common, RootArgs, job_count};
use crate::cli::convert::{self, Target};
use crate::cli::progress::Progress;
use crate::cli::{World, advice};
use crate::config::{BackendUse, Loaded};
use crate::diag::{Diagnostic, Texts, has_errors};
use crate::hash::Hashes;
use crate::locker::{
    self, Contradicted, Conversion, DOWNLOADS, LockError, LockSettings, Locked, RootRequest,
    SignatureDemands,
};
use crate::lockfile::{self, LockFile};
use crate::package::{AgePolicy, ClaimPolicy, WantedPlatforms};
use crate::platform::Platform;
use crate::project::Policy;
use crate::report::json::RootStatus;
use crate::report::{CommandResult, Failure, RootResult, Sentence, Tone};
use crate::resolve::Goals;
use crate::run::facts::{self, UserFacts};
use crate::run::options::{ConfigurationOptions, RunOptions};
use crate::run::platforms::{self, PlatformArg, PlatformChoice};
use crate::run::root::{self, Root};
use crate::run::unseen::{Names, Unseen};
use crate::run::user::enforcement;
use crate::run::user::installation::Installations;
use crate::run::user::modules::{self, AutoModules, UserModules, UserNetwork};
use crate::run::user::sources::Sources;
use crate::run::{self, OpenResult};
use crate::sources::net::Event;
use crate::store::KeepOnly;
use crate::verify::packages::{PackageMemo, PackagePlace};
use crate::verify::policy;
use crate::workspace::UNIT_CACHE;
use crate::world::{Exclusive, FileKind, Replaced};

/// Why no lock file is created beside a unit.
const NO_PLACE: &str =
    "`copy_terraform_lock_file = false` says that this unit has no lock file; none is created";

/// What a run is to do.
#[derive(Clone, Copy)]
pub(in crate::cli) struct LockRequest<'a> {
    /// The command, as typed.
    pub(in crate::cli) command: &'static str,
    pub(in crate::cli) roots: &'a RootArgs,
    pub(in crate::cli) options: &'a LockOptions,
    /// Which versions move; `None` if none does.
    pub(in crate::cli) moves: Option<&'a Moves>,
    /// Whether lock files are those of the other program, and how they were named; `None` if not.
    pub(in crate::cli) converts: Option<Target>,
}

/// The lock run of a command line.
struct LockRun<'a> {
    run: &'a RunOptions,
    configuration: &'a ConfigurationOptions,
    modules: UserModules<'a>,
    options: &'a LockOptions,
    moves: Option<&'a Moves>,
    converts: Option<Target>,
    /// What became of the providers that are named.
    found: Found,
    world: World<'a>,
    platforms: PlatformChoice,
    memo: PackageMemo<'a>,
    installations: Installations<'a>,
    sources: Sources<'a>,
    facts: UserFacts<'a>,
    settings: LockSettings,
    evidence: EvidenceRows,
    /// What was said of the flavor of a root: once is enough.
    remarks: BTreeSet<String>,
    /// What the roots have locked so far.
    locked: LockedRoots,
}

/// A root that is ready to be locked.
struct OpenRoot {
    root: Root,
    loaded: Loaded,
    /// What becomes of the entries, if they are converted.
    conversion: Option<Conversion>,
    /// What was recorded of them on the other registry.
    elsewhere: BTreeMap<ProviderAddr, Hashes>,
    goals: Goals,
    platforms: WantedPlatforms,
    demands: SignatureDemands,
    claims: ClaimPolicy,
    /// Providers that are run from a directory and need no package, and entries that stay as they are.
    overridden: Vec<ProviderAddr>,
    /// The place of its source.
    source: usize,
}

/// Locks all roots of a command line.
pub(in crate::cli) fn run(
    common: &Common,
    job: &LockRequest<'_>,
    world: World<'_>,
    stderr: &mut (dyn Write + Send),
) -> CommandResult {
    let progress = Progress::new(common, world.env, stderr);
    let observer = &|event: &Event<'_>| progress.observe(event);
    let (run_options, options) = (&common.options(), job.options);
    let configuration = &options.configuration.options();
    let cache = modules::cache(run_options, world);
    let network = UserNetwork { world, observer };
    let auto = AutoModules::Fetched;
    let modules = UserModules::new(run_options, configuration, auto, network, cache.as_ref());
    let mut lock_run = LockRun {
        run: run_options,
        configuration,
        modules,
        options,
        moves: job.moves,
        converts: job.converts,
        found: Found::default(),
        world,
        platforms: platforms::typed(&options.platforms.platforms),
        memo: PackageMemo::new(world.disk, job_count(options.jobs)),
        installations: Installations::new(run_options, world),
        sources: Sources::new(run_options, options.source.choice(), world, observer),
        facts: UserFacts::new(run_options, world),
        settings: LockSettings {
            jobs: job_count(options.jobs),
            downloads: options.jobs.unwrap_or(DOWNLOADS),
            enforced: enforcement(world.env),
            prove: options.prove,
            contradicted: if options.repair {
                Contradicted::Replaced
            } else {
                Contradicted::Alarm
            },
        },
        evidence: EvidenceRows::default(),
        remarks: BTreeSet::new(),
        locked: LockedRoots::default(),
    };
    let choice = job.roots.choice();
    let mut all = run::over_roots(&mut lock_run, &choice, run_options, world);
    progress.finish();
    let compared = ComparedRun {
        run: run_options,
        options,
        roots: &choice,
    };
    let (results, texts) = (&all.results, &mut all.texts);
    let in_use = lock_run
        .locked
        .compare(results, &compared, world.disk, texts);
    let mut result = all.into_result(job.command);
    result.versions_in_use = in_use;
    result.remarks.extend(lock_run.facts.remarks());
    result.remarks.extend(lock_run.modules.remarks());
    let dropped = options.drop_platforms.iter().cloned();
    let named: Vec<PlatformArg> = dropped.map(PlatformArg::Named).collect();
    let doubts = platforms::remarks(&[&*options.platforms.platforms, &*named].concat());
    result
        .remarks
        .extend(doubts.into_iter().map(Sentence::warning));
    result
}

impl run::Job for LockRun<'_> {
    type Loaded = Loaded;
    type Opened = OpenRoot;
    type Done = (OpenRoot, Result<Locked, Vec<LockError>>);

    fn threads(&self) -> NonZeroUsize {
        job_count(self.options.jobs)
    }

    fn load(&self, root: &Root, texts: &mut Texts) -> Loaded {
        root.load(
            &self.modules,
            self.configuration,
            BackendUse::LeftAlone,
            texts,
        )
    }

    fn open(
        &mut self,
        root: Root,
        loaded: Loaded,
        texts: &mut Texts,
        result: &mut RootResult,
    ) -> Result<OpenResult<OpenRoot>, Failure> {
        if is_broken(&root, &loaded, result)? {
            return Ok(OpenResult::Finished);
        }
        let conversion = match self.converts {
            None => None,
            Some(target) => match convert::start(target, &root, &loaded, texts, result)? {
                Some(conversion) => Some(conversion),
                None => return Ok(OpenResult::Finished),
            },
        };
        if self.has_no_place(&root) {
            result.remark(NO_PLACE);
            result.changed = Some(false);
            return Ok(OpenResult::Finished);
        }
        let lock = before(&root, conversion.as_ref());
        let unseen = Unseen::new(&loaded, self.configuration, self.run);
        let unseen = unseen.remark(Names::Listed, "and may require it");
        let goals = match self.moves {
            Some(moves) => moves.goals(&root, &loaded, lock, unseen, &mut self.found)?,
            None => Some(Goals::default()),
        };
        let Some(goals) = goals else {
            result::not_concerned(result, &root);
            return Ok(OpenResult::Finished);
        };
        let mut needed: Vec<&ProviderAddr> = loaded.requirements.providers.keys().collect();
        if !loaded.requirements.is_complete() {
            // What was not seen may require the other entries.
            needed.extend(lock.providers.keys());
        }
        let mut overridden = self.sources.overridden(&root, texts);
        let required = loaded.requirements.providers.keys();
        for provider in required.filter(|addr| overridden.contains(addr)) {
            result::not_locked(result, provider, root.flavor);
        }
        let staying = conversion.iter().flat_map(|one| one.staying.keys());
        overridden.extend(staying.cloned());
        let is_left_out =
            |addr: &ProviderAddr| addr.is_builtin(root.flavor) || overridden.contains(addr);
        let needs_packages = !needed.iter().all(|addr| is_left_out(addr));
        if root.lock.is_none() && !needs_packages {
            let unseen = Unseen::new(&loaded, self.configuration, self.run);
            result::nothing_required(result, &root, &unseen);
            return Ok(OpenResult::Finished);
        }
        let to_lock = needed.iter().copied().filter(|addr| !is_left_out(addr));
        let refused = policy::not_lockable(
            root.project(),
            &root.project_name(),
            to_lock,
            &loaded.requirements,
            root.flavor,
        );
        if !refused.is_empty() {
            result.refuse(refused);
            return Ok(OpenResult::Finished);
        }
        let source = if needs_packages && !self.sources.are_closed() {
            self.sources.source(&root, texts)?
        } else {
            self.sources.not_needed(root.flavor)
        };
        if let Some(errors) = self.sources.errors(source) {
            result.faults(errors);
            return Ok(OpenResult::Finished);
        }
        let locked = self.locked_platforms(&root, texts)?;
        if let Some(remark) = root.flavor_remark()
            && self.remarks.insert(remark.clone())
        {
            result.remark(remark);
        }
        let platforms = self.platforms.of_root(&root, &needed, &locked);
        if let Some(failure) = dropped::in_the_way(self.options, &root, &needed, &platforms) {
            return Err(failure);
        }
        Ok(OpenResult::Ready(OpenRoot {
            platforms,
            demands: policy::demands(root.project(), root.flavor),
            claims: root.project().trust.claims(root.flavor),
            root,
            loaded,
            elsewhere: conversion.iter().flat_map(Conversion::recorded).collect(),
            conversion,
            goals,
            overridden,
            source,
        }))
    }

    fn obstacles(&self) -> Vec<Failure> {
        let moves = self.moves.iter();
        let is_dir = |typed: &str| {
            let kind = self.world.disk.kind(&self.run.below(Path::new(typed)));
            kind.is_ok_and(|kind| kind == FileKind::Directory)
        };
        moves
            .flat_map(|moves| moves.unknown(&self.found, is_dir))
            .collect()
    }

    fn work(&mut self, roots: Vec<OpenRoot>) -> Vec<Self::Done> {
        let sources = self.sources.by_flavor();
        let requests = roots.iter().map(|one| RootRequest {
            source: &sources[one.source],
            requirements: &one.loaded.requirements,
            lock: one.before(),
            elsewhere: &one.elsewhere,
            goals: &one.goals,
            age: self.age(&one.root),
            platforms: &one.platforms,
            dropped: &self.options.drop_platforms,
            demands: &one.demands,
            claims: &one.claims,
            trusted: facts::trusted(&one.root),
            overridden: &one.overridden,
        });
        let requests: Vec<RootRequest<'_>> = requests.collect();
        let known = self.facts.get();
        let outcomes = if self.sources.are_closed() {
            locker::complete(known, &self.settings, &requests)
        } else if self.options.prove {
            locker::run(self.world.disk, &KeepOnly(known), &self.settings, &requests)
        } else {
            locker::run(self.world.disk, known, &self.settings, &requests)
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
        result.faults(self.sources.unsaid(opened.source));
        let OpenRoot { root, loaded, .. } = &opened;
        let outcome = outcome.and_then(|locked| match &opened.conversion {
            Some(conversion) => convert::unfinished(conversion, locked),
            None => Ok(locked),
        });
        let done = match outcome {
            Ok(locked) => {
                // That a state cannot be seen matters only where that changes something.
                let about_state = loaded.diagnostics.iter().filter(|one| is_about_state(one));
                if self.run.verbose || !locked.unrequired.is_empty() {
                    result.faults(about_state);
                } else {
                    result.aside(about_state);
                }
                if let Some(conversion) = &opened.conversion {
                    let files = self.world.disk;
                    convert::report(result, conversion, root, loaded, texts, files);
                }
                let done = self.write(&opened, &locked, held, result);
                if let Ok(Replaced::Done) = done {
                    let requirements = &loaded.requirements;
                    self.locked.add(root, requirements, &opened.goals, &locked);
                }
                done
            }
            Err(errors) => {
                let (missing, errors) = match &opened.conversion {
                    Some(conversion) => convert::missing(conversion, errors, root),
                    None => (Vec::new(), errors),
                };
                let required = Required {
                    requirements: &loaded.requirements,
                    project: root.project(),
                    texts,
                };
                if !errors.is_empty() {
                    advice::lock::errors(result, &errors, root.flavor, &required);
                }
                missing.into_iter().for_each(|failure| result.fail(failure));
                Ok(Replaced::Done)
            }
        };
        // A root that starts over says everything again.
        if !matches!(done, Ok(Replaced::Changed)) {
            self.sources.said(opened.source);
        }
        done
    }
}

impl<'a> LockRun<'a> {
    /// Returns the platforms that the lock file of a root is known to cover, where they are wanted.
    fn locked_platforms(
        &mut self,
        root: &Root,
        texts: &mut Texts,
    ) -> Result<Vec<Platform>, Failure> {
        if !self.platforms.needs_locked() {
            return Ok(Vec::new());
        }
        let mirror = self.options.source.fs_mirror.iter();
        let mirror: Vec<PackagePlace> = mirror
            .map(|dir| PackagePlace::named_mirror(self.run.below(dir)))
            .collect();
        // Errors of the CLI configuration matter where packages come from, and are reported there.
        let (installation, _) = self.installations.of(root.flavor, texts);
        let places = installation.places(root, self.world, &mirror);
        let lock = root.lock.as_ref().map(|lock| &lock.document.lock);
        let lock = lock.filter(|_| !self.options.prove);
        let facts = lock.map(|lock| self.facts.about(root, lock));
        let locked = platforms::locked(root, &mut self.memo, &places, &facts.unwrap_or_default());
        let is_kept = |platform: &Platform| !self.options.drop_platforms.contains(platform);
        Ok(locked?.into_iter().filter(is_kept).collect())
    }

    /// Returns whether a unit has no lock file, and says that it shall have none.
    fn has_no_place(&self, root: &Root) -> bool {
        let (disk, env) = (self.world.disk, self.world.env);
        root.lock.is_none() && root.unit_lock_use(disk, env).stays_in_cache
    }

    /// Says what Terragrunt would do with a lock file that changes.
    fn unit_remark(&self, root: &Root, changed: bool) -> Option<String> {
        if !changed || root.unit.is_none() {
            return None;
        }
        let lock_use = root.unit_lock_use(self.world.disk, self.world.env);
        let cache = root.dir.join(UNIT_CACHE);
        lock_use.is_restored.then(|| {
            format!(
                "Terragrunt restores the lock file of its last run in this unit; remove {} to keep this one",
                cache.display()
            )
        })
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

    /// Writes the lock file, or says what would be written.
    fn write(
        &mut self,
        opened: &OpenRoot,
        locked: &Locked,
        held: Option<&Exclusive>,
        result: &mut RootResult,
    ) -> Result<Replaced, Failure> {
        let root = &opened.root;
        let text = lockfile::write(&locked.lock, root.flavor);
        if text.len() as u64 > lockfile::MAX_BYTES {
            return Err(root.too_large(text.len()));
        }
        let old = root.lock.as_ref().map(|lock| &*lock.bytes);
        let changed = old != Some(text.as_bytes());
        let write = changed && self.options.writes();
        if write {
            let (disk, path, new) = (self.world.disk, &root.lock_path, text.as_bytes());
            let replaced = match held {
                Some(held) => disk.replace_held(held, path, old, new),
                None => disk.replace(path, old, new),
            };
            if replaced.map_err(|error| root.unwritable(error))? == Replaced::Changed {
                return Ok(Replaced::Changed);
            }
        }
        if !changed && !self.options.check && !self.options.dry_run {
            self.world.disk.sweep(&root.lock_path);
        }
        result.changed = Some(changed);
        let ending = if !changed {
            Ending::UpToDate
        } else if write {
            Ending::Written
        } else {
            Ending::WouldWrite
        };
        if let Some(remark) = self.unit_remark(root, changed) {
            result.remark(remark);
        }
        let goals = &opened.goals;
        result::outcome(result, locked, root, goals, ending, &mut self.evidence);
        let conversion = opened.conversion.as_ref().filter(|_| changed);
        let converted = conversion.and_then(|one| convert::done(one, root, write));
        result.verdict = Some(match converted {
            Some(text) if write => Sentence {
                tone: Tone::Good,
                text: text + &provenance::added(locked),
            },
            Some(text) => Sentence::warning(text),
            None => result::verdict(ending, locked, root),
        });
        if !changed {
            return Ok(Replaced::Done);
        }
        if let Some(remark) = root.lock.as_ref().and_then(root::dropped) {
            result.remark(remark);
        }
        if self.options.dry_run && !write {
            let comparison = result::comparison(root, locked, &text);
            result.lock_mut().comparison = Some(Box::new(comparison));
        }
        if self.options.check {
            result.status = RootStatus::Findings;
        }
        Ok(Replaced::Done)
    }
}

impl OpenRoot {
    fn before(&self) -> &LockFile {
        before(&self.root, self.conversion.as_ref())
    }
}

/// Returns the lock file that a run starts from.
fn before<'a>(root: &'a Root, conversion: Option<&'a Conversion>) -> &'a LockFile {
    conversion.map_or(&root.document().lock, |one| &one.lock)
}

/// Reports what is wrong with lock file and configuration; returns whether they cannot be worked with.
fn is_broken(root: &Root, loaded: &Loaded, result: &mut RootResult) -> Result<bool, Failure> {
    let lock = root.lock.as_ref();
    if let Some(lock) = lock {
        result.faults(&lock.diagnostics);
    }
    if !loaded.found {
        return Err(root.no_configuration());
    }
    result.faults(loaded.diagnostics.iter().filter(|one| !is_about_state(one)));
    let is_broken = lock.is_some_and(|lock| has_errors(&lock.diagnostics));
    Ok(is_broken || has_errors(&loaded.diagnostics))
}

/// Returns whether a note says that the state cannot be seen.
fn is_about_state(diagnostic: &Diagnostic) -> bool {
    diagnostic.code == "state-not-visible"
}
