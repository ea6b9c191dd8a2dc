//! The job that locks roots: what it needs of each, the packages of all, and the lock files written.

use std::path::Path;
use std::rc::Rc;

use super::args::LockOptions;
use super::ending::{self, LockEnding};
use super::moves::{Moves, NamedInRoots};
use super::opened::{LockOutcome, OpenRoot, sound};
use super::pins::MovedPins;
use super::rows::EvidenceRows;
use super::{LockRequest, conversion, dropped, pins, remarks, wanted};
use crate::addr::ProviderAddr;
use crate::advice;
use crate::advice::required::Required;
use crate::config::Loaded;
use crate::diag::Texts;
use crate::driver::{Job, OpenResult};
use crate::locker::{
    self, Contradicted, Conversion, DOWNLOADS, LockError, LockSettings, Locked, RootRequest,
};
use crate::lockfile::LockFile;
use crate::packages::PackageMemo;
use crate::report::json::RootStatus;
use crate::report::{Failure, RootResult};
use crate::resolve::{Goal, Goals};
use crate::run::edits::PlannedEdits;
use crate::run::ignored::ignoring_line;
use crate::run::line_ends;
use crate::run::options::{RootArgs, job_count};
use crate::run::platforms::{self, PlatformChoice};
use crate::run::provenance::Attester;
use crate::run::root::{self, Root};
use crate::run::session::Session;
use crate::run::unseen::{CallNames, UnseenParts};
use crate::run::user::enforcement;
use crate::run::user::sources::{self, Sources};
use crate::store::KeepOnly;
use crate::verify::{look_alike, policy};
use crate::version::Version;
use crate::workspace::UNIT_CACHE;
use crate::world::{Exclusive, FileKind, Replaced, Replacement};
use crate::{lockfile, upstream};

/// The remark on a unit of Terragrunt that gets no lock file.
const STAYS_IN_CACHE: &str =
    "`copy_terraform_lock_file = false` says that this unit has no lock file; none is created";

/// The job that locks roots.
pub(super) struct LockJob<'r, 'a> {
    pub(super) options: &'r LockOptions,
    pub(super) session: Rc<Session<'a>>,
    pub(super) moves: Option<&'r Moves>,
    pub(super) roots: &'r RootArgs,
    converts: bool,
    /// The providers that are named, as far as roots require them.
    pub(super) named: NamedInRoots,
    pub(super) platforms: PlatformChoice,
    pub(super) packages: PackageMemo<'a>,
    pub(super) sources: Sources<'a>,
    settings: LockSettings,
    pub(super) evidence: EvidenceRows,
    moved_pins: MovedPins<'r>,
    edits: Option<&'r PlannedEdits>,
    /// Asks for attestations, if that is wanted.
    pub(super) attester: Option<Attester<'a>>,
}

impl<'r, 'a> LockJob<'r, 'a> {
    pub(super) fn new(session: &Rc<Session<'a>>, request: LockRequest<'r>) -> Self {
        let (options, world) = (request.options, session.world);
        Self {
            options,
            moves: request.moves,
            roots: request.roots,
            converts: request.converts,
            named: NamedInRoots::default(),
            platforms: platforms::typed(&options.platforms.platforms),
            packages: PackageMemo::new(world.disk, job_count(options.jobs)),
            sources: Sources::new(Rc::clone(session), options.source.choice(session.options)),
            settings: LockSettings {
                jobs: job_count(options.jobs),
                // Downloads wait for the network and hashing for a core, so that their usual numbers differ.
                downloads: options.jobs.unwrap_or(DOWNLOADS),
                max_download: options.max_download,
                enforced: enforcement(world.env),
                prove: options.prove,
                contradicted: if options.repair {
                    Contradicted::Replaced
                } else {
                    Contradicted::Alarm
                },
            },
            session: Rc::clone(session),
            evidence: EvidenceRows::default(),
            moved_pins: MovedPins::new(request.pins),
            edits: request.edits,
            attester: None,
        }
    }

