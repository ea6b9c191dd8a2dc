//! `lockctl diff`: what changed between lock files, and whether it is alarming.

mod configuration;
mod memory;
mod owners;
mod revisions;
pub(crate) mod text;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use clap::Args;
use configuration::Configured;

use crate::addr::ProviderAddr;
use crate::audit::run::known_advisories;
use crate::changes::{self, ReleaseReader};
use crate::diag::Texts;
use crate::locker::TrustedFacts;
use crate::report::json::RootStatus;
use crate::report::{
    self, CommandResult, Failure, FileResult, Look, ResultSubject, Sentence, TextBlock,
};
use crate::review::{
    FileComparison, FileReview, LockSide, ProviderSide, ReleaseOrigin, Risk, verdict,
};
use crate::run::command::Command;
use crate::run::commands;
use crate::run::options::{Options, examples, one_of};
use crate::run::root;
use crate::run::session::Session;
use crate::sources::release_changes::ReleaseChanges;
use crate::workspace::{self, flavor_of};
use crate::world::{FileKind, Files};
use crate::{lockfile, pins};

/// Explain what changed in lock files, and whether it is alarming
#[derive(Clone, Debug, Args)]
#[command(before_help = examples(&[
    ("lockctl diff", "since the last commit"),
    ("lockctl diff main...HEAD", "what this branch changed"),
    ("lockctl diff main...HEAD --format markdown", "the same, for a pull request"),
    ("lockctl diff old.hcl new.hcl --fail-on danger", "two files; fail on danger"),
]))]
pub(crate) struct DiffArgs {
    /// The lock file before, its directory, or a git revision: REV, A..B or A...B [default: HEAD]
    #[arg(value_name = "OLD")]
    pub(crate) old: Option<PathBuf>,
    /// The lock file now, its directory, or a git revision [default: the working tree]
    #[arg(value_name = "NEW", conflicts_with = "staged")]
    pub(crate) new: Option<PathBuf>,
    /// Compare with the index: what the next commit contains
    #[arg(long, alias = "cached")]
    pub(crate) staged: bool,
    /// Exit with code 1 if a change has this risk or a higher one
    #[arg(
        long,
        value_name = "RISK",
        value_parser = one_of([("warning", Risk::Warning), ("danger", Risk::Danger)])
    )]
    fail_on: Option<Risk>,
    /// Also show what each version that moved brings; see `lockctl changes`
    #[arg(long)]
    changes: bool,
}

impl Command for DiffArgs {
    fn run(&self, session: &Rc<Session<'_>>) -> CommandResult {
        let (options, world) = (session.options, session.world);
        let mut texts = Texts::default();
        let paths = paths(options, self, world.disk);
        let are_named = paths.is_none();
        let compared = match paths {
            Some((old, new)) if revisions::are_revisions(options, self, world) => {
                Err(Failure::new(format!(
                    "{} and {} are paths as well as revisions",
                    old.display(),
                    new.display()
                ))
                .help("write `./` before the paths, or the revisions as one range `A..B`"))
            }
            Some((old, new)) => {
                two_files(session, [&old, &new], &mut texts).map(|file| (vec![file], Vec::new()))
            }
            None => revisions::compare(session, self, &mut texts),
        };
        match compared {
            Ok((mut all, warnings)) => {
                let facts = &session.facts;
                owners::add(&mut all, facts);
                for file in &mut all {
                    // As for the owners of hashes: the two states may have different project files, so only facts
                    // that this machine computed are used.
                    file.comparison.review.add_builds(|side| {
                        let lock = &side.lock;
                        let (version, hashes) = (&lock.version, &lock.hashes);
                        facts.builds_of(TrustedFacts::OWN, &side.addr, version, hashes)
                    });
                }
                let origin = |side: &ProviderSide| {
                    let (version, hashes) = (&side.lock.version, &side.lock.hashes);
                    let release = TrustedFacts::OWN.release(facts.get(), &side.addr, version);
                    let signers = release.as_ref().map(|stored| &stored.release.signers);
                    let builds = facts.builds_of(TrustedFacts::OWN, &side.addr, version, hashes);
                    let attested = release.as_ref().map(|stored| &stored.release.attested);
                    ReleaseOrigin::new(&side.lock, signers, Some(&builds), attested)
                };
                let known = |provider: &ProviderAddr| facts.signers_by(TrustedFacts::OWN, provider);
                for file in &mut all {
                    file.comparison.add_trust(origin, known);
                }
                let advisories = advisories(&mut all, session);
                let (releases, unread) = self.releases(&all, session);
                let mut result = result(self, all, are_named, texts);
                result.remarks.extend(unread);
                if let ResultSubject::Files(files) = &mut result.subject {
                    files.releases = releases;
                }
                result.remarks.extend(facts.remarks());
                result.remarks.extend(warnings);
                result.remarks.extend(advisories);
                result
            }
            Err(failure) => CommandResult::failed("diff", [failure]),
        }
    }

