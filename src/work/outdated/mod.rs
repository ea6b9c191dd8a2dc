//! `lockctl outdated`: what is locked against what is offered.

mod result;
pub(crate) mod text;
mod verdict;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use clap::Args;
use result::OutdatedRoot;

use crate::addr::ProviderAddr;
use crate::advice::required::Required;
use crate::audit::run::{KnownAdvisories, known_advisories};
use crate::authenticate::Rules;
use crate::config::Loaded;
use crate::diag::{Texts, has_errors};
use crate::driver::{self, Job, OpenResult, RunInputs};
use crate::locker::{self, ComparedVersions, OutdatedRequest};
use crate::report::json::Provider;
use crate::report::reading::Total;
use crate::report::{CommandResult, Failure, Look, ResultSubject, RootResult, Sentence, TextBlock};
use crate::run::command::Command;
use crate::run::commands;
use crate::run::options::{Configuration, RootArgs, SourceArgs, examples, is_path, one_of};
use crate::run::provider::naming;
use crate::run::root::{self, Root};
use crate::run::session::Session;
use crate::run::typed_addr::NamedForRun;
use crate::run::unseen::{CallNames, UnseenParts};
use crate::run::user::enforcement;
use crate::run::user::modules::{AutoModules, UserModules};
use crate::run::user::sources::{self, Sources};
use crate::verify::{Advice, expiry};
use crate::version::Upgrade;

/// The comparison of a command line.
struct OutdatedRun<'s, 'a> {
    session: &'s Session<'a>,
    args: &'s OutdatedArgs,
    sources: Sources<'a>,
    /// The providers that are compared; all of them if none is named.
    named: NamedForRun,
    /// The commands for all roots.
    commands: Advice,
    /// The keys behind locked releases that expire, each with the number of its roots.
    expiring_keys: BTreeMap<String, usize>,
}

/// A root that is ready to be compared.
struct ComparableRoot {
    root: Root,
    loaded: Loaded,
    /// Providers that are run from a directory.
    overridden: Vec<ProviderAddr>,
    /// The providers that are compared; all of them if none is named.
    named: BTreeSet<ProviderAddr>,
    /// The place of its source.
    source: usize,
}

/// Compare locked versions with the newest ones
///
/// For each provider it shows the locked version, the newest that the constraints allow, the newest
/// release, and which constraints exclude that. Nothing is downloaded or written. A ROOT that is no directory
/// is a provider, as in hashicorp/aws or aws: only named ones are compared.
#[derive(Clone, Debug, Default, Args)]
#[command(before_help = examples(&[
    ("lockctl outdated", "what can be updated, what is held back"),
    ("lockctl outdated -r --fail-on major", "all roots; fail if a major step is due"),
    ("lockctl outdated hashicorp/aws", "compare one provider"),
    ("lockctl outdated --format markdown", "a table for a pull request"),
]))]
pub(crate) struct OutdatedArgs {
    #[command(flatten)]
    pub(crate) roots: RootArgs,
    #[command(flatten)]
    pub(crate) configuration: Configuration,
    #[command(flatten)]
    pub(crate) source: SourceArgs,
    /// Exit with code 1 if a provider is behind the newest release by this step or a larger one
    ///
    /// It makes no difference whether constraints allow the newest release; to check only what `update`
    /// would move, use `lockctl update --check`.
    #[arg(
        long,
        value_name = "STEP",
        value_parser = one_of([
            // From a pre-release to its release is a step as well.
            ("patch", Upgrade::Prerelease),
            ("minor", Upgrade::Minor),
            ("major", Upgrade::Major),
        ])
    )]
    pub(crate) fail_on: Option<Upgrade>,
}

impl Command for OutdatedArgs {
    fn run(&self, session: &Rc<Session<'_>>) -> CommandResult {
        // Nothing is downloaded by `outdated`, modules included; it only asks for versions.
        let modules = UserModules::new(session, &self.configuration, AutoModules::Cached);
        // An argument that is no directory, and can be an address, is a provider.
        let provider = |path: &Path| {
            let text = path.to_str().filter(|text| !is_path(text))?;
            let is_there = session
                .world
                .disk
                .kind(&session.options.below(path))
                .is_ok();
            // The name of a directory may be a valid address, too; the directory wins.
            text.parse().ok().filter(|_| !is_there)
        };
        let mut roots = self.roots.clone();
        let named = roots
            .roots
            .iter()
            .filter_map(|path| provider(path))
            .collect();
        roots.roots.retain(|path| provider(path).is_none());
        let mut job = OutdatedRun {
            session,
            args: self,
            sources: Sources::new(Rc::clone(session), self.source.choice(session.options)),
            named: NamedForRun::new(named),
            commands: commands::of_all(session.options, &roots),
            expiring_keys: BTreeMap::new(),
        };
        let inputs = RunInputs {
            reading: Some(modules.reading()),
            ..RunInputs::of_locks(session, &roots)
        };
        let all = driver::over_roots(&mut job, inputs);
        let mut result = all.into_result("outdated");
        for (key, roots) in job.expiring_keys {
            let text = expiry::of_roots(&key, roots);
            result.remarks.push(Sentence::note(text));
        }
        let advisories = mark_known_advisories(session, &mut result);
        let warnings = advisories.warnings(naming(result.roots()));
        result.remarks.extend(warnings);
        result
            .remarks
            .extend(verdict::next_step(result.roots(), &job.commands));
        result
    }

    fn configuration(&self) -> Option<&Configuration> {
        Some(&self.configuration)
    }

    fn source(&self) -> Option<&SourceArgs> {
        Some(&self.source)
    }

