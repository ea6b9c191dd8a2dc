//! The job that locks roots: what it needs of each, the packages of all, and the lock files written.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use super::args::LockOptions;
use super::ending::{self, LockEnding};
use super::in_use::LockedRoots;
use super::moves::{Moves, NamedInRoots};
use super::opened::{LockOutcome, OpenRoot, StartingLock, sound};
use super::remarks::UncoveredEntries;
use super::rows::EvidenceRows;
use super::{dropped, remarks};
use crate::addr::ProviderAddr;
use crate::cli::args::job_count;
use crate::config::Loaded;
use crate::diag::{Severity, Texts};
use crate::locker::{self, Contradicted, DOWNLOADS, LockSettings, Locked, RootRequest};
use crate::lockfile;
use crate::packages::PackageMemo;
use crate::report::json::RootStatus;
use crate::report::{Failure, RootResult, Sentence};
use crate::run::facts::{self, UserFacts};
use crate::run::ignored::ignoring_line;
use crate::run::line_ends;
use crate::run::options::ConfigurationOptions;
use crate::run::platforms::{self, PlatformChoice};
use crate::run::root::{self, Root};
use crate::run::unseen::UnseenParts;
use crate::run::user::config::UserConfigs;
use crate::run::user::enforcement;
use crate::run::user::sources::{self, Sources};
use crate::run::{Job, OpenResult};
use crate::store::KeepOnly;
use crate::upstream;
use crate::verify::{look_alike, policy};
use crate::world::{Exclusive, FileKind, Replaced, Replacement};

/// The remark on a unit of Terragrunt that gets no lock file.
const STAYS_IN_CACHE: &str =
    "`copy_terraform_lock_file = false` says that this unit has no lock file; none is created";

/// The job that locks roots.
pub(in crate::front::cli) struct LockJob<'a> {
    pub(super) options: &'a LockOptions,
    pub(super) user: Arc<UserConfigs<'a>>,
    pub(super) moves: Option<&'a Moves>,
    pub(super) configuration: &'a ConfigurationOptions,
    /// The providers that are named, as far as roots require them.
    pub(super) named: NamedInRoots,
    pub(super) platforms: PlatformChoice,
    pub(super) packages: PackageMemo<'a>,
    pub(super) sources: Sources<'a>,
    pub(super) facts: UserFacts<'a>,
    settings: LockSettings,
    pub(super) evidence: EvidenceRows,
    /// The entries whose source was not asked for coverage of the wanted platforms, and their roots.
    pub(super) uncovered: UncoveredEntries,
    /// The versions that the roots have locked so far.
    pub(super) locked: LockedRoots,
}

impl<'a> LockJob<'a> {
    pub(super) fn new(
        user: Arc<UserConfigs<'a>>,
        options: &'a LockOptions,
        moves: Option<&'a Moves>,
        configuration: &'a ConfigurationOptions,
    ) -> Self {
        let world = user.world;
        Self {
            options,
            moves,
            configuration,
            named: NamedInRoots::default(),
            platforms: platforms::typed(&options.platforms.platforms),
            packages: PackageMemo::new(world.disk, job_count(options.jobs)),
            sources: Sources::new(Arc::clone(&user), options.source.choice(user.options)),
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
            uncovered: UncoveredEntries::default(),
            locked: LockedRoots::default(),
        }
    }

    /// Warns of facts that are kept and could not be used.
    pub(super) fn remarks(&self) -> impl Iterator<Item = Sentence> {
        self.facts.remarks()
    }

