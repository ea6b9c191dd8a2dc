//! The job that verifies roots: each by itself, then all of them together.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use super::args::VerifyArgs;
use super::fix::Fixed;
use super::replaced::ReplacedLocks;
use super::shared_policy::SharedPolicy;
use super::{pins, result, stated};
use crate::addr::ProviderAddr;
use crate::advice;
use crate::advice::required::Required;
use crate::config::Loaded;
use crate::diag::{Diagnostic, FileId, Finding, Span, Texts, counted_as, rules};
use crate::driver::{Job, OpenResult};
use crate::flavor::Flavor;
use crate::git::Repository;
use crate::hash::Scheme;
use crate::package::PlatformsOrigin;
use crate::packages::{NamedPackages, PackageMemo, PackagePlace, PackageSearch, RootCount};
use crate::project::{self, PackageSource, ProjectPlace};
use crate::remote_module::RemoteModules;
use crate::report::shared::range;
use crate::report::{Failure, NotSeen, RootResult};
use crate::requirement::MissingValues;
use crate::run::ignored::ignoring_line;
use crate::run::options::job_count;
use crate::run::platforms::{self, PlatformChoice};
use crate::run::provenance::{Attester, RootAttestations};
use crate::run::root::Root;
use crate::run::session::Session;
use crate::run::{commands, unseen};
use crate::upstream::{CheckError, Registries, RootSources, Upstream};
use crate::verifier::{add_overridden, inputs};
use crate::verify::{
    self, Advice, AskedAttestations, CheckGroup, ComparedRoot, Groups, IgnoredLock, LockedReleases,
    RootInputs, RootVerdict, WantedChecks,
};
use crate::world::{FileKind, clean};
use crate::{platform, workspace};

/// A callback that is shown each root with its configuration, before it is checked.
pub(crate) type ObserveRoot<'r> = &'r mut dyn FnMut(&Root, Option<&Loaded>, &Texts);

/// The options, packages and answers that all roots of a run share.
pub(super) struct VerifyJob<'r, 'a> {
    args: &'r VerifyArgs,
    session: Rc<Session<'a>>,
    groups: Groups,
    platforms: PlatformChoice,
    /// The packages that `--package` names.
    named: NamedPackages,
    /// The directories that `--fs-mirror` and `--package` name.
    named_places: Vec<PackagePlace>,
    memo: PackageMemo<'a>,
    registries: BTreeMap<Flavor, Registries<'a>>,
    /// The `.gitignore` files that ignore lock files, by path: one may do so for many roots.
    ignores: BTreeMap<PathBuf, FileId>,
    /// The directories of installed packages with files that git tracks, by the top of each repository.
    tracked: BTreeMap<PathBuf, BTreeSet<PathBuf>>,
    /// The versions of lock files that their last change replaced.
    replaced: ReplacedLocks<'a>,
    /// The modules that the cache holds, and those that sources name now.
    modules: [&'r dyn RemoteModules; 2],
    /// Asks for attestations, if that is wanted.
    pub(super) attester: Option<Attester<'a>>,
    /// The policy of `--policy`.
    pub(super) shared: Option<Rc<SharedPolicy>>,
    /// The commands that concern all roots.
    for_all: Advice,
    observe: ObserveRoot<'r>,
    /// The packages that are named and belong to none of several roots.
    pub(super) unplaced: Vec<Failure>,
    /// Sentences about all roots: what was compared with nothing, and what only the default list of platforms wants.
    pub(super) notes: Vec<String>,
}

/// A root with its verdict.
pub(super) struct VerifiedRoot {
    /// The root, with its lock file as it is now.
    pub(super) root: Arc<Root>,
    pub(super) advice: Advice,
    /// The repairs, if they were wanted.
    pub(super) fixed: Option<Fixed>,
    pub(super) verdict: RootVerdict,
    /// The values that are not known and that no provider depends on.
    pub(super) missing_values: MissingValues,
    /// The parts of the configuration that were not seen.
    pub(super) not_seen: NotSeen,
    /// The absolute paths of the directories of the local modules that it calls.
    pub(super) called: BTreeSet<PathBuf>,
    /// The reason why it was compared with no configuration, if that was wanted.
    pub(super) unseen: Option<String>,
    /// The checks that could not be made, and what to do about it.
    pub(super) failures: Vec<Failure>,
}

impl Job for VerifyJob<'_, '_> {
    type Opened = VerifiedRoot;
    type Done = ();

