//! `lockctl report`: all roots as one HTML page.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::iter;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use clap::Args;

use crate::addr::ProviderAddr;
use crate::audit::run::known_advisories;
use crate::config::{Branches, Loaded};
use crate::diag::{Texts, counted, has_errors};
use crate::flavor::Flavor;
use crate::git::Repository;
use crate::inspect::log;
use crate::inspect::show;
use crate::inspect::tree;
use crate::inspect::why;
use crate::outdated::OutdatedArgs;
use crate::report::graph::Graph;
use crate::report::html::{self, ReportPage, ReportedRelease, ReportedRoot};
use crate::report::json::{Provider, RootStatus};
use crate::report::{CLEAN, FAILED};
use crate::report::{CommandResult, Failure, Look, RootResult, TextBlock, Tone};
use crate::run::World;
use crate::run::command::Command;
use crate::run::options::{Configuration, Options, RootArgs, examples};
use crate::run::pages::put;
use crate::run::paths;
use crate::run::provider::naming;
use crate::run::root::Root;
use crate::run::session::Session;
use crate::run::typed_addr::TypedAddr;
use crate::run::unseen::UnseenParts;
use crate::sbom::origin::{LAST_SECOND, stated_time};
use crate::verify::KnownHashes;
use crate::verifying::{self, VerifyArgs};
use crate::version::Version;
use crate::world::{Clock, clean};

/// Write one HTML page about all roots
///
/// It shows which versions are locked where, how far they are from the newest, which constraints hold them back, the
/// findings of `verify`, and the history from git. It needs no network and no script to be read. Ages count from the
/// newest commit, or from `SOURCE_DATE_EPOCH`. See `lockctl explain report`.
#[derive(Clone, Debug, Args)]
#[command(before_help = examples(&[
    ("lockctl report -r --out report.html", "all roots below"),
    ("lockctl report -r --upstream --out report.html", "compared with registries"),
    ("lockctl report -r --out report.html --graph hashicorp/aws", "what requires aws"),
]))]
pub(crate) struct ReportArgs {
    #[command(flatten)]
    roots: RootArgs,
    #[command(flatten)]
    configuration: Configuration,
    /// Write the page to this file, or to standard output if it is `-`
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Also ask registries: shades then show the distance to the newest allowed version
    ///
    /// Compares hashes and keys as `verify --upstream`, and versions as `outdated`. Nothing is downloaded.
    #[arg(long)]
    upstream: bool,
    /// Also draw the modules of a root, or what requires a provider (may be repeated)
    ///
    /// Of a run over one root, its modules are drawn without this option.
    #[arg(long = "graph", value_name = "ROOT|ADDR")]
    graphs: Vec<String>,
    /// The heading of the page
    #[arg(long, value_name = "TEXT", default_value = "Provider versions")]
    title: String,
}

impl Command for ReportArgs {
    fn run(&self, session: &Rc<Session<'_>>) -> CommandResult {
        let date = match date(session, &self.roots) {
            Ok(date) => date,
            Err(failure) => return CommandResult::failed("report", [failure]),
        };
        // What registries answer differs from day to day, and requests wait by the real clock.
        let fixed = date.filter(|_| !self.upstream);
        let clock = fixed.map(|date| CommitClock {
            date,
            clock: session.world.clock,
        });
        match &clock {
            None => self.report(session, date),
            Some(clock) => self.report(&session.at(clock), date),
        }
    }

    fn check(&self, options: &Options) -> Result<(), String> {
        options.check_offline("--upstream", self.upstream)
    }

    fn configuration(&self) -> Option<&Configuration> {
        Some(&self.configuration)
    }

    fn text(&self, result: &CommandResult, look: Look) -> Vec<TextBlock> {
        let roots = result.roots();
        if look.quiet && result.exit == CLEAN {
            return Vec::new();
        }
        // Without a checked root nothing but the failures is worth a line.
        if self.is_printed() || roots.iter().all(|root| root.check().is_none()) {
            return Vec::new();
        }
        let text = format!("{}: {}", self.out.display(), counted(roots.len(), "root"));
        vec![TextBlock::Verdict(Tone::of_exit(result.exit), text)]
    }
}

/// A clock that shows the date of the newest commit, so that a page does not depend on the day of the run.
struct CommitClock<'a> {
    date: SystemTime,
    clock: &'a dyn Clock,
}

impl Clock for CommitClock<'_> {
    fn now(&self) -> SystemTime {
        self.date
    }

    fn sleep(&self, duration: Duration) {
        self.clock.sleep(duration);
    }
}

