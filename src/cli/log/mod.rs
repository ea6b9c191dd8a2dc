//! `lockctl log`: the history of providers in a lock file.

mod args;
mod text;

use std::collections::BTreeMap;
use std::path::Path;

use crate::cli::args::Common;
use crate::cli::session::root::Root;
use crate::cli::session::roots;
use crate::cli::{Command, Look, Stderr, World, advice};
use crate::diag::{Texts, has_errors};
use crate::git::{
    self, Commit, CommittedChange, Content, FileCommit, GitError, ObjectId, Repository, TreeEntry,
};
use crate::lockfile::{self, LockFile};
use crate::report::json::{PastChange, Provider, Side};
use crate::report::{Block, CommandResult, Failure, RootResult};
use crate::review::{self, HistoryChange, HistoryFilter, HistoryStep, ProviderSide};
use crate::world::{FileKind, Replaced};
pub(in crate::cli) use args::Log;

/// How many versions of a lock file are held as text at once.
const BATCH: usize = 256;

/// What is said of a clone that has the newest commits only.
const SHALLOW: &str = "the clone is shallow: its oldest commit seems to add all that it has \
     (`git fetch --unshallow` brings the others)";

/// Every version of the lock file that could be read.
type Versions = BTreeMap<ObjectId, LockFile>;

impl Command for Log {
    fn run(&self, common: &Common, world: World<'_>, _: &mut Stderr<'_>) -> CommandResult {
        run(common, self, world)
    }

    fn root_text(&self, root: &RootResult, look: Look) -> Vec<Block> {
        text::of_root(root, look)
    }
}

fn run(common: &Common, args: &Log, world: World<'_>) -> CommandResult {
    let (provider, roots) = args.provider_and_roots();
    let all = roots::each(common, &roots, world, |root, texts, result| {
        let filter = filter(provider, root)?;
        let failure = |error: GitError| advice::git::failure(&error);
        let repository = Repository::find(world.run, &root.dir).map_err(failure)?;
        let head = repository.revision("HEAD").map_err(failure)?;
        let commits = repository.history(&head).map_err(failure)?;
        let commits = git::follow(&commits, repository.prefix().join(lockfile::FILE_NAME));
        let versions = Reading {
            root,
            texts,
            result,
        }
        .all(&repository, &commits);
        let versions = versions.map_err(failure)?;
        let steps: Vec<_> = commits.iter().filter_map(step).collect();
        let (commits, steps): (Vec<&FileCommit<'_>>, Vec<_>) = steps.into_iter().unzip();
        let changes = review::history(&steps, &versions, &filter);
        let changes = changes.into_iter().map(|found| {
            let FileCommit { commit, change } = commits[found.step];
            Provider::Changed(Box::new(row(commit, change.change.path(), &found)))
        });
        result.providers = changes.collect();
        if repository.is_shallow() {
            result.remark(SHALLOW);
        }
        if let (true, Some(typed)) = (result.providers.is_empty(), provider) {
            let path = common.below(Path::new(typed));
            if world.disk.kind(&path).is_ok() {
                result.remark(format!(
                    "{typed} counts as a provider; write ./{typed} for the directory"
                ));
            }
        }
        Ok(Replaced::Done)
    });
    all.into_result("log")
}

/// Reads which providers were asked for.
fn filter(typed: Option<&str>, root: &Root) -> Result<HistoryFilter, Failure> {
    let Some(typed) = typed else {
        return Ok(HistoryFilter::All);
    };
    HistoryFilter::parse(typed, root.flavor).map_err(|error| {
        Failure::from_error(&error).help("write NAMESPACE/TYPE or HOST/NAMESPACE/TYPE")
    })
}

/// Takes the versions out of what a commit did; nothing if git does not name what it left.
fn step<'c>(commit: &'c FileCommit<'c>) -> Option<(&'c FileCommit<'c>, HistoryStep<ObjectId>)> {
    let CommittedChange { change, others } = commit.change;
    let blob = |entry: &Option<TreeEntry>| entry.as_ref()?.blob.clone();
    let new = blob(&change.new);
    let is_named = new.is_some() || change.new.is_none();
    let step = HistoryStep {
        old: blob(&change.old),
        new,
        others: others.clone(),
    };
    is_named.then_some((commit, step))
}