    /// Repairs what can be repaired, and verifies the root.
    fn open(
        &mut self,
        root: Root,
        mut loaded: Option<Loaded>,
        texts: &mut Texts,
        _: &mut RootResult,
    ) -> Result<OpenResult<VerifiedRoot>, Failure> {
        if loaded.as_ref().is_some_and(|loaded| !loaded.found) {
            return Err(root.no_configuration().into());
        }
        if let Some(loaded) = &mut loaded {
            add_overridden(&root, loaded, texts);
        }
        self.session.facts.join(&root, self.args.store.as_ref())?;
        (self.observe)(&root, loaded.as_ref(), texts);
        let root = Arc::new(root);
        let name = root.project_name();
        let mut advice = root.advice.among(&self.for_all);
        if let Some(mirror) = self.sole_mirror(&root, loaded.as_ref()) {
            advice = advice.taking_from(&PackageSource::FilesystemMirror(mirror).option());
        }
        let mut fixed = None;
        if let Some(extent) = self.args.fix {
            let inputs = inputs(&root, loaded.as_ref(), &name, &advice);
            let plan = verify::fix::plan(&inputs, &self.groups, extent);
            fixed = Fixed::write(plan, &root, self.session.world.disk, texts)?;
            if fixed.is_none() {
                return Ok(OpenResult::Changed);
            }
        }
        // After repairs the checks see the lock file as it was written.
        let root = fixed.as_ref().and_then(Fixed::root).unwrap_or(&root);
        let mut root_inputs = inputs(root, loaded.as_ref(), &name, &advice);
        let ignored = self.ignored(root, texts);
        root_inputs.ignored = ignored.as_ref();
        let packages = self.tracked_packages(root);
        root_inputs.tracked_packages = packages.as_deref();
        let shared = self.shared.clone();
        root_inputs.shared = shared
            .as_ref()
            .map(|shared| (shared.project(&self.session, texts), &*shared.name));
        let (module_faults, unasked) = self.modules(root, loaded.as_ref());
        root_inputs.module_faults = &module_faults;
        let attested = self.attestations(root, texts)?;
        let (mut verdict, errors) = self.verify(root, &root_inputs, &attested.asked, texts)?;
        verdict.findings.extend(self.fact_conflicts(root));
        let required = Required::of(root, root_inputs.requirements(), texts);
        let mut failures = advice::verify::failures(&errors, root.flavor, &required);
        failures.extend(unasked);
        failures.extend(attested.failures);
        let unseen = loaded
            .as_ref()
            .and_then(|loaded| unseen::why_unseen(root, loaded));
        let dir = self.absolute(&root.dir);
        let called = loaded
            .iter()
            .flat_map(Loaded::local_modules)
            .map(|module| clean(&dir.join(module)))
            .collect();
        let not_seen = loaded.as_ref().map(unseen::not_seen).unwrap_or_default();
        let mut missing_values = loaded
            .map(|loaded| loaded.missing_values)
            .unwrap_or_default();
        // A project file may turn the notes off.
        let mut codes = verdict
            .findings
            .iter()
            .map(|finding| finding.diagnostic.code);
        if !codes.clone().any(|code| code == rules::VARIABLE_NOT_SET) {
            missing_values.variables.clear();
        }
        if !codes.any(|code| code == rules::VALUES_UNREADABLE) {
            missing_values.files.clear();
        }
        Ok(OpenResult::Ready(VerifiedRoot {
            root: Arc::clone(root),
            advice,
            fixed,
            verdict,
            missing_values,
            not_seen,
            called,
            unseen,
            failures,
        }))
    }