    /// Prepares a root for the work; `conversion` is that of its lock file, if it is converted.
    ///
    /// The faults of the lock file and of the configuration are [reported](sound) already.
    ///
    /// # Errors
    /// If the root cannot be locked.
    pub(super) fn open_from(
        &mut self,
        conversion: Option<Conversion>,
        root: Root,
        loaded: Loaded,
        texts: &mut Texts,
        result: &mut RootResult,
    ) -> Result<OpenResult<OpenRoot>, Failure> {
        // Terragrunt would neither read nor keep a lock file beside such a unit.
        let world = self.session.world;
        if root.lock.is_none() && root.unit_lock_use(world.disk, world.env).stays_in_cache {
            result.remark(STAYS_IN_CACHE);
            result.changed = Some(false);
            return Ok(OpenResult::Finished);
        }
        // Goals and needed providers follow from the lock file that the run starts from, not from the one on disk.
        let lock = conversion
            .as_ref()
            .map_or(&root.document().lock, |conversion| &conversion.lock);
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
        if let Some(conversion) = &conversion {
            overridden.extend(conversion.staying.keys().cloned());
        }
        let needs_package =
            |addr: &ProviderAddr| !addr.is_builtin(root.flavor) && !overridden.contains(addr);
        let needs_packages = needed.iter().any(|addr| needs_package(addr));
        if root.lock.is_none() && !needs_packages {
            let unseen =
                UnseenParts::new(&loaded, &self.options.configuration, self.session.options);
            ending::nothing_required(result, &root, &unseen);
            return Ok(OpenResult::Finished);
        }
        // Before any request: a provider that the project file forbids is not even asked about.
        let mut refusable = policy::not_lockable(
            root.project(),
            &root.project_name(),
            needed
                .iter()
                .filter(|addr| needs_package(addr))
                .map(|addr| (*addr, kept_version(addr, &goals, lock))),
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
        if result.forbid(refusable) {
            return Ok(OpenResult::Finished);
        }
        // With `--offline`, recorded hashes and facts alone complete the entries; no source is needed for that.
        let asks = needs_packages && !self.sources.are_closed(&root);
        let Some(source) = self.sources.of_root(&root, asks, texts, result)? else {
            return Ok(OpenResult::Finished);
        };
        self.session.facts.join(&root, None)?;
        let covered = self.covered_platforms(&root, texts)?;
        root::remark_on_flavor(&root, result);
        let platforms = self.platforms.of_root(&root, &needed, &covered);
        // Wanted and dropped platforms are known only here: a project file may name both.
        dropped::check(self.options, &root, &needed, &platforms)?;
        Ok(OpenResult::Ready(OpenRoot {
            pins: pins::planned(root.pins.as_ref(), &loaded),
            platforms,
            demands: upstream::demands(root.project(), root.flavor),
            policy: wanted::policy(self.moves, &root),
            claims: root.project().trust.claims(root.flavor),
            root,
            loaded,
            elsewhere: conversion
                .as_ref()
                .map(Conversion::recorded)
                .unwrap_or_default(),
            conversion,
            goals,
            overridden,
            source,
        }))
    }

    /// Returns the goals of the run for a root, from the lock file that it starts from; `None` if it moves nothing there.
    fn goals(
        &mut self,
        root: &Root,
        loaded: &Loaded,
        lock: &LockFile,
    ) -> Result<Option<Goals>, Failure> {
        let Some(moves) = self.moves else {
            return Ok(Some(Goals::default()));
        };
        let unseen = UnseenParts::new(loaded, &self.options.configuration, self.session.options)
            .remark(CallNames::Listed, "and may require it");
        moves.goals(root, loaded, lock, unseen, &mut self.named)
    }
}

/// Returns the version of a provider, where it is known before any request.
fn kept_version<'l>(
    provider: &ProviderAddr,
    goals: &'l Goals,
    lock: &'l LockFile,
) -> Option<&'l Version> {
    match goals.of(provider)? {
        Goal::Keep => lock.providers.get(provider).map(|entry| &entry.version),
        Goal::Exactly(version) => Some(version),
        Goal::Newest(_) => None,
    }
}

