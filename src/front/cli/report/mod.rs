//! `lockctl report`: all roots as one HTML page.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use clap::Args;

use crate::addr::ProviderAddr;
use crate::audit::run::known_advisories;
use crate::cli::log::LogArgs;
use crate::cli::outdated::OutdatedArgs;
use crate::cli::sbom::origin::{LAST_SECOND, stated_time};
use crate::cli::session::paths;
use crate::cli::session::provider::naming;
use crate::cli::verify::VerifyArgs;
use crate::cli::{CLEAN, Command, FAILED, Look, World, show, verify, why};
use crate::diag::{counted, has_errors};
use crate::git::Repository;
use crate::report::html::{self, KnownRelease, ReportPage, ReportedRoot};
use crate::report::json::RootStatus;
use crate::report::{CommandResult, Failure, Sentence, TextBlock, Tone};
use crate::run::options::{Configuration, Options, RootArgs, examples};
use crate::run::session::Session;
use crate::verify::KnownHashes;
use crate::version::Version;
use crate::world::{Clock, Replaced};

/// Maximum length of a page that is replaced, in bytes.
const MAX_PAGE_BYTES: u64 = 1 << 28;

/// Write one HTML page about all roots
///
/// It shows which versions are locked where, how far they are from the newest, which constraints hold them back, the
/// findings of `verify`, and the history from git. It needs no network and no script to be read. Ages count from the
/// newest commit, or from `SOURCE_DATE_EPOCH`. See `lockctl explain report`.
#[derive(Clone, Debug, Args)]
#[command(before_help = examples(&[
    ("lockctl report -r --out report.html", "all roots below"),
    ("lockctl report -r --upstream --out report.html", "compared with registries"),
]))]
pub(in crate::front::cli) struct ReportArgs {
    #[command(flatten)]
    roots: RootArgs,
    #[command(flatten)]
    configuration: Configuration,
    /// Write the page to this file
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Also ask registries: shades then show the distance to the newest allowed version
    ///
    /// Compares hashes and keys as `verify --upstream`, and versions as `outdated`. Nothing is downloaded.
    #[arg(long)]
    upstream: bool,
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

    fn text(&self, result: &CommandResult, _: Look) -> Vec<TextBlock> {
        let roots = result.roots();
        // Without a checked root nothing but the failures is worth a line.
        if roots.iter().all(|root| root.check().is_none()) {
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

impl ReportArgs {
    fn report(&self, session: &Rc<Session<'_>>, date: Option<SystemTime>) -> CommandResult {
        let (mut roots, mut is_broken) = (Vec::new(), false);
        let mut releases = BTreeMap::new();
        let args = VerifyArgs {
            roots: self.roots.clone(),
            configuration: self.configuration.clone(),
            upstream: self.upstream,
            ..VerifyArgs::usual()
        };
        let mut checked = verify::observed(session, &args, &mut |root, loaded, texts| {
            let path = root.dir.display().to_string();
            let mut reported = ReportedRoot {
                path,
                is_locked: root.lock.is_some(),
                locked: Vec::new(),
                required: Vec::new(),
            };
            if let Some(lock) = &root.lock {
                is_broken |= has_errors(&lock.diagnostics);
                let facts = session.facts.about(root, &lock.document.lock);
                reported.locked = show::providers(root, lock, &KnownHashes::new(), &facts);
                let lock = &lock.document.lock;
                add_releases(&mut releases, session, root, lock);
            }
            if let Some(loaded) = loaded {
                let providers = loaded.requirements.providers.keys();
                reported.required = providers
                    .map(|provider| why::explain(provider, loaded, root, texts))
                    .collect();
            }
            roots.push(reported);
        });
        let entries = roots.iter().flat_map(|root: &ReportedRoot| &root.locked);
        let known = known_advisories(
            session,
            entries
                .clone()
                .map(|entry| (&entry.provider, &entry.version)),
        );
        for entry in entries {
            let advisories = known.of(&entry.provider, &entry.version);
            let key = (entry.provider.clone(), entry.version.clone());
            releases
                .entry(key)
                .or_insert_with(KnownRelease::default)
                .advisories = advisories;
        }
        checked.command = "report";
        let compared = self
            .upstream
            .then(|| OutdatedArgs::over(&self.roots, &self.configuration).run(session));
        let history = LogArgs::of(&self.roots).run(session);
        let text = html::render(&ReportPage {
            title: &self.title,
            date,
            checked: &checked,
            roots: &roots,
            releases: &releases,
            compared: compared.as_ref(),
            history: Some(&history),
            name: &naming(checked.roots()),
            place: &paths::from_the_top(session.world),
        });
        let has_failed = checked
            .roots()
            .iter()
            .any(|root| root.status == RootStatus::Failed);
        checked.exit = if is_broken || has_failed {
            FAILED
        } else {
            CLEAN
        };
        let path = session.options.below(&self.out);
        if let Err(error) = write(session.world, &path, text.as_bytes()) {
            let failure = Failure::new(format!("{} cannot be written", path.display()))
                .because(error.to_string())
                .help("name a file in a directory that can be written with --out");
            return CommandResult::failed("report", [failure]);
        }
        checked
            .remarks
            .push(Sentence::note(format!("{} bytes", text.len())));
        checked
    }
}

/// Adds what facts show about the releases of a lock file.
fn add_releases(
    releases: &mut BTreeMap<(ProviderAddr, Version), KnownRelease>,
    session: &Session<'_>,
    root: &crate::run::root::Root,
    lock: &crate::lockfile::LockFile,
) {
    let builds = session.facts.builds(root, lock);
    let facts = session.facts.releases(root, lock, session.world).releases;
    for (provider, entry) in &lock.providers {
        let key = (provider.clone(), entry.version.clone());
        let known = releases.entry(key).or_default();
        if let Some(fact) = facts.get(provider) {
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

/// Writes the page, in place of an older one.
fn write(world: World<'_>, path: &Path, bytes: &[u8]) -> io::Result<()> {
    let old = match world.disk.read(path, MAX_PAGE_BYTES) {
        Ok(old) => Some(old),
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    match world.disk.replace(path, old.as_deref(), bytes)? {
        Replaced::Done => Ok(()),
        Replaced::Changed => Err(io::Error::other("another program is writing it")),
    }
}
