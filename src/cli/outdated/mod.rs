//! `lockctl outdated`: what is locked against what is offered.

mod args;
mod result;
mod text;

use std::collections::BTreeSet;
use std::path::PathBuf;

use crate::addr::ProviderAddr;
use crate::authenticate::Rules;
use crate::cli::advice::lock::Required;
use crate::cli::args::{Common, Configuration};
use crate::cli::progress::Progress;
use crate::cli::session::modules::{self, AutoModules, UserModules, UserNetwork};
use crate::cli::session::root::Root;
use crate::cli::session::roots::{self, Reading, Together};
use crate::cli::session::sources::Sources;
use crate::cli::session::unseen::{Names, Unseen};
use crate::cli::{Command, Look, MarkdownText, Stderr, World, session};
use crate::config::{BackendUse, Loaded};
use crate::diag::{Texts, has_errors};
use crate::locker::{self, ComparedVersions, OutdatedRequest};
use crate::parallel;
use crate::project::Policy;
use crate::report::reading::Total;
use crate::report::{Block, CommandResult, Failure, RootResult};
use crate::sources::net::Event;
use crate::world::{Exclusive, Replaced};
pub(in crate::cli) use args::Outdated;
use result::ComparedRoot;

/// The comparison of a command line.
struct OutdatedRun<'a> {
    common: &'a Common,
    args: &'a Outdated,
    world: World<'a>,
    sources: Sources<'a>,
    /// What was said of the flavor of a root: once is enough.
    remarks: BTreeSet<String>,
}

/// A root that is ready to be compared.
struct OpenRoot {
    root: Root,
    loaded: Loaded,
    /// Providers that are run from a directory.
    overridden: Vec<ProviderAddr>,
    /// The place of its source.
    source: usize,
}

impl Command for Outdated {
    fn run(&self, common: &Common, world: World<'_>, stderr: &mut Stderr<'_>) -> CommandResult {
        let progress = Progress::new(common, world.env, stderr);
        let observer = |event: &Event<'_>| progress.observe(event);
        let mut run = OutdatedRun {
            common,
            args: self,
            world,
            sources: Sources::new(common, &self.source, world, &observer),
            remarks: BTreeSet::new(),
        };
        let (configuration, auto) = (&self.configuration, AutoModules::Cached);
        let observer = &observer;
        let cache = modules::cache(common, world);
        let network = UserNetwork { world, observer };
        let modules = UserModules::new(common, configuration, auto, network, cache.as_ref());
        let reading = Reading {
            jobs: parallel::cores(),
            load: &|root, texts| root.load(&modules, configuration, BackendUse::LeftAlone, texts),
        };
        let ran = roots::together(common, &self.roots, world, &reading, &mut run);
        progress.finish();
        ran.into_result("outdated")
    }

    fn configuration(&self) -> Option<&Configuration> {
        Some(&self.configuration)
    }

    fn packages(&self) -> Vec<PathBuf> {
        self.source.fs_mirror.iter().cloned().collect()
    }

    fn text(&self, result: &CommandResult, look: Look) -> Vec<Block> {
        text::of_all(result, look)
    }

    fn total(&self) -> Total {
        Total::Result
    }

    fn markdown(&self) -> MarkdownText {
        MarkdownText::Blocks
    }
}

impl Together for OutdatedRun<'_> {
    type Loaded = Loaded;
    type Opened = OpenRoot;
    type Outcome = Vec<ComparedVersions>;

    fn open(
        &mut self,
        root: Root,
        loaded: Loaded,
        texts: &mut Texts,
        result: &mut RootResult,
    ) -> Result<Option<OpenRoot>, Failure> {
        if let Some(lock) = &root.lock {
            result.faults(&lock.diagnostics);
        }
        let configuration = &self.args.configuration;
        if !loaded.found {
            return Err(root.no_configuration());
        }
        Unseen::new(&loaded, configuration, self.common).faults(result);
        let lock = root.lock.as_ref();
        let is_broken = lock.is_some_and(|lock| has_errors(&lock.diagnostics));
        if is_broken || has_errors(&loaded.diagnostics) {
            return Ok(None);
        }
        let lock = &root.document().lock;
        let overridden = self.sources.overridden(&root, texts);
        let requirements = &loaded.requirements;
        // Of entries that nothing requires the source is asked only if something may require them.
        let unseen = lock
            .providers
            .keys()
            .filter(|_| !requirements.is_complete());
        let mut needed = requirements.providers.keys().chain(unseen);
        let source = if needed.all(|addr| addr.is_builtin(root.flavor) || overridden.contains(addr))
        {
            self.sources.not_needed(root.flavor)
        } else {
            self.sources.source(&root, texts)?
        };
        if let Some(errors) = self.sources.errors(source) {
            result.faults(errors);
            return Ok(None);
        }
        if let Some(remark) = root.flavor_remark()
            && self.remarks.insert(remark.clone())
        {
            result.remark(remark);
        }
        Ok(Some(OpenRoot {
            root,
            loaded,
            overridden,
            source,
        }))
    }

    fn work(&mut self, roots: &[&OpenRoot]) -> Vec<Vec<ComparedVersions>> {
        let sources = self.sources.by_flavor();
        let requests = roots.iter().map(|one| OutdatedRequest {
            source: &sources[one.source],
            requirements: &one.loaded.requirements,
            lock: &one.root.document().lock,
            overridden: &one.overridden,
        });
        let enforced = session::enforcement(self.world.env);
        let rules = |flavor| Rules { flavor, enforced };
        locker::outdated(&rules, &requests.collect::<Vec<_>>())
    }

    fn finish(
        &mut self,
        opened: &OpenRoot,
        outcome: Vec<ComparedVersions>,
        _: Option<&Exclusive>,
        texts: &Texts,
        result: &mut RootResult,
    ) -> Result<Replaced, Failure> {
        result.faults(self.sources.unsaid(opened.source));
        self.sources.said(opened.source);
        let OpenRoot { root, loaded, .. } = opened;
        let compared = ComparedRoot {
            root,
            required: Required {
                requirements: &loaded.requirements,
                project: root.project(),
                texts,
            },
            now: self.world.clock.now(),
            age: root.project().policy.as_ref().and_then(Policy::age),
        };
        compared.report(result, &outcome, self.args.fail_on);
        let unseen = Unseen::new(loaded, &self.args.configuration, self.common);
        let consequence = "and may state more constraints or require more providers";
        if let Some(remark) = unseen.remark(Names::Listed, consequence) {
            result.remark(remark);
        }
        Ok(Replaced::Done)
    }
}