    fn text(&self, result: &CommandResult, look: Look) -> Vec<TextBlock> {
        text::blocks(result, look)
    }
}

impl DiffArgs {
    /// Compares the releases that were locked before and are now, if that was asked for; each pair once.
    fn releases(
        &self,
        files: &[FileResult],
        session: &Session<'_>,
    ) -> (Option<Vec<ReleaseChanges>>, Vec<Sentence>) {
        if !self.changes {
            return (None, Vec::new());
        }
        let (mut releases, mut unread) = (Vec::new(), Vec::new());
        let reader = match ReleaseReader::new(session) {
            Ok(reader) => reader,
            Err(failure) => return (Some(releases), vec![changes::sentence(&failure)]),
        };
        let mut pairs = BTreeSet::new();
        for explained in files
            .iter()
            .flat_map(|file| &file.comparison.review.providers)
        {
            if let (Some(old), Some(new)) = (explained.change.before(), explained.change.now())
                && old.addr == new.addr
                && old.lock.version != new.lock.version
            {
                pairs.insert((&new.addr, &old.lock.version, &new.lock.version));
            }
        }
        for (provider, old, new) in pairs {
            match reader.changes(provider, old, Some(new)) {
                Ok(changes) => releases.extend(changes),
                Err(failure) => unread.push(changes::sentence(&failure)),
            }
        }
        (Some(releases), unread)
    }
}

/// Returns how the providers of results are named.
fn naming(files: &[FileResult]) -> impl Fn(&ProviderAddr) -> String + use<> {
    let compared: Vec<&FileComparison> = files.iter().map(|file| &file.comparison).collect();
    text::naming(&compared)
}

/// Adds to each change the advisories about its new version that the cache has, and returns them as warnings.
fn advisories(files: &mut [FileResult], session: &Session<'_>) -> Vec<Sentence> {
    let name = naming(files);
    let known = {
        let changes = files
            .iter()
            .flat_map(|file| &file.comparison.review.providers);
        let locked = changes
            .filter_map(|explained| explained.change.now())
            .map(|side| (&side.addr, &side.lock.version));
        known_advisories(session, locked)
    };
    for file in files {
        for explained in &mut file.comparison.review.providers {
            if let Some(side) = explained.change.now() {
                explained.advisories = known.of(&side.addr, &side.lock.version);
            }
        }
    }
    known.warnings(name)
}

/// Returns the two paths that were typed, if there is something at both.
fn paths(options: &Options, args: &DiffArgs, files: &dyn Files) -> Option<(PathBuf, PathBuf)> {
    let existing = |path: &Option<PathBuf>| {
        let path = options.below(path.as_ref()?);
        files.kind(&path).is_ok().then_some(path)
    };
    Some((existing(&args.old)?, existing(&args.new)?))
}

