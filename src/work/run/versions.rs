//! The versions of lock files that commits made.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::resume_unwind;
use std::sync::mpsc;
use std::thread;

use crate::diag::{Texts, has_errors};
use crate::flavor::Flavor;
use crate::git::{
    BlobContent, Commit, CommittedChange, FileCommit, GitError, ObjectId, Repository, TreeEntry,
};
use crate::lockfile::{self, LockFile, StoredVersion, VersionStore};
use crate::report::RootResult;
use crate::world::FileKind;

/// Number of versions that are read at once: each time takes a process of git, and their bytes are in memory.
const BATCH: usize = 512;

/// The content of lock files, by the names of their versions.
#[derive(Default)]
pub(crate) struct VersionContents {
    all: BTreeMap<ObjectId, VersionContent>,
    store: VersionStore,
}

/// The content of a version, as far as it could be read.
enum VersionContent {
    Text(StoredVersion),
    TooLarge { bytes: u64 },
    Missing,
}

/// Returns the versions that a commit made or replaced, as far as they are files.
pub(crate) fn blobs(change: &CommittedChange) -> impl Iterator<Item = &ObjectId> {
    [&change.change.new, &change.change.old]
        .into_iter()
        .flatten()
        .filter(|entry| entry.kind == FileKind::File)
        .filter_map(|entry| entry.blob.as_ref())
        .chain(change.others.iter().flatten())
}

impl VersionContents {
    /// Lists commits as [`Repository::history`] does, and reads the versions of the wanted changes while git finds
    /// older commits.
    pub(crate) fn of_history(
        repository: &Repository<'_>,
        most: Option<usize>,
        mut is_wanted: impl FnMut(&CommittedChange) -> bool,
    ) -> Result<(Vec<Commit>, Self), GitError> {
        let mut commits = Vec::new();
        let mut batch = BTreeSet::new();
        let mut seen = BTreeSet::new();
        let (sender, batches) = mpsc::channel();
        let contents = thread::scope(|scope| {
            let reader = scope.spawn(move || {
                let mut contents = Self::default();
                for batch in batches {
                    contents.read(repository, batch)?;
                }
                Ok(contents)
            });
            let listed = repository.history(most, &mut |commit| {
                for change in commit.changes.iter().filter(|change| is_wanted(change)) {
                    for blob in blobs(change) {
                        if seen.insert(blob.clone()) {
                            batch.insert(blob.clone());
                        }
                    }
                }
                if batch.len() >= BATCH {
                    // A reader that has failed takes no more, and its error is the result.
                    let _ = sender.send(std::mem::take(&mut batch));
                }
                commits.push(commit);
            });
            let _ = sender.send(batch);
            drop(sender);
            let contents = reader.join().unwrap_or_else(|panic| resume_unwind(panic));
            listed.and(contents)
        })?;
        Ok((commits, contents))
    }

    /// Reads versions in addition to those that are there.
    pub(crate) fn read(
        &mut self,
        repository: &Repository<'_>,
        blobs: BTreeSet<ObjectId>,
    ) -> Result<(), GitError> {
        let blobs: Vec<ObjectId> = blobs.into_iter().collect();
        let contents = repository.read(&blobs, lockfile::MAX_BYTES)?;
        for (blob, content) in blobs.into_iter().zip(contents) {
            let content = match content {
                BlobContent::Bytes(bytes) => VersionContent::Text(self.store.keep(&bytes)),
                BlobContent::TooLarge { bytes } => VersionContent::TooLarge { bytes },
                BlobContent::Missing => VersionContent::Missing,
            };
            self.all.insert(blob, content);
        }
        Ok(())
    }

    /// Returns what a version held, if it could be read.
    pub(crate) fn bytes(&self, blob: &ObjectId) -> Option<Vec<u8>> {
        match self.all.get(blob)? {
            VersionContent::Text(text) => Some(text.bytes()),
            VersionContent::TooLarge { .. } | VersionContent::Missing => None,
        }
    }

    /// Reads every version of one lock file; those that cannot be read are reported, and left out.
    pub(crate) fn versions(
        &self,
        commits: &[FileCommit<'_>],
        flavor: Flavor,
        texts: &mut Texts,
        result: &mut RootResult,
    ) -> BTreeMap<ObjectId, LockFile> {
        let mut wanted: BTreeMap<&ObjectId, String> = BTreeMap::new();
        for FileCommit { commit, change } in commits {
            let sides = [&change.change.new, &change.change.old];
            for TreeEntry { path, kind, blob } in sides.into_iter().flatten() {
                let Some(blob) = blob else { continue };
                let name = format!("{}:{}", commit.id.short(), path.display());
                if *kind == FileKind::File {
                    // The oldest commit that has it is where it came from.
                    wanted.insert(blob, name);
                } else {
                    result.remark(format!("{name} is no file, so it is skipped"));
                }
            }
            for blob in change.others.iter().flatten() {
                wanted.entry(blob).or_default();
            }
        }
        let mut versions = BTreeMap::new();
        for (blob, name) in wanted {
            match self.version(blob, &name, flavor, texts, result) {
                Ok(lock) => drop(versions.insert(blob.clone(), lock)),
                Err(why) => result.warn(format!("{name} could not be read and is skipped: {why}")),
            }
        }
        versions
    }

    fn version(
        &self,
        blob: &ObjectId,
        name: &str,
        flavor: Flavor,
        texts: &mut Texts,
        result: &mut RootResult,
    ) -> Result<LockFile, String> {
        let text = match self.all.get(blob) {
            Some(VersionContent::Text(text)) => text,
            Some(VersionContent::TooLarge { bytes }) => {
                return Err(format!("it has {bytes} bytes"));
            }
            Some(VersionContent::Missing) | None => {
                return Err("the repository does not hold it".to_owned());
            }
        };
        if let Some(lock) = text.read(flavor) {
            return Ok(lock);
        }
        let bytes = text.bytes();
        // A history may have thousands of versions: only one with faults is kept, for its snippets.
        let file = Texts::default().add("", Vec::new());
        let (document, found) = lockfile::parse(file, &bytes, flavor);
        if !has_errors(&found) {
            return Ok(document.lock);
        }
        let title = found
            .iter()
            .find(|diagnostic| has_errors(std::slice::from_ref(*diagnostic)))
            .map(|diagnostic| diagnostic.title.clone());
        let title = title.unwrap_or_default();
        let is_readable = document.has_all_versions(&found);
        let file = texts.add(name.to_owned(), bytes.clone());
        let (_, found) = lockfile::parse(file, &bytes, flavor);
        result.aside(&found);
        if is_readable {
            result.warn(format!(
                "{name} has entries with a fault, which are listed all the same: {title}"
            ));
            return Ok(document.readable().lock);
        }
        Err(title)
    }
}