/// Returns the stated time, else that of the newest commit of the repository around the first root.
fn date(session: &Session<'_>, roots: &RootArgs) -> Result<Option<SystemTime>, Failure> {
    let World { env, run, .. } = session.world;
    if let Some(stated) = stated_time(env)? {
        return Ok(Some(stated));
    }
    let dirs = roots.dirs(session.options);
    let committed = dirs.first().and_then(|dir| {
        let repository = Repository::find(run, dir).ok()?;
        let head = repository.revision("HEAD").ok()?;
        repository.commit_time(&head.id).ok()
    });
    // The author of a commit chooses its time, which may be later than the last year of the formats.
    Ok(committed.map(|seconds| UNIX_EPOCH + Duration::from_secs(seconds.min(LAST_SECOND))))
}

/// The facts about roots that a page shows beside the result of `verify`.
#[derive(Default)]
struct CollectedRoots {
    roots: Vec<ReportedRoot>,
    releases: BTreeMap<(ProviderAddr, Version), ReportedRelease>,
    /// The modules of the roots that are drawn.
    drawn: Vec<(String, Flavor, Branches)>,
    /// A lock file has a fault that makes the programs refuse it.
    is_broken: bool,
}

impl ReportArgs {
    fn report(&self, session: &Rc<Session<'_>>, date: Option<SystemTime>) -> CommandResult {
        let mut collected = CollectedRoots::default();
        let args = VerifyArgs {
            roots: self.roots.clone(),
            configuration: self.configuration.clone(),
            upstream: self.upstream,
            ..VerifyArgs::default()
        };
        let mut checked = verifying::observed(session, &args, &mut |root, loaded, texts| {
            collected.add(self, session, root, loaded, texts);
        });
        // The advisories that `audit` has kept.
        let releases = collected
            .releases
            .keys()
            .map(|(provider, version)| (provider, version));
        let known = known_advisories(session, releases);
        for ((provider, version), release) in &mut collected.releases {
            release.advisories = known.of(provider, version);
        }
        checked.command = "report";
        let is_unseen = |root: &RootResult| root.check().is_none();
        if checked.roots().iter().all(is_unseen) {
            // A page about nothing would only replace one that shows something.
            checked.exit = FAILED;
            return checked;
        }
        let history = log::of_roots(session, checked.roots());
        collected.add_past_keys(session, &history);
        let page = match self.page(session, date, (&checked, &history), &collected) {
            Ok(page) => page,
            Err(failure) => return CommandResult::failed("report", [failure]),
        };
        if self.is_printed() {
            checked.document = Some(page);
        } else {
            let path = session.options.below(&self.out);
            if let Err(error) = put(&path, page.as_bytes(), session.world.disk) {
                let failure = Failure::new(format!("{} cannot be written", path.display()))
                    .because(error.to_string())
                    .help("name a file in a directory that can be written with --out");
                return CommandResult::failed("report", [failure]);
            }
        }
        let has_failed = checked
            .roots()
            .iter()
            .any(|root| root.status == RootStatus::Failed);
        checked.exit = if collected.is_broken || has_failed {
            FAILED
        } else {
            CLEAN
        };
        checked
    }

    fn page(
        &self,
        session: &Rc<Session<'_>>,
        date: Option<SystemTime>,
        (checked, history): (&CommandResult, &CommandResult),
        collected: &CollectedRoots,
    ) -> Result<String, Failure> {
        let name = naming(checked.roots());
        let graphs = self.graphs(session, checked.roots(), collected, &name)?;
        let outdated = OutdatedArgs {
            roots: self.roots.clone(),
            configuration: self.configuration.clone(),
            ..OutdatedArgs::default()
        };
        let compared = self.upstream.then(|| outdated.run(session));
        Ok(html::render(&ReportPage {
            title: &self.title,
            date,
            checked,
            roots: &collected.roots,
            releases: &collected.releases,
            attested: &session.facts.attested(),
            compared: compared.as_ref(),
            history,
            graphs: &graphs,
            name: &name,
            place: &paths::from_the_top(session.world),
        }))
    }

    fn is_printed(&self) -> bool {
        self.out == Path::new("-")
    }