    /// Compares all roots with each other, and reports each.
    fn work(&mut self, roots: Vec<(VerifiedRoot, &mut RootResult)>, _: &Texts) -> Vec<()> {
        let (mut roots, results): (Vec<VerifiedRoot>, Vec<_>) = roots.into_iter().unzip();
        let names: Vec<String> = roots
            .iter()
            .map(|verified| verified.root.project_name())
            .collect();
        let shared = self.shared.as_deref().and_then(SharedPolicy::settings);
        let mut compared: Vec<ComparedRoot<'_>> = roots
            .iter_mut()
            .zip(&names)
            .map(|(verified, name)| ComparedRoot {
                root: RootInputs {
                    shared,
                    ..inputs(&verified.root, None, name, &verified.advice)
                },
                verdict: &mut verified.verdict,
                shown: &verified.root.dir,
                dir: self.absolute(&verified.root.dir),
                called: &verified.called,
            })
            .collect();
        if self.groups.wants(CheckGroup::Policy) {
            verify::compare_versions(&mut compared);
            // Only a whole repository uses all entries of its policies.
            if self.args.roots.recursive && self.args.changed.is_off() {
                verify::find_unused_entries(&mut compared);
            }
        }
        if self.groups.wants(CheckGroup::Configuration) {
            verify::find_locks_in_modules(&mut compared);
        }
        if self.args.fix.is_some() {
            let note = stated::state(&mut roots, self.shared.as_deref(), &self.session);
            self.notes.extend(note);
        }
        self.unplaced = unplaced(self.scope(), &roots);
        self.notes.extend(not_compared(&self.groups, &roots));
        self.notes.extend(h1_not_compared(&roots, &self.for_all));
        self.notes.extend(default_gaps(&roots));
        if self.groups.wants(CheckGroup::Policy) {
            self.notes.extend(result::not_remembered(&roots));
        }
        roots
            .into_iter()
            .zip(results)
            .map(|(verified, result)| {
                result::report(result, verified, self.session.options.verbose)
            })
            .collect()
    }
}

impl<'r, 'a> VerifyJob<'r, 'a> {
    pub(super) fn new(
        session: &Rc<Session<'a>>,
        args: &'r VerifyArgs,
        platforms: PlatformChoice,
        named: NamedPackages,
        modules: [&'r dyn RemoteModules; 2],
        observe: ObserveRoot<'r>,
    ) -> Self {
        let (options, world) = (session.options, session.world);
        let fs_mirrors = args
            .fs_mirrors
            .iter()
            .map(|dir| PackagePlace::named_mirror(options.below(dir)));
        Self {
            args,
            session: Rc::clone(session),
            groups: args.groups(),
            platforms,
            named_places: fs_mirrors.chain(named.places.iter().cloned()).collect(),
            named,
            memo: PackageMemo::new(world.disk, job_count(args.jobs)),
            registries: BTreeMap::new(),
            ignores: BTreeMap::new(),
            tracked: BTreeMap::new(),
            replaced: ReplacedLocks::new(world),
            modules,
            attester: None,
            shared: None,
            for_all: commands::of_all(options, &args.roots),
            observe,
            unplaced: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// Returns the mirror that was named, if the root can be locked from it: it has every required provider, and no
    /// entry has a `zh:`. By a `zh:` a registry can prove a package of the mirror, which the mirror itself cannot.
    fn sole_mirror(&self, root: &Root, loaded: Option<&Loaded>) -> Option<PathBuf> {
        let [mirror] = &*self.args.fs_mirrors else {
            return None;
        };
        let mirror = self.session.options.below(mirror);
        let disk = self.session.world.disk;
        let is_there =
            |provider: &ProviderAddr| disk.kind(&mirror.join(provider.to_string())).is_ok();
        let mut entries = root.document().lock.providers.values();
        let mut required = loaded?.requirements.providers.keys();
        (required.all(is_there)
            && !entries.any(|entry| entry.hashes.of(Scheme::Zh).next().is_some()))
        .then(|| mirror.clone())
    }

    fn verify(
        &mut self,
        root: &Root,
        root_inputs: &RootInputs<'_>,
        attested: &AskedAttestations,
        texts: &mut Texts,
    ) -> Result<(RootVerdict, Vec<CheckError>), Failure> {
        let scope = self.scope();
        // Which platforms are locked is known from packages and facts, so both must be looked up first.
        let needs_locked = self.platforms.needs_locked() && root.lock.is_some();
        let needs_installation = needs_locked
            || self.groups.need_installation() && (root.lock.is_some() || self.args.matrix);
        let user = needs_installation.then(|| self.session.of(root.flavor));
        let user = user.as_deref();
        let (mut installation_faults, mut places) = (Vec::new(), Vec::new());
        if let Some(user) = user {
            installation_faults = user.errors_once(texts);
            places = user.package_places(root, &self.named_places, texts);
            if self.args.fs_mirrors.is_empty() {
                places.extend(root.project_mirror());
            }
        }
        let locked = match &root.lock {
            Some(lock) if needs_locked => {
                let facts = self.session.facts.about(root, &lock.document.lock);
                platforms::locked(root, &mut self.memo, &places, &facts)?
            }
            _ => Vec::new(),
        };
        let upstream = match user.filter(|_| self.groups.wants(CheckGroup::Upstream)) {
            None => Upstream::NotAsked,
            // With errors in the CLI configuration the URLs of registries are unknown.
            Some(user) if !user.is_sound() => Upstream::Blocked,
            Some(user) => {
                let registries = self.registries.entry(root.flavor);
                Upstream::Ask(registries.or_insert_with(|| user.registries()))
            }
        };
        let search = PackageSearch {
            places: &places,
            singles: &self.named.singles,
            scope,
            sources: &|provider| {
                user.map_or_else(Vec::new, |user| user.install_sources(root, provider))
            },
            cache_may_break: user.is_some_and(|user| user.cli.cache_may_break),
        };
        let mut sources = RootSources::new(&mut self.memo, search, upstream);
        let verdict = verify::run(
            root_inputs,
            &mut WantedChecks {
                groups: &self.groups,
                platforms: &|providers| {
                    let mut wanted = self.platforms.of_root(root, providers, &locked);
                    if let Some((shared, _)) = root_inputs.shared {
                        shared.require_platforms(&mut wanted);
                    }
                    wanted
                },
                installation_faults: &installation_faults,
                facts: &|lock| self.session.facts.about(root, lock),
                builds: &|lock| self.session.facts.builds(root, lock),
                signers: &|provider| self.session.facts.known_signers(root, provider),
                carried: &|lock| self.replaced.carried(root, lock),
                releases: &|lock| LockedReleases {
                    asked: attested.clone(),
                    ..self.session.facts.releases(root, lock, self.session.world)
                },
                sources: &mut sources,
                matrix: self.args.matrix,
            },
        );
        Ok((verdict, sources.failures))
    }

    /// Asks for attestations of the locked packages; for none if that is not wanted.
    fn attestations(
        &mut self,
        root: &Root,
        texts: &mut Texts,
    ) -> Result<RootAttestations, Failure> {
        let (Some(attester), Some(lock)) = (&mut self.attester, &root.lock) else {
            return Ok(RootAttestations::default());
        };
        let user = self.session.of(root.flavor);
        user.errors_once(texts);
        if !user.is_sound() {
            return Ok(RootAttestations::default());
        }
        let registries = self.registries.entry(root.flavor);
        let registries = registries.or_insert_with(|| user.registries());
        // Each release is asked about once in a run, so the checks repeat no request.
        let (answers, _) = registries.ask(root.subject(lock, None));
        attester.of_root(root, &lock.document.lock, &|provider| {
            let list = answers.get(provider)?.list.as_ref()?;
            Some(list.package.as_ref()?.secret_text().to_owned())
        })
    }

    /// Compares the pins of modules with what is installed and, if wanted, with their sources.
    fn modules(&self, root: &Root, loaded: Option<&Loaded>) -> (Vec<Diagnostic>, Vec<Failure>) {
        let (mut faults, mut failures) = (Vec::new(), Vec::new());
        let [kept, now] = self.modules;
        let Some(loaded) = loaded.filter(|_| root.pins.is_some()) else {
            return (faults, failures);
        };
        if self.groups.wants(CheckGroup::Packages) {
            faults.extend(pins::installed(root, loaded, self.session.world, kept));
        }
        if self.groups.wants(CheckGroup::Upstream) {
            faults.extend(pins::upstream(root, loaded, now, &mut failures));
        }
        (faults, failures)
    }

    /// Reports signed facts about locked releases that contradict each other.
    fn fact_conflicts(&self, root: &Root) -> Vec<Finding> {
        let facts = self.session.facts.get();
        let Some(lock) = &root.lock else {
            return Vec::new();
        };
        let mut findings = Vec::new();
        for (provider, entry) in &lock.document.lock.providers {
            for conflict in facts.conflicts(provider, &entry.version) {
                let header = lock
                    .document
                    .places
                    .get(provider)
                    .map_or_else(Span::default, |places| places.header);
                let title = format!(
                    "facts about {provider} {} contradict each other",
                    entry.version
                );
                let diagnostic = Diagnostic::error(rules::FACTS_CONTRADICT, title)
                    .at(lock.file, header, conflict.to_string())
                    .help(advice::lock::facts_contradict(provider, &entry.version));
                findings.push(Finding::about(provider, diagnostic));
            }
        }
        findings
    }

    fn absolute(&self, dir: &Path) -> PathBuf {
        let current = self.session.world.env.current_dir().unwrap_or_default();
        clean(&current.join(dir))
    }

    /// Finds the line that makes git ignore the lock file, if that is to be checked.
    fn ignored(&mut self, root: &Root, texts: &mut Texts) -> Option<IgnoredLock> {
        if !self.groups.wants(CheckGroup::File) {
            return None;
        }
        let line = ignoring_line(self.session.world, root)?;
        let name = line.path.display().to_string();
        let shown = line.shown();
        let file = self
            .ignores
            .entry(line.path)
            .or_insert_with(|| texts.add(name, line.text));
        Some(IgnoredLock {
            file: *file,
            line: line.span,
            shown,
            scope: line.scope,
        })
    }

    /// Returns the directory of installed packages, if git tracks some of it and that is to be checked.
    fn tracked_packages(&mut self, root: &Root) -> Option<PathBuf> {
        let world = self.session.world;
        let dir = root.providers_dir(world.env);
        if !self.groups.wants(CheckGroup::Packages)
            || world.disk.kind(&dir).ok() != Some(FileKind::Directory)
        {
            return None;
        }
        let current = world.env.current_dir().ok()?;
        let place = ProjectPlace::new(&root.dir, &current);
        let top = project::repository(world.disk, &place)?;
        let tracked = self
            .tracked
            .entry(top.absolute().to_owned())
            .or_insert_with(|| {
                let records = workspace::data_dir(world.env);
                let dirs = Repository::find(world.run, &root.dir)
                    .and_then(|repository| repository.tracked_packages(&records))
                    .unwrap_or_default();
                let absolute = |dir: PathBuf| clean(&current.join(dir));
                dirs.into_iter().map(absolute).collect()
            });
        tracked.contains(&clean(&current.join(&dir))).then_some(dir)
    }

    /// Returns whether a package that is named may belong to one of several roots.
    fn scope(&self) -> RootCount {
        let roots = &self.args.roots;
        if roots.recursive || roots.roots.len() > 1 {
            RootCount::Several
        } else {
            RootCount::One
        }
    }
}

/// Names the lock files that were compared with no configuration, where that was wanted.
fn not_compared(groups: &Groups, verified: &[VerifiedRoot]) -> Option<String> {
    unseen::not_compared(
        verified
            .iter()
            // What is not there is not compared with anything.
            .filter(|root| groups.need_configuration() && root.root.lock.is_some())
            .filter_map(|root| Some((&*root.root.lock_path, root.unseen.as_deref()?))),
    )
}

/// Counts the recorded `h1:` that were compared with nothing although registries were asked; `None` if there are none.
fn h1_not_compared(verified: &[VerifiedRoot], for_all: &Advice) -> Option<String> {
    let count: usize = verified
        .iter()
        .map(|root| root.verdict.h1_not_compared)
        .sum();
    let lock = match verified {
        [only] => &only.advice.lock.for_root,
        _ => &for_all.lock.for_all,
    };
    (count > 0).then(|| {
        format!(
            "{} not compared: a signed list has none, and no known package has them; `{lock} --dry-run --prove \
             --platform all` downloads all packages and compares",
            match count {
                1 => "1 recorded h1: was".to_owned(),
                _ => format!("{count} recorded h1: were"),
            }
        )
    })
}

/// Says how many entries lack hashes that nothing but the default list of platforms wants; `None` if none do.
fn default_gaps(verified: &[VerifiedRoot]) -> Option<String> {
    let (mut entries, mut covered, mut wanted) = (0, Vec::new(), Vec::new());
    for VerifiedRoot { root, verdict, .. } in verified {
        let (Some(lock), Some(platforms)) = (&root.lock, &verdict.platforms) else {
            continue;
        };
        let is_default =
            |provider: &ProviderAddr| platforms.origin_of(provider) == PlatformsOrigin::Default;
        entries += lock
            .document
            .lock
            .providers
            .keys()
            .filter(|provider| is_default(provider))
            .count();
        for finding in &verdict.findings {
            if let Some(provider) = &finding.provider
                && let Some(share) = result::default_gap(finding, Some(platforms))
            {
                covered.push(share.of - share.part);
                wanted = platforms.known(provider);
            }
        }
    }
    let have = if covered.len() == 1 { "has" } else { "have" };
    (!covered.is_empty()).then(|| {
        format!(
            "{} of {} {have} h1: hashes for {} of the {} common platforms ({}), the default list; to \
             make platforms count, state `platforms = […]` in .lockctl.hcl",
            covered.len(),
            counted_as(entries, "entry", "entries"),
            range(&covered),
            wanted.len(),
            platform::join(&wanted, ", ")
        )
    })
}

/// Lists the packages that are named and belong to none of several roots.
fn unplaced(scope: RootCount, verified: &[VerifiedRoot]) -> Vec<Failure> {
    match scope {
        // Of a single root a finding says so.
        RootCount::One => Vec::new(),
        RootCount::Several => {
            let verdicts = verified.iter().map(|root| &root.verdict);
            verify::unplaced_everywhere(verdicts)
                .into_iter()
                .map(advice::verify::unplaced)
                .collect()
        }
    }
}