/// Makes the row of a change.
fn row(commit: &Commit, path: &Path, found: &HistoryChange) -> PastChange {
    let HistoryChange {
        change, explained, ..
    } = found;
    let side = |side: &ProviderSide| Side {
        provider: side.addr.clone(),
        version: side.lock.version.clone(),
        constraints: side.lock.constraints.clone(),
        hashes: None,
    };
    PastChange {
        provider: change.addr().clone(),
        commit: commit.id.clone(),
        date: commit.date.clone(),
        author: commit.author.clone(),
        subject: commit.subject.clone(),
        path: path.display().to_string(),
        kinds: change.kinds.iter().copied().collect(),
        cause: explained.sentence(),
        risk: explained.risk,
        old: change.before().map(side),
        new: change.now().map(side),
        step: change.upgrade(),
    }
}

/// What it takes to read lock files of the past.
struct Reading<'r> {
    root: &'r Root,
    texts: &'r mut Texts,
    result: &'r mut RootResult,
}

impl Reading<'_> {
    /// Reads every version of the file; those that cannot be read are reported, and left out.
    fn all(
        mut self,
        repository: &Repository<'_>,
        commits: &[FileCommit<'_>],
    ) -> Result<Versions, GitError> {
        let mut wanted: BTreeMap<&ObjectId, String> = BTreeMap::new();
        for FileCommit {
            commit,
            change: step,
        } in commits
        {
            let sides = [&step.change.new, &step.change.old];
            for entry in sides.into_iter().flatten() {
                let Some(blob) = &entry.blob else { continue };
                let name = format!("{}:{}", commit.id.short(), entry.path.display());
                if entry.kind == FileKind::File {
                    // The oldest commit that has it is where it came from.
                    wanted.insert(blob, name);
                } else {
                    self.result
                        .remark(format!("{name} is no file, so it is passed over"));
                }
            }
            for blob in step.others.iter().flatten() {
                wanted.entry(blob).or_default();
            }
        }
        let mut versions = Versions::new();
        let wanted: Vec<(&ObjectId, String)> = wanted.into_iter().collect();
        for batch in wanted.chunks(BATCH) {
            let blobs: Vec<ObjectId> = batch.iter().map(|(blob, _)| (*blob).clone()).collect();
            let contents = repository.read(&blobs, lockfile::MAX_BYTES)?;
            for ((blob, name), content) in batch.iter().zip(contents) {
                if let Some(lock) = self.one(name, content) {
                    versions.insert((*blob).clone(), lock);
                }
            }
        }
        Ok(versions)
    }

    fn one(&mut self, name: &str, content: Content) -> Option<LockFile> {
        let why = match content {
            Content::Bytes(bytes) => {
                let file = Texts::default().add("", Vec::new());
                let (document, found) = lockfile::parse(file, &bytes, self.root.flavor);
                if !has_errors(&found) {
                    return Some(document.lock);
                }
                let title = found
                    .iter()
                    .find(|one| has_errors(std::slice::from_ref(*one)));
                let title = title.map(|one| one.title.clone()).unwrap_or_default();
                let file = self.texts.add(name.to_owned(), bytes.clone());
                let (_, found) = lockfile::parse(file, &bytes, self.root.flavor);
                self.result.aside(&found);
                title
            }
            Content::TooLarge { bytes } => format!("it has {bytes} bytes"),
            Content::Missing => "the repository does not hold it".to_owned(),
        };
        self.result
            .warn(format!("{name} cannot be read and is passed over: {why}"));
        None
    }
}