impl Job for LockJob<'_, '_> {
    type Opened = OpenRoot;
    type Done = (OpenRoot, LockOutcome);

    fn open(
        &mut self,
        root: Root,
        loaded: Option<Loaded>,
        texts: &mut Texts,
        result: &mut RootResult,
    ) -> Result<OpenResult<OpenRoot>, Failure> {
        let repaired = if self.converts {
            None
        } else {
            root.repaired_lock(result)
        };
        let root = match repaired {
            Some(lock) => root.with_lock(lock),
            None => root,
        };
        let Some(mut loaded) = sound(&root, loaded, result)? else {
            return Ok(OpenResult::Finished);
        };
        if self.converts {
            return self.open_converted(root, loaded, texts, result);
        }
        if let Some(edited) = self.edits.and_then(|edits| edits.roots.get(&root.dir)) {
            loaded.requirements.edited.clone_from(&edited.before);
            for remark in &edited.remarks {
                result.remark(remark.clone());
            }
        }
        self.moved_pins.see(root.pins.as_ref(), &loaded);
        let pinned = root.pins.clone();
        let pins = pins::planned(root.pins.as_ref(), &loaded);
        let opened = self.open_from(None, root, loaded, texts, result)?;
        if matches!(opened, OpenResult::Finished) && result.status == RootStatus::Clean {
            let written = pins::write(
                pins.as_ref(),
                pinned.as_ref(),
                self.session.world,
                self.options,
                None,
                result,
            )?;
            return Ok(written.into());
        }
        Ok(opened)
    }

    fn obstacles(&self) -> Vec<Failure> {
        let mut obstacles = self.moved_pins.failures();
        let disk = self.session.world.disk;
        let is_directory = |typed: &str| {
            let kind = disk.kind(&self.session.options.below(Path::new(typed)));
            kind.is_ok_and(|kind| kind == FileKind::Directory)
        };
        if let Some(moves) = self.moves {
            obstacles.extend(moves.unknown(&self.named, is_directory));
        }
        obstacles
    }

