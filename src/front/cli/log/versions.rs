//! The versions of lock files that commits made.

use std::collections::BTreeMap;

use crate::diag::{Texts, has_errors};
use crate::flavor::Flavor;
use crate::git::{BlobContent, FileCommit, GitError, ObjectId, Repository, TreeEntry};
use crate::lockfile::{self, LockFile};
use crate::report::RootResult;
use crate::world::FileKind;

/// Number of versions that are read, and kept in memory, at once; those of one lock file stay together.
pub(super) const BATCH: usize = 256;

/// The content of lock files, by the names of their versions.
pub(in crate::front::cli) struct VersionContents {
    all: BTreeMap<ObjectId, BlobContent>,
}

/// The versions of a lock file.
#[derive(Default)]
pub(super) struct Versions {
    /// Every version that could be read.
    pub(super) locks: BTreeMap<ObjectId, LockFile>,
    /// Some could not be read.
    pub(super) has_unreadable: bool,
}

impl VersionContents {
    /// Reads every version that some commits made or replaced.
    pub(in crate::front::cli) fn read<'h>(
        repository: &Repository<'_>,
        commits: impl Iterator<Item = &'h FileCommit<'h>>,
    ) -> Result<Self, GitError> {
        let mut wanted: Vec<ObjectId> = commits
            .flat_map(|commit| {
                let change = &commit.change.change;
                [&change.new, &change.old]
                    .into_iter()
                    .flatten()
                    .filter(|entry| entry.kind == FileKind::File)
                    .filter_map(|entry| entry.blob.as_ref())
                    .chain(commit.change.others.iter().flatten())
            })
            .cloned()
            .collect();
        wanted.sort_unstable();
        wanted.dedup();
        let contents = repository.read(&wanted, lockfile::MAX_BYTES)?;
        Ok(Self {
            all: wanted.into_iter().zip(contents).collect(),
        })
    }

    /// Returns what a version held, if it could be read.
    pub(in crate::front::cli) fn bytes(&self, blob: &ObjectId) -> Option<&[u8]> {
        match self.all.get(blob)? {
            BlobContent::Bytes(bytes) => Some(bytes),
            BlobContent::TooLarge { .. } | BlobContent::Missing => None,
        }
    }

    /// Reads every version of one lock file; those that cannot be read are reported, and left out.
    pub(super) fn versions(
        &self,
        commits: &[FileCommit<'_>],
        flavor: Flavor,
        texts: &mut Texts,
        result: &mut RootResult,
    ) -> Versions {
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
        let mut versions = Versions::default();
        for (blob, name) in wanted {
            match self.version(blob, &name, flavor, texts, result) {
                Ok(lock) => drop(versions.locks.insert(blob.clone(), lock)),
                Err(why) => {
                    versions.has_unreadable = true;
                    result.warn(format!("{name} could not be read and is skipped: {why}"));
                }
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
        let bytes = match self.all.get(blob) {
            Some(BlobContent::Bytes(bytes)) => bytes,
            Some(BlobContent::TooLarge { bytes }) => return Err(format!("it has {bytes} bytes")),
            Some(BlobContent::Missing) | None => {
                return Err("the repository does not hold it".to_owned());
            }
        };
        // A history may have thousands of versions: only one with faults is kept, for its snippets.
        let file = Texts::default().add("", Vec::new());
        let (document, found) = lockfile::parse(file, bytes, flavor);
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
        let (_, found) = lockfile::parse(file, bytes, flavor);
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