    /// Makes the graphs of the roots that are drawn, and of the providers that are named.
    fn graphs(
        &self,
        session: &Session<'_>,
        results: &[RootResult],
        collected: &CollectedRoots,
        name: &dyn Fn(&ProviderAddr) -> String,
    ) -> Result<Vec<(String, Graph)>, Failure> {
        let (options, drawn) = (session.options, &collected.drawn);
        let place = paths::from_the_top(session.world);
        let results: BTreeMap<&str, &RootResult> =
            results.iter().map(|root| (&*root.path, root)).collect();
        let mut graphs = Vec::new();
        for (path, flavor, branches) in drawn {
            let named = place(results[&**path], path);
            let root = iter::once((named.clone(), *flavor, branches));
            graphs.push((named, tree::text::drawn(root, options.verbose)));
        }
        let flavor = results.values().find_map(|root| root.flavor);
        for typed in &self.graphs {
            if drawn
                .iter()
                .any(|(path, ..)| is_dir(typed, options, Path::new(path)))
            {
                continue;
            }
            let required = || collected.roots.iter().flat_map(|root| &root.required);
            let addr = typed.parse::<TypedAddr>().ok();
            let meant = addr.zip(flavor).and_then(|(addr, flavor)| {
                addr.among(required().map(|row| &row.provider), flavor).ok()
            });
            let rows = collected.roots.iter().flat_map(|root| {
                let result = results[&*root.path];
                root.required
                    .iter()
                    .filter(|row| meant.as_ref() == Some(&row.provider))
                    .map(move |row| (result, row))
            });
            let graph = why::graph::of(rows, name, &place);
            if graph.is_empty() {
                return Err(Failure::new(format!(
                    "{typed} cannot be drawn: it is no root of the run, and no root requires such a provider"
                ))
                .help("`lockctl tree -r` shows roots and what they require"));
            }
            graphs.push((meant.as_ref().map(name).unwrap_or_default(), graph));
        }
        Ok(graphs)
    }
}

/// Returns whether a text that was typed names a directory.
fn is_dir(typed: &str, options: &Options, dir: &Path) -> bool {
    clean(&options.below(Path::new(typed))) == clean(dir)
}

impl CollectedRoots {
    /// Adds what a root locks and requires.
    fn add(
        &mut self,
        args: &ReportArgs,
        session: &Session<'_>,
        root: &Root,
        loaded: Option<&Loaded>,
        texts: &Texts,
    ) {
        let mut reported = ReportedRoot {
            path: root.dir.display().to_string(),
            is_locked: root.lock.is_some(),
            locked: Vec::new(),
            required: Vec::new(),
        };
        if let Some(lock) = &root.lock {
            self.is_broken |= has_errors(&lock.diagnostics);
            let facts = session.facts.about(root, &lock.document.lock);
            reported.locked = show::providers(root, lock, &KnownHashes::new(), &facts);
            let builds = session.facts.builds(root, &lock.document.lock);
            let proven = session
                .facts
                .releases(root, &lock.document.lock, session.world)
                .releases;
            for (provider, entry) in &lock.document.lock.providers {
                let key = (provider.clone(), entry.version.clone());
                let known = self.releases.entry(key).or_default();
                if let Some(fact) = proven.get(provider) {
                    known.keys = fact
                        .signers
                        .iter()
                        .map(|signer| signer.key_id().to_owned())
                        .collect();
                    known.date = fact.dates.latest().map(|date| date.time);
                }
                if let Some(builds) = builds.get(provider) {
                    let versions = builds.platforms_by(|info| Some(info.go_version.clone()));
                    known.builds = versions.into_keys().collect();
                }
            }
        }
        if let Some(loaded) = loaded {
            let is_only =
                args.graphs.is_empty() && !args.roots.recursive && args.roots.roots.len() < 2;
            let mut graphs = args.graphs.iter();
            if is_only || graphs.any(|typed| is_dir(typed, session.options, &root.dir)) {
                let unseen = UnseenParts::new(loaded, &args.configuration, session.options);
                let branches = Branches::of(loaded, texts, unseen.state_wanted);
                self.drawn
                    .push((reported.path.clone(), root.flavor, branches));
            }
            reported.required = loaded
                .requirements
                .providers
                .keys()
                .map(|provider| why::explain(provider, loaded, root, texts))
                .collect();
        }
        self.roots.push(reported);
    }

    /// Adds the keys of releases that were locked before.
    fn add_past_keys(&mut self, session: &Session<'_>, history: &CommandResult) {
        let sides = history
            .roots()
            .iter()
            .flat_map(|root| &root.providers)
            .filter_map(|row| match row {
                Provider::Changed(change) => Some([&change.old, &change.new]),
                _ => None,
            })
            .flatten()
            .flatten();
        for side in sides {
            let release = (side.provider.clone(), side.version.clone());
            if let Entry::Vacant(place) = self.releases.entry(release) {
                let keys = session.facts.signers(&side.provider, &side.version);
                place.insert(ReportedRelease {
                    keys,
                    ..ReportedRelease::default()
                });
            }
        }
    }
}