    fn work(&mut self, roots: Vec<(OpenRoot, &mut RootResult)>, _: &Texts) -> Vec<Self::Done> {
        let sources = self.sources.by_number();
        let requests = roots.iter().map(|(opened, _)| {
            let request = RootRequest {
                source: &sources[opened.source],
                requirements: &opened.loaded.requirements,
                lock: opened.start_lock(),
                elsewhere: &opened.elsewhere,
                goals: &opened.goals,
                policy: opened.policy.as_ref(),
                platforms: &opened.platforms,
                dropped: &self.options.drop_platforms,
                demands: &opened.demands,
                claims: &opened.claims,
                trusted: self.session.facts.trusted(&opened.root),
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
        let (disk, facts) = (self.session.world.disk, self.session.facts.get());
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
        done: Self::Done,
        held: Option<&Exclusive>,
        texts: &Texts,
        result: &mut RootResult,
    ) -> Result<Replaced, Failure> {
        let (opened, outcome) = done;
        let replaced = self.finish_lock(&opened, outcome, held, texts, result)?;
        let is_good = self.options.check || result.status == RootStatus::Clean;
        if replaced == Replaced::Changed || result.status == RootStatus::Failed || !is_good {
            return Ok(replaced);
        }
        pins::write(
            opened.pins.as_ref(),
            opened.root.pins.as_ref(),
            self.session.world,
            self.options,
            held,
            result,
        )
    }
}

impl LockJob<'_, '_> {
    /// Writes and reports the lock file of a root.
    fn finish_lock(
        &mut self,
        opened: &OpenRoot,
        mut outcome: LockOutcome,
        held: Option<&Exclusive>,
        texts: &Texts,
        result: &mut RootResult,
    ) -> Result<Replaced, Failure> {
        result.faults(self.sources.unreported(opened.source));
        let conversion = opened.conversion.as_ref();
        if let Some(conversion) = conversion {
            outcome = outcome.and_then(|locked| conversion::complete(conversion, locked));
        }
        match outcome {
            Ok(locked) => {
                let about_state = opened
                    .loaded
                    .diagnostics
                    .iter()
                    .filter(|diagnostic| remarks::is_about_state(diagnostic));
                // Notes on a state that cannot be read matter only if entries stayed because of it.
                if self.session.options.verbose || !locked.unrequired.is_empty() {
                    result.faults(about_state);
                } else {
                    result.aside(about_state);
                }
                if conversion.is_some() {
                    conversion::report(result, opened, texts, self.session.world.disk);
                    return self.write(opened, &locked, held, result);
                }
                let altered = self.altered(opened, &locked)?;
                if altered.is_empty() {
                    return self.write(opened, &locked, held, result);
                }
                result.refuse(altered);
                Ok(Replaced::Done)
            }
            Err(errors) => {
                let (missing, errors) = match conversion {
                    Some(conversion) => conversion::missing(conversion, errors, &opened.root),
                    None => (Vec::new(), errors),
                };
                self.report_errors(opened, &errors, texts, result);
                for failure in missing {
                    result.fail(failure);
                }
                Ok(Replaced::Done)
            }
        }
    }

    /// Writes the lock file, or reports what would be written.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(super) fn write(
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
            return Err(root.too_large(text.len()).into());
        }
        let old = root.lock.as_ref().map(|lock| &*lock.bytes);
        let changed = line_ends::differs(self.session.world, root, &text);
        // Reported before anything is written: without a commit of the file, nothing is locked for other
        // machines.
        if changed && let Some(line) = ignoring_line(self.session.world, root) {
            result.warn(line.warning());
        }
        let writes = self.options.writes();
        let disk = self.session.world.disk;
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
        let ending = LockEnding::after(changed, self.options);
        self.report(opened, locked, ending, &text, result);
        Ok(Replaced::Done)
    }

    /// Reports what was written, or would be.
    fn report(
        &mut self,
        opened: &OpenRoot,
        locked: &Locked,
        ending: LockEnding,
        text: &str,
        result: &mut RootResult,
    ) {
        let root = &opened.root;
        let changed = ending != LockEnding::UpToDate;
        result.changed = Some(changed);
        let world = self.session.world;
        if changed && root.unit.is_some() && root.unit_lock_use(world.disk, world.env).is_restored {
            result.remark(format!(
                "Terragrunt restores the lock file of its last run in this unit; remove {} to keep this one",
                root.dir.join(UNIT_CACHE).display()
            ));
        }
        remarks::report(
            result,
            locked,
            root,
            &opened.goals,
            ending,
            &mut self.evidence,
        );
        // With `-v` each root names its entries, so the common sentence would repeat them.
        let are_many = self.roots.recursive || self.roots.roots.len() > 1;
        remarks::kept(
            result,
            locked,
            root,
            are_many && !self.session.options.verbose,
        );
        let asked = self.attestations(root, locked, result);
        self.warn_of_steps_down(root, locked, asked, result);
        match (self.options.repair, self.compares_all()) {
            (true, _) => remarks::not_compared(result, locked, root, "--repair"),
            (false, true) => remarks::not_compared(result, locked, root, "--dry-run"),
            (false, false) => {}
        }
        ending::report(result, ending, locked, &opened.goals, root, text);
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

    /// Reports why a root could not be locked.
    fn report_errors(
        &mut self,
        opened: &OpenRoot,
        errors: &[LockError],
        texts: &Texts,
        result: &mut RootResult,
    ) {
        let root = &opened.root;
        let required = Required {
            commands: root.advice.clone(),
            locked: Some(
                opened
                    .start_lock()
                    .providers
                    .iter()
                    .map(|(provider, entry)| (provider.clone(), entry.version.clone()))
                    .collect(),
            ),
            platforms_from: opened.platforms.are_usual.then(|| root.project_name()),
            ..Required::of(root, Some(&opened.loaded.requirements), texts)
        };
        if !errors.is_empty() {
            advice::lock::errors(result, errors, root.flavor, &required);
        }
        self.sources.reported(opened.source);
    }
}
