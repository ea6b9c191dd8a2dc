//! `lockctl log`: the history of providers in a lock file.

mod text;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::addr::ProviderAddr;
use crate::cli::World;
use crate::cli::advice;
use crate::cli::args::{Common, Log};
use crate::cli::output::{Output, RootOutput};
use crate::cli::root::Root;
use crate::cli::roots;
use crate::cli::setup;
use crate::diag::{Texts, has_errors};
use crate::git::{Commit, Content, GitError, ObjectId, Repository, Step};
use crate::lockfile::{self, LockFile};
use crate::report::{Block, Failure, Tone};
use crate::review::{self, Explained, ProviderChange};
use crate::world::{FileKind, Replaced};

/// How many versions of a lock file are held as text at once.
const BATCH: usize = 256;

/// What is said of a clone that has the newest commits only.
const SHALLOW: &str = "the clone is shallow: its oldest commit seems to add all that it has \
     (`git fetch --unshallow` brings the others)";

/// What one commit changed about one provider.
pub(in crate::cli) struct Told<'h> {
    pub(in crate::cli) commit: &'h Commit,
    /// Where the lock file lay, from the top of the repository on.
    pub(in crate::cli) path: PathBuf,
    pub(in crate::cli) change: ProviderChange,
    pub(in crate::cli) explained: Explained,
}

/// Every version of the lock file that could be read.
type Versions = BTreeMap<ObjectId, LockFile>;

pub(in crate::cli) fn run(common: &Common, args: &Log, world: World<'_>) -> Output {
    let (provider, roots) = args.provider_and_roots();
    let ran = roots::each(common, &roots, world, |root, texts, output| {
        let mut chosen = Chosen::read(provider, root)?;
        let failure = |error: GitError| advice::git::failure(&error);
        let repository = Repository::find(world.run, &root.dir).map_err(failure)?;
        let head = repository.revision("HEAD").map_err(failure)?;
        let commits = repository.history(&head).map_err(failure)?;
        let steps = followed(&commits, repository.prefix().join(lockfile::FILE_NAME));
        let versions = Reading {
            root,
            texts,
            output,
        }
        .all(&repository, &steps);
        let versions = versions.map_err(failure)?;
        let told = told(&steps, &versions, &mut chosen);
        text::tell(&told, common.verbose, root.flavor, output);
        if repository.is_shallow() {
            output.remark(SHALLOW);
        }
        if let (true, Some(typed)) = (told.is_empty(), provider) {
            let path = setup::below(common, Path::new(typed));
            if world.disk.kind(&path).is_ok() {
                output.remark(format!(
                    "{typed} counts as a provider; write ./{typed} for the directory"
                ));
            }
        }
        Ok(Replaced::Done)
    });
    Output::of_roots("log", ran)
}

/// Picks the changes of one file, whose name may have been another before.
fn followed(commits: &[Commit], path: PathBuf) -> Vec<(&Commit, &Step)> {
    let mut names = BTreeSet::from([path]);
    let mut steps = Vec::new();
    for commit in commits {
        for step in &commit.changes {
            if !names.contains(step.change.path()) {
                continue;
            }
            names.extend(step.change.old.as_ref().map(|old| old.path.clone()));
            steps.push((commit, step));
        }
    }
    steps
}

/// What it takes to read lock files of the past.
struct Reading<'r> {
    root: &'r Root,
    texts: &'r mut Texts,
    output: &'r mut RootOutput,
}

impl Reading<'_> {
    /// Reads every version of the file; those that cannot be read are told, and left out.
    fn all(
        mut self,
        repository: &Repository<'_>,
        steps: &[(&Commit, &Step)],
    ) -> Result<Versions, GitError> {
        let mut wanted: BTreeMap<&ObjectId, String> = BTreeMap::new();
        for (commit, step) in steps {
            let sides = [&step.change.new, &step.change.old];
            for entry in sides.into_iter().flatten() {
                let Some(blob) = &entry.blob else { continue };
                let name = format!("{}:{}", commit.id.short(), entry.path.display());
                if entry.kind == FileKind::File {
                    // The oldest commit that has it is where it came from.
                    wanted.insert(blob, name);
                } else {
                    self.output
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
                self.output.aside(&found, self.texts);
                title
            }
            Content::TooLarge { bytes } => format!("it has {bytes} bytes"),
            Content::Missing => "the repository does not hold it".to_owned(),
        };
        let text = format!("{name} cannot be read and is passed over: {why}");
        let told = Block::Remark(Tone::Warning, text);
        self.output.report.notes.push(told);
        None
    }
}

