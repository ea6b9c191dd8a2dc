//! `lockctl verify`: will this lock file work?

mod args;
mod fix;
mod result;
mod table;
mod text;

use std::collections::BTreeMap;
use std::io::Write;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;

use crate::cli::advice::required::Required;
use crate::cli::args::{Common, Configuration, ModulesArg, job_count};
use crate::cli::formats::Format;
use crate::cli::progress::Progress;
use crate::cli::verify::fix::Fixed;
use crate::cli::{Command, Look, Stderr, World, advice};
use crate::config::{BackendUse, Loaded};
use crate::diag::Texts;
use crate::flavor::Flavor;
use crate::report::reading::Total;
use crate::report::{CommandResult, Failure, RootResult, Sentence, TextBlock};
use crate::requirement::Requirements;
use crate::run::commands;
use crate::run::facts::UserFacts;
use crate::run::options::{ConfigurationOptions, RunOptions};
use crate::run::platforms;
use crate::run::platforms::PlatformChoice;
use crate::run::root::Root;
use crate::run::unseen;
use crate::run::user::config::UserConfigs;
use crate::run::user::modules::{self, AutoModules, UserModules};
use crate::run::{self, Job, OpenResult};
use crate::sources::net::Event;
use crate::verify::packages::{NamedPackages, PackageMemo, PackagePlace, RootCount};
use crate::verify::upstream::Registries;
use crate::verify::{
    self, Advice, CheckGroup, ComparedRoot, ConfigurationInput, Groups, LockInput, PackageChecks,
    RootInputs, RootVerdict, SourceChecks, Upstream, WantedChecks,
};
use crate::world::{Exclusive, Replaced};
pub(in crate::cli) use args::VerifyArgs;

/// The options, packages and answers that all roots of a run share.
struct Verification<'a> {
    args: &'a VerifyArgs,
    options: &'a RunOptions,
    configuration: &'a ConfigurationOptions,
    modules: UserModules<'a>,
    world: World<'a>,
    groups: Groups,
    platforms: PlatformChoice,
    /// The packages that `--package` names.
    named: NamedPackages,
    /// The directories that `--fs-mirror` and `--package` name.
    named_places: Vec<PackagePlace>,
    memo: PackageMemo<'a>,
    facts: UserFacts<'a>,
    user: Arc<UserConfigs<'a>>,
    registries: BTreeMap<Flavor, Registries<'a>>,
    /// The commands that concern all roots.
    for_all: Advice,
    /// The packages that are named and belong to none of several roots.
    unplaced: Vec<Failure>,
    /// The sentence about lock files that were compared with no configuration.
    not_compared: Option<String>,
}

/// A root with its verdict.
struct VerifiedRoot {
    /// The root, with its lock file as it is now.
    root: Arc<Root>,
    advice: Advice,
    /// The repairs, if they were wanted.
    fixed: Option<Fixed>,
    verdict: RootVerdict,
    /// The reason why it was compared with no configuration, if that was wanted.
    unseen: Option<String>,
    /// The checks that could not be made, and what to do about it.
    failures: Vec<Failure>,
}

impl Command for VerifyArgs {
    fn run(&self, common: &Common, world: World<'_>, stderr: &mut Stderr<'_>) -> CommandResult {
        run(common, self, world, stderr)
    }

    fn check(&self, common: &Common) -> Result<(), String> {
        common.check_offline("--upstream", self.groups().wants(CheckGroup::Upstream))
    }

    fn configuration(&self) -> Option<&Configuration> {
        Some(&self.configuration)
    }

    fn packages(&self) -> Vec<PathBuf> {
        [&*self.fs_mirrors, &*self.packages].concat()
    }

    fn text(&self, result: &CommandResult, look: Look) -> Vec<TextBlock> {
        text::of_all(result, look)
    }

    fn total(&self) -> Total {
        Total::ResultWithCounts
    }
}

fn run(
    common: &Common,
    args: &VerifyArgs,
    world: World<'_>,
    stderr: &mut (dyn Write + Send),
) -> CommandResult {
    let (platforms, named) = match checked_options(common, args, world) {
        Ok(options) => options,
        Err(failure) => return CommandResult::failed("verify", [failure]),
    };
    let groups = args.groups();
    let uses_network =
        groups.wants(CheckGroup::Upstream) || args.configuration.modules == ModulesArg::Fetch;
    let progress = uses_network.then(|| Progress::new(common, world.env, stderr));
    let observer = |event: &Event<'_>| {
        if let Some(progress) = &progress {
            progress.observe(event);
        }
    };
    let options = &common.options();
    let configuration = &args.configuration.options();
    let choice = args.roots.choice();
    let fs_mirrors = args
        .fs_mirrors
        .iter()
        .map(|dir| PackagePlace::named_mirror(options.below(dir)));
    let observer = &observer;
    let cache = modules::cache(options, world);
    let user = Arc::new(UserConfigs::new(options, world, observer));
    let auto = AutoModules::Cached;
    let modules = UserModules::new(Arc::clone(&user), configuration, auto, cache.as_ref());
    let mut verification = Verification {
        args,
        options,
        configuration,
        modules,
        world,
        groups,
        platforms,
        named_places: fs_mirrors.chain(named.places.iter().cloned()).collect(),
        named,
        memo: PackageMemo::new(world.disk, job_count(args.jobs)),
        facts: UserFacts::new(options, world),
        user,
        registries: BTreeMap::new(),
        for_all: commands::of_all(options, &choice),
        unplaced: Vec::new(),
        not_compared: None,
    };
    let mut all = run::over_roots(&mut verification, &choice, options, world);
    if let Some(progress) = &progress {
        progress.finish();
    }
    // What belongs to no root is reported once, with the first.
    if let Some(first) = all.results.first_mut() {
        for failure in verification.unplaced {
            first.fail(failure);
        }
    }
    let mut result = all.into_result("verify");
    result.remarks.extend(verification.facts.remarks());
    let remarks = remarks(common, args, &result, verification.not_compared);
    result.remarks.extend(remarks);
    result
}