    fn packages(&self) -> Vec<PathBuf> {
        self.source.fs_mirror.iter().cloned().collect()
    }

    fn text(&self, result: &CommandResult, look: Look) -> Vec<TextBlock> {
        text::of_all(result, look)
    }

    fn total(&self) -> Total {
        Total::Result
    }
}

/// Adds to each row the advisories about its locked version that the cache has, and returns all of them.
fn mark_known_advisories(session: &Session<'_>, result: &mut CommandResult) -> KnownAdvisories {
    let ResultSubject::Roots(roots) = &mut result.subject else {
        return KnownAdvisories::default();
    };
    let known = {
        let locked = roots
            .iter()
            .flat_map(|root| &root.providers)
            .filter_map(|row| match row {
                Provider::Compared(row) => Some((&row.provider, row.locked.as_ref()?)),
                _ => None,
            });
        known_advisories(session, locked)
    };
    for row in roots.iter_mut().flat_map(|root| &mut root.providers) {
        if let Provider::Compared(row) = row
            && let Some(locked) = &row.locked
        {
            row.advisories = known.of(&row.provider, locked);
        }
    }
    known
}

impl Job for OutdatedRun<'_, '_> {
    type Opened = ComparableRoot;
    type Done = ();

    fn open(
        &mut self,
        root: Root,
        loaded: Option<Loaded>,
        texts: &mut Texts,
        result: &mut RootResult,
    ) -> Result<OpenResult<ComparableRoot>, Failure> {
        if let Some(lock) = &root.lock {
            result.faults(&lock.diagnostics);
        }
        let Some(loaded) = loaded.filter(|loaded| loaded.found) else {
            return Err(root.no_configuration().into());
        };
        UnseenParts::new(&loaded, &self.args.configuration, self.session.options).faults(result);
        let lock = root.lock.as_ref();
        let is_broken = lock.is_some_and(|lock| has_errors(&lock.diagnostics));
        if is_broken || has_errors(&loaded.diagnostics) {
            return Ok(OpenResult::Finished);
        }
        let entries = &root.document().lock.providers;
        let known = loaded.requirements.providers.keys().chain(entries.keys());
        let named = self.named.of_root(known, root.flavor)?;
        if named.is_empty() && !self.named.is_empty() {
            let path = root.dir.display();
            result.verdict = Some(Sentence::good(format!(
                "{path}: requires no provider that is named"
            )));
            return Ok(OpenResult::Finished);
        }
        let overridden = self.sources.overridden(&root, texts);
        let needs_packages = sources::needed(&loaded.requirements, &root.document().lock)
            .into_iter()
            .filter(|addr| named.is_empty() || named.contains(*addr))
            .any(|addr| !addr.is_builtin(root.flavor) && !overridden.contains(addr));
        let Some(source) = self.sources.of_root(&root, needs_packages, texts, result)? else {
            return Ok(OpenResult::Finished);
        };
        root::remark_on_flavor(&root, result);
        Ok(OpenResult::Ready(ComparableRoot {
            root,
            loaded,
            overridden,
            named,
            source,
        }))
    }

    fn obstacles(&self) -> Vec<Failure> {
        self.named
            .unmatched()
            .map(|typed| {
                Failure::new(format!("{typed} cannot be compared: nothing requires it"))
                    .because("there is no directory of that name either")
                    .help(format!(
                        "`lockctl tree{}` shows what is required",
                        self.commands.read_roots
                    ))
            })
            .collect()
    }

    fn work(&mut self, roots: Vec<(ComparableRoot, &mut RootResult)>, texts: &Texts) -> Vec<()> {
        let sources = self.sources.by_number();
        let requests: Vec<OutdatedRequest<'_>> = roots
            .iter()
            .map(|(opened, _)| OutdatedRequest {
                source: &sources[opened.source],
                requirements: &opened.loaded.requirements,
                lock: &opened.root.document().lock,
                overridden: &opened.overridden,
                named: &opened.named,
                policy: opened.root.project().policy.as_ref(),
            })
            .collect();
        // Which signatures count decides which dates of releases count.
        let enforced = enforcement(self.session.world.env);
        let rules = |flavor| Rules { flavor, enforced };
        let compared = locker::outdated(&rules, &requests);
        drop(requests);
        roots
            .into_iter()
            .zip(compared)
            .map(|((opened, result), compared)| self.report(&opened, &compared, texts, result))
            .collect()
    }
}

impl OutdatedRun<'_, '_> {
    fn report(
        &mut self,
        opened: &ComparableRoot,
        outcome: &[ComparedVersions],
        texts: &Texts,
        result: &mut RootResult,
    ) {
        result.faults(self.sources.unreported(opened.source));
        self.sources.reported(opened.source);
        let ComparableRoot { root, loaded, .. } = opened;
        let (session, lock) = (self.session, &root.document().lock);
        let releases = session.facts.releases(root, lock, session.world);
        for (provider, keys) in releases.key_ends() {
            let name = provider.short(root.flavor);
            let release = format!("{name} {}", lock.providers[provider].version);
            for key in expiry::sentences(&release, keys, releases.now) {
                *self.expiring_keys.entry(key).or_default() += 1;
            }
        }
        let compared = OutdatedRoot {
            root,
            required: Required::of(root, Some(&loaded.requirements), texts),
            now: self.session.world.clock.now(),
        };
        compared.report(result, outcome, self.args.fail_on);
        let unseen = UnseenParts::new(loaded, &self.args.configuration, self.session.options);
        let consequence = "and may state more constraints or require more providers";
        if let Some(remark) = unseen.remark(CallNames::Listed, consequence) {
            result.detail(remark);
        }
    }
}