/// Explains what each commit changed, the newest first.
fn told<'h>(
    steps: &[(&'h Commit, &Step)],
    versions: &Versions,
    chosen: &mut Chosen,
) -> Vec<Told<'h>> {
    let nothing = LockFile::default();
    let mut told = Vec::new();
    for (at, (commit, step)) in steps.iter().enumerate() {
        let new = match &step.change.new {
            None => &nothing,
            Some(entry) => match entry.blob.as_ref().and_then(|blob| versions.get(blob)) {
                Some(lock) => lock,
                None => continue,
            },
        };
        let old = step
            .change
            .old
            .as_ref()
            .and_then(|entry| entry.blob.as_ref());
        let old = old.and_then(|blob| sound(blob, &steps[at + 1..], versions));
        let others = step.others.iter();
        let others = others.filter_map(|blob| match blob {
            Some(blob) => versions.get(blob),
            None => Some(&nothing),
        });
        let others: Vec<&LockFile> = others.collect();
        for change in review::diff(old.unwrap_or(&nothing), new).providers {
            if is_taken_over(&change, &others) || !chosen.takes(&change) {
                continue;
            }
            told.push(Told {
                commit,
                path: step.change.path().to_owned(),
                explained: review::explain(&change),
                change,
            });
        }
    }
    told
}

/// Tells whether a merge has an entry, or has none, as one of its other parents.
fn is_taken_over(change: &ProviderChange, others: &[&LockFile]) -> bool {
    let now = change.now().map(|side| &side.lock);
    let before = change.before().map(|side| &side.addr);
    others.iter().any(|other| {
        let is_gone = before.is_none_or(|addr| {
            addr == change.addr() && now.is_some() || !other.providers.contains_key(addr)
        });
        other.providers.get(change.addr()) == now && is_gone
    })
}

/// Finds a version of the file, or the one before it if it cannot be read.
fn sound<'v>(
    blob: &ObjectId,
    older: &[(&Commit, &Step)],
    versions: &'v Versions,
) -> Option<&'v LockFile> {
    let mut blob = blob;
    let mut older = older.iter();
    loop {
        if let Some(lock) = versions.get(blob) {
            return Some(lock);
        }
        let made = older.find(|(_, step)| {
            let new = step.change.new.as_ref();
            new.and_then(|entry| entry.blob.as_ref()) == Some(blob)
        });
        blob = made?.1.change.old.as_ref()?.blob.as_ref()?;
    }
}

/// Which providers are to be told about.
enum Chosen {
    All,
    Type(String),
    /// One, and those that it stood in for.
    These(BTreeSet<ProviderAddr>),
}

impl Chosen {
    fn read(typed: Option<&str>, root: &Root) -> Result<Self, Failure> {
        let Some(typed) = typed else {
            return Ok(Self::All);
        };
        let addr = ProviderAddr::parse(typed, root.flavor).map_err(|error| {
            Failure::from_error(&error).help("write NAMESPACE/TYPE or HOST/NAMESPACE/TYPE")
        })?;
        Ok(match typed.contains('/') {
            false => Self::Type(addr.type_name().to_owned()),
            true => Self::These(BTreeSet::from([addr])),
        })
    }

    fn takes(&mut self, change: &ProviderChange) -> bool {
        match self {
            Self::All => true,
            Self::Type(name) => change.addr().type_name() == name,
            Self::These(addrs) => {
                let before = change.before().map(|side| &side.addr);
                let is_one = addrs.contains(change.addr())
                    || before.is_some_and(|addr| addrs.contains(addr));
                if is_one {
                    addrs.extend(before.cloned());
                }
                is_one
            }
        }
    }
}