impl Job for Verification<'_> {
    type Loaded = Option<Loaded>;
    type Opened = VerifiedRoot;
    type Done = VerifiedRoot;

    fn threads(&self) -> NonZeroUsize {
        job_count(self.args.jobs)
    }

    fn load(&self, root: &Root, texts: &mut Texts) -> Option<Loaded> {
        // `--only file` reads no configuration: it works where none can be read.
        let needs_configuration = self.groups.need_configuration() || self.args.matrix;
        needs_configuration.then(|| {
            self.modules
                .load(root, self.configuration, BackendUse::SetUp, texts)
        })
    }

    fn open(
        &mut self,
        root: Root,
        loaded: Option<Loaded>,
        texts: &mut Texts,
        _: &mut RootResult,
    ) -> Result<OpenResult<VerifiedRoot>, Failure> {
        Ok(match self.root(&Arc::new(root), loaded, texts)? {
            Some(verified) => OpenResult::Ready(verified),
            None => OpenResult::Changed,
        })
    }

    fn work(&mut self, mut roots: Vec<VerifiedRoot>) -> Vec<VerifiedRoot> {
        if self.groups.wants(CheckGroup::Policy) {
            compare_versions(&mut roots);
        }
        self.unplaced = unplaced(self.scope(), &roots);
        self.not_compared = not_compared(&self.groups, &roots);
        roots
    }

    fn finish(
        &mut self,
        verified: VerifiedRoot,
        _: Option<&Exclusive>,
        _: &Texts,
        result: &mut RootResult,
    ) -> Result<Replaced, Failure> {
        result::report(result, verified, self.options.verbose);
        Ok(Replaced::Done)
    }
}

/// Checks what was typed against the format, the known platforms and the files of the user.
fn checked_options(
    common: &Common,
    args: &VerifyArgs,
    world: World<'_>,
) -> Result<(PlatformChoice, NamedPackages), Failure> {
    if args.matrix && !matches!(common.format, Format::Human | Format::Json) {
        return Err(advice::verify::matrix_format());
    }
    let platforms = platforms::checkable(&args.platforms.platforms)?;
    Ok((platforms, named_packages(common, args, world)?))
}

/// Returns what is worth knowing about the run as a whole.
fn remarks(
    common: &Common,
    args: &VerifyArgs,
    result: &CommandResult,
    not_compared: Option<String>,
) -> Vec<Sentence> {
    let doubts = platforms::remarks(&args.platforms.platforms);
    // Machine formats name the rule of each finding, and need no advice on how to read more.
    let advice = match common.format {
        Format::Human => text::explained(result.roots()),
        _ => None,
    };
    let doubts = doubts.into_iter().map(Sentence::warning);
    not_compared
        .into_iter()
        .map(Sentence::note)
        .chain(doubts)
        .chain(advice.map(Sentence::note))
        .collect()
}

/// Looks at what `--package` names.
fn named_packages(
    common: &Common,
    args: &VerifyArgs,
    world: World<'_>,
) -> Result<NamedPackages, Failure> {
    let current = world.env.current_dir().unwrap_or_default();
    let mut named = NamedPackages::default();
    for path in &args.packages {
        let path = common.below(path);
        named
            .add(world.disk, &current, &path)
            .map_err(|error| advice::verify::no_package(&error))?;
    }
    Ok(named)
}