/// Compares the files of two paths.
fn two_files(
    session: &Session<'_>,
    paths: [&Path; 2],
    texts: &mut Texts,
) -> Result<FileResult, Failure> {
    let files: &dyn Files = session.world.disk;
    if paths.iter().any(|path| path.ends_with(pins::FILE_NAME)) {
        let side = |path: &Path| {
            let bytes = workspace::read_lock(files, path)?.unwrap_or_default();
            pins::read(&bytes).ok_or_else(|| {
                Failure::new(format!(
                    "{} is no sound file of pinned modules",
                    path.display()
                ))
            })
        };
        let path = paths[1].display().to_string();
        let comparison = FileComparison::of_pins(path, &side(paths[0])?, &side(paths[1])?);
        return Ok(file_result(comparison, Vec::new()));
    }
    let [old, new] = paths.map(|path| match files.kind(path) {
        Ok(FileKind::Directory) => root::shown(path).join(lockfile::FILE_NAME),
        _ => path.to_owned(),
    });
    let before = side(session, &old, texts)?;
    let now = side(session, &new, texts)?;
    if before.is_none() && now.is_none() {
        return Err(Failure::new("there is no lock file on either side")
            .help("name two lock files, or the directories that hold them"));
    }
    let path = if now.is_some() { &new } else { &old };
    let comparison = FileComparison::of(path.display().to_string(), before, now);
    let dirs = [old.parent(), new.parent()].map(|dir| dir.map(Configured::Disk));
    let comparison = configuration::explain(comparison, dirs, session, texts);
    Ok(file_result(comparison, Vec::new()))
}

/// Makes the result of a file, whose status [`result`] decides.
fn file_result(comparison: FileComparison, failures: Vec<Failure>) -> FileResult {
    FileResult {
        comparison,
        status: RootStatus::Clean,
        failures,
    }
}

/// Reads one side; `None` is a file that is not there, and so is the null device, as in git.
fn side(
    session: &Session<'_>,
    path: &Path,
    texts: &mut Texts,
) -> Result<Option<LockSide>, Failure> {
    // git passes the null device for a file that does not exist.
    if path == Path::new("/dev/null") {
        return Ok(None);
    }
    let dir = path.parent().unwrap_or(Path::new("."));
    let bytes = workspace::read_lock(session.world.disk, path)?;
    let shown = path.display().to_string();
    Ok(bytes.map(|bytes| read_side(session, dir, shown, bytes, texts)))
}

/// Reads the lock file of a directory, which has this name in messages.
fn read_side(
    session: &Session<'_>,
    dir: &Path,
    shown: String,
    bytes: Vec<u8>,
    texts: &mut Texts,
) -> LockSide {
    let (options, disk) = (session.options, session.world.disk);
    let flavor = flavor_of(options.flavor, disk, dir, Some(&bytes));
    let file = texts.add(shown, bytes.clone());
    let mut side = LockSide::read(file, bytes, flavor);
    commands::of_root(options, dir).add_to(&mut side.diagnostics, &side.bytes);
    side
}

/// Makes the result of all comparisons; files are named unless two were.
fn result(
    args: &DiffArgs,
    mut files: Vec<FileResult>,
    are_named: bool,
    texts: Texts,
) -> CommandResult {
    for file in &mut files {
        file.status = status(file, args.fail_on);
    }
    let reviews: Vec<(&str, &FileReview)> = files
        .iter()
        .map(|file| (&*file.comparison.path, &file.comparison.review))
        .collect();
    let verdict = verdict(&reviews, naming(&files));
    let worst = files.iter().map(|file| file.status).max();
    let subject = ResultSubject::Files(report::ComparedFiles {
        files,
        are_named,
        verdict,
        releases: None,
    });
    CommandResult {
        exit: worst.unwrap_or(RootStatus::Clean).exit_code(),
        texts,
        ..CommandResult::of("diff", subject)
    }
}

/// Returns whether a file could be compared, and is no worse than is allowed.
fn status(file: &FileResult, fail_on: Option<Risk>) -> RootStatus {
    // What could not be compared may hide a danger, so it fails also where `--fail-on` allows a danger.
    if file.comparison.is_incomplete() || !file.failures.is_empty() {
        return RootStatus::Failed;
    }
    match fail_on {
        Some(limit) if file.comparison.review.risk() >= limit => RootStatus::Findings,
        _ => RootStatus::Clean,
    }
}