    /// Prepares a root for the work; `start` is the lock file to start from, if it is not that of the root.
    ///
    /// The faults of the lock file and of the configuration are [reported](sound) already.
    ///
    /// # Errors
    /// If the root cannot be locked.
    pub(in crate::front::cli) fn open_from(
        &mut self,
        start: Option<StartingLock>,
        root: Root,
        loaded: Loaded,
        texts: &mut Texts,
        result: &mut RootResult,
    ) -> Result<OpenResult<OpenRoot>, Failure> {
        // Terragrunt would neither read nor keep a lock file beside such a unit.
        let world = self.user.world;
        if root.lock.is_none() && root.unit_lock_use(world.disk, world.env).stays_in_cache {
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
        let mut needed = sources::needed(requirements, lock);
        needed.retain(|addr| goals.of(addr).is_some());
        let mut overridden = self.sources.overridden(&root, texts);
        for provider in requirements.providers.keys() {
            if overridden.contains(provider) && goals.of(provider).is_some() {
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
            let unseen = UnseenParts::new(&loaded, self.configuration, self.user.options);
            ending::nothing_required(result, &root, &unseen);
            return Ok(OpenResult::Finished);
        }
        // Before any request: a provider that the project file forbids is not even asked about.
        let mut refusable = policy::not_lockable(
            root.project(),
            &root.project_name(),
            needed.iter().copied().filter(|addr| needs_package(addr)),
            requirements,
            root.flavor,
        );
        // Trust in a provider begins with its entry, and `init` checks no name.
        let is_new =
            |addr: &&ProviderAddr| needs_package(addr) && !lock.providers.contains_key(*addr);
        refusable.extend(look_alike::newly_locked(
            &needed.iter().copied().filter(is_new).collect(),
            lock.providers.keys(),
            requirements,
            root.project(),
            root.flavor,
        ));
        let is_refused = refusable
            .iter()
            .any(|finding| finding.diagnostic.severity == Severity::Error);
        if is_refused {
            result.refuse(refusable);
            return Ok(OpenResult::Finished);
        }
        result.found_beside(refusable);
        // With `--offline`, recorded hashes and facts alone complete the entries; no source is needed for that.
        let asks = needs_packages && !self.sources.are_closed(&root);
        let Some(source) = self.sources.of_root(&root, asks, texts, result)? else {
            return Ok(OpenResult::Finished);
        };
        let covered = self.covered_platforms(&root, texts)?;
        root::remark_on_flavor(&root, result);
        let platforms = self.platforms.of_root(&root, &needed, &covered);
        // Wanted and dropped platforms are known only here: a project file may name both.
        dropped::check(self.options, &root, &needed, &platforms)?;
        Ok(OpenResult::Ready(OpenRoot {
            platforms,
            demands: upstream::demands(root.project(), root.flavor),
            claims: root.project().trust.claims(root.flavor),
            root,
            loaded,
            start,
            goals,
            overridden,
            source,
        }))
    }
}

impl Job for LockJob<'_> {
    type Opened = OpenRoot;
    type Done = (OpenRoot, LockOutcome);

    fn open(
        &mut self,
        root: Root,
        loaded: Option<Loaded>,
        texts: &mut Texts,
        result: &mut RootResult,
    ) -> Result<OpenResult<OpenRoot>, Failure> {
        let root = match root.repaired_lock(result) {
            Some(lock) => root.with_lock(lock),
            None => root,
        };
        match sound(&root, loaded, result)? {
            Some(loaded) => self.open_from(None, root, loaded, texts, result),
            None => Ok(OpenResult::Finished),
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

    fn work(&mut self, roots: Vec<(OpenRoot, &mut RootResult)>, _: &Texts) -> Vec<Self::Done> {
        let sources = self.sources.by_number();
        let nothing_elsewhere = BTreeMap::new();
        let requests = roots.iter().map(|(opened, _)| {
            let request = RootRequest {
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
            };
            (self.sources.are_closed(&opened.root), request)
        });
        // The project file of one root may name a mirror, while another root needs the closed registries.
        let (mut closed, mut open) = (Vec::new(), Vec::new());
        for (is_closed, request) in requests {
            if is_closed {
                closed.push(request);
            } else {
                open.push(request);
            }
        }
        let (disk, facts) = (self.user.world.disk, self.facts.get());
        let mut completed = locker::complete(facts, &self.settings, &closed).into_iter();
        let mut locked = if self.options.prove {
            // Every package is downloaded again, so known facts do not count, but new ones are kept.
            locker::run(disk, &KeepOnly(facts), &self.settings, &open)
        } else {
            locker::run(disk, facts, &self.settings, &open)
        }
        .into_iter();
        drop((closed, open));
        let mut done = Vec::new();
        for (opened, _) in roots {
            let outcome = if self.sources.are_closed(&opened.root) {
                completed.next()
            } else {
                locked.next()
            };
            done.push((
                opened,
                outcome.expect("there is an outcome for each request"),
            ));
        }
        done
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
                let altered = self.altered(&opened, &locked)?;
                if altered.is_empty() {
                    return self.write(&opened, &locked, held, result);
                }
                result.refuse(altered);
                Ok(Replaced::Done)
            }
            Err(errors) => {
                self.report_errors(&opened, &errors, texts, result);
                Ok(Replaced::Done)
            }
        }
    }
}

impl LockJob<'_> {
    /// Writes the lock file, or reports what would be written.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(in crate::front::cli) fn write(
        &mut self,
        opened: &OpenRoot,
        locked: &Locked,
        held: Option<&Exclusive>,
        result: &mut RootResult,
    ) -> Result<Replaced, Failure> {
        let written = self.replace(opened, locked, held, result);
        // A root that starts over reports everything again.
        if !matches!(written, Ok(Replaced::Changed)) {
            self.sources.reported(opened.source);
        }
        written
    }

    fn replace(
        &mut self,
        opened: &OpenRoot,
        locked: &Locked,
        held: Option<&Exclusive>,
        result: &mut RootResult,
    ) -> Result<Replaced, Failure> {
        let root = &opened.root;
        let text = lockfile::write(&locked.lock, root.flavor);
        // The next run, and every other command, would refuse to read it.
        if text.len() as u64 > lockfile::MAX_BYTES {
            return Err(root.too_large(text.len()));
        }
        let old = root.lock.as_ref().map(|lock| &*lock.bytes);
        let changed = line_ends::differs(self.user.world, root, &text);
        // Reported before anything is written: without a commit of the file, nothing is locked for other
        // machines.
        if changed && let Some(line) = ignoring_line(self.user.world, root) {
            result.warn(line.warning());
        }
        let writes = self.options.writes();
        let disk = self.user.world.disk;
        if changed && writes {
            let (path, new) = (&*root.lock_path, text.as_bytes());
            // The bytes that were read are compared again in the same atomic step, so no other writer is overwritten.
            let file = Replacement { path, old, new };
            let replaced = match held {
                Some(held) => disk.replace_held(held, file),
                None => disk
                    .exclusive(path)
                    .and_then(|held| disk.replace_held(&held, file)),
            };
            if replaced.map_err(|error| root.unwritable(error))? == Replaced::Changed {
                return Ok(Replaced::Changed);
            }
        } else if writes {
            // A run that was killed may have left its temporary file beside the lock file.
            disk.sweep(&root.lock_path);
        }
        self.report(opened, locked, (changed, writes), &text, result);
        self.locked.add(root, &opened.goals, locked);
        Ok(Replaced::Done)
    }

    /// Reports what was written, or would be.
    fn report(
        &mut self,
        opened: &OpenRoot,
        locked: &Locked,
        (changed, writes): (bool, bool),
        text: &str,
        result: &mut RootResult,
    ) {
        let root = &opened.root;
        result.changed = Some(changed);
        let ending = match (changed, writes) {
            (false, _) => LockEnding::UpToDate,
            (true, true) => LockEnding::Written,
            (true, false) => LockEnding::WouldWrite,
        };
        if changed {
            self.report_unit(root, result);
        }
        self.uncovered.add(locked);
        remarks::report(
            result,
            locked,
            root,
            &opened.goals,
            ending,
            &mut self.evidence,
        );
        match (self.options.repair, self.compares_all()) {
            (true, _) => remarks::not_compared(result, locked, root, "--repair"),
            (false, true) => remarks::not_compared(result, locked, root, "--dry-run"),
            (false, false) => {}
        }
        result.verdict = Some(ending::verdict(ending, locked, &opened.goals, root, text));
        result.lock_mut().outcome =
            Some(ending::outcome(ending, locked, &opened.goals, root, text));
        if changed {
            line_ends::remark(root, result);
            if let Some(remark) = root.lock.as_ref().and_then(root::dropped) {
                result.remark(remark);
            }
            if self.options.dry_run {
                let comparison = ending::comparison(root, locked, text);
                result.lock_mut().comparison = Some(Box::new(comparison));
            }
            if self.options.check {
                result.status = RootStatus::Findings;
            }
        }
    }
}