/// Names the lock files that were compared with no configuration, where that was wanted.
fn not_compared(groups: &Groups, verified: &[VerifiedRoot]) -> Option<String> {
    let unseen = verified.iter().filter(|root| {
        // What is not there is not compared with anything.
        groups.need_configuration() && root.root.lock.is_some()
    });
    unseen::not_compared(unseen.filter_map(|root| Some((&*root.root, root.unseen.as_deref()?))))
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

/// Compares the locked versions of all roots.
fn compare_versions(verified: &mut [VerifiedRoot]) {
    let names: Vec<String> = verified
        .iter()
        .map(|verified| verified.root.project_name())
        .collect();
    let compared = verified
        .iter_mut()
        .zip(&names)
        .map(|(verified, name)| ComparedRoot {
            root: inputs(&verified.root, None, name, &verified.advice),
            verdict: &mut verified.verdict,
        });
    verify::compare_versions(&mut compared.collect::<Vec<_>>());
}

/// Returns what is verified of a root; `project_file` is the name of its project file.
fn inputs<'a>(
    root: &'a Root,
    configuration: Option<&'a Loaded>,
    project_file: &'a str,
    advice: &'a Advice,
) -> RootInputs<'a> {
    RootInputs {
        flavor: root.flavor,
        choice: root.choice,
        lock_path: &root.lock_path,
        lock: root.lock.as_ref().map(|lock| LockInput {
            file: lock.file,
            bytes: &lock.bytes,
            document: &lock.document,
            diagnostics: &lock.diagnostics,
        }),
        configuration: configuration.map(|loaded| ConfigurationInput {
            requirements: &loaded.requirements,
            core_versions: &loaded.core_versions,
            diagnostics: &loaded.diagnostics,
        }),
        project: root.project(),
        project_file,
        advice,
    }
}

impl Verification<'_> {
    /// Repairs what can be repaired, and verifies the root; `None` if its lock file changed under
    /// that.
    fn root(
        &mut self,
        root: &Arc<Root>,
        loaded: Option<Loaded>,
        texts: &mut Texts,
    ) -> Result<Option<VerifiedRoot>, Failure> {
        if loaded.as_ref().is_some_and(|loaded| !loaded.found) {
            return Err(root.no_configuration());
        }
        let name = root.project_name();
        let advice = root.advice.among(&self.for_all);
        let fixed = match self.args.fix {
            None => None,
            Some(extent) => {
                let inputs = inputs(root, loaded.as_ref(), &name, &advice);
                let plan = verify::fix::plan(&inputs, &self.groups, extent);
                match Fixed::write(plan, root, self.world.disk, texts)? {
                    None => return Ok(None),
                    fixed => fixed,
                }
            }
        };
        let root = fixed.as_ref().and_then(Fixed::root).unwrap_or(root);
        let root_inputs = inputs(root, loaded.as_ref(), &name, &advice);
        let verdict = self.verify(root, &root_inputs, texts)?;
        let unread = Requirements::default();
        let failures = advice::verify::failures(
            &verdict.failures,
            root.flavor,
            &Required {
                project: root.project(),
                requirements: root_inputs.requirements().unwrap_or(&unread),
                texts,
            },
        );
        let unseen = loaded.as_ref();
        let unseen = unseen.and_then(|loaded| unseen::why_unseen(root, loaded));
        Ok(Some(VerifiedRoot {
            root: Arc::clone(root),
            advice,
            fixed,
            verdict,
            unseen,
            failures,
        }))
    }

    fn verify(
        &mut self,
        root: &Root,
        root_inputs: &RootInputs<'_>,
        texts: &mut Texts,
    ) -> Result<RootVerdict, Failure> {
        let scope = self.scope();
        // Which platforms are locked is known from packages and facts, so both must be looked up first.
        let needs_locked = self.platforms.needs_locked() && root.lock.is_some();
        let needs_installation = needs_locked
            || self.groups.need_installation() && (root.lock.is_some() || self.args.matrix);
        let user = needs_installation.then(|| self.user.of(root.flavor));
        let user = user.as_deref();
        let (installation_faults, places) = match user {
            Some(user) => (
                user.errors_once(texts),
                user.package_places(root, &self.named_places, texts),
            ),
            None => (Vec::new(), Vec::new()),
        };
        let locked = if needs_locked {
            let lock = root.lock.as_ref().map(|lock| &lock.document.lock);
            let facts = lock.map(|lock| self.facts.about(root, lock));
            platforms::locked(root, &mut self.memo, &places, &facts.unwrap_or_default())?
        } else {
            Vec::new()
        };
        let upstream = match user {
            Some(user) if self.groups.wants(CheckGroup::Upstream) => {
                if user.is_sound() {
                    let registries = self.registries.entry(root.flavor);
                    Upstream::Ask(registries.or_insert_with(|| user.registries()))
                } else {
                    Upstream::Blocked
                }
            }
            _ => Upstream::NotAsked,
        };
        Ok(verify::run(
            root_inputs,
            &mut WantedChecks {
                groups: &self.groups,
                platforms: &|providers| self.platforms.of_root(root, providers, &locked),
                installation_faults: &installation_faults,
                facts: &|lock| self.facts.about(root, lock),
                sources: SourceChecks {
                    packages: Some(PackageChecks {
                        memo: &mut self.memo,
                        places: &places,
                        singles: &self.named.singles,
                        scope,
                        sources: &|provider| {
                            user.map_or_else(Vec::new, |user| user.install_sources(root, provider))
                        },
                        cache_may_break: user.is_some_and(|user| user.cli.cache_may_break),
                    }),
                    upstream,
                },
                matrix: self.args.matrix,
            },
        ))
    }

    /// Returns whether a package that is named may belong to one of several roots.
    fn scope(&self) -> RootCount {
        let roots = &self.args.roots;
        if roots.recursive || roots.paths().len() > 1 {
            RootCount::Several
        } else {
            RootCount::One
        }
    }
}
