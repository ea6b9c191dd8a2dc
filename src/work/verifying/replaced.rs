//! The versions of lock files that their last change replaced.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::addr::ProviderAddr;
use crate::diag::FileId;
use crate::git::{self, FileCommit, GitError, Repository};
use crate::hash::Hashes;
use crate::lockfile::{self, FILE_NAME, LockFile};
use crate::project::{self, ProjectPlace};
use crate::review::{CauseKind, diff, explain};
use crate::run::World;
use crate::run::root::Root;
use crate::run::versions::{VersionContents, blobs};
use crate::verify::CarriedHashes;
use crate::version::Upgrade;
use crate::world::clean;

/// The bytes of lock files before their last change, by path; a merge has several.
type ReplacedTexts = BTreeMap<PathBuf, Vec<Vec<u8>>>;

/// The versions of lock files that their last change replaced, in the repositories of a run.
pub(super) struct ReplacedLocks<'a> {
    world: World<'a>,
    by_top: RefCell<BTreeMap<PathBuf, ReplacedTexts>>,
}

impl<'a> ReplacedLocks<'a> {
    pub(super) fn new(world: World<'a>) -> Self {
        Self {
            world,
            by_top: RefCell::default(),
        }
    }

    /// Finds the hashes that entries of a lock file have kept from the version before; nothing where git does not
    /// know that version. git is started once for each repository.
    pub(super) fn carried(&self, root: &Root, lock: &LockFile) -> Vec<CarriedHashes> {
        let Some((top, path)) = self.place(root) else {
            return Vec::new();
        };
        let mut by_top = self.by_top.borrow_mut();
        let texts = by_top
            .entry(top.clone())
            .or_insert_with(|| self.replaced(&top).unwrap_or_default());
        let mut carried: BTreeMap<ProviderAddr, CarriedHashes> = BTreeMap::new();
        for bytes in texts.get(&path).into_iter().flatten() {
            let (before, _) = lockfile::parse(FileId::ALONE, bytes, root.flavor);
            for change in &diff(&before.lock, lock).providers {
                let (Some(old), Some(new)) = (change.before(), change.now()) else {
                    continue;
                };
                let is_carried = explain(change)
                    .causes
                    .iter()
                    .any(|cause| cause.kind == CauseKind::HashesCarriedOver);
                // Another build of the same version may have the same packages.
                let is_other_build = change.upgrade() == Some(Upgrade::Metadata);
                if !is_carried || is_other_build || old.addr != new.addr {
                    continue;
                }
                let hashes: Hashes = old
                    .lock
                    .hashes
                    .iter()
                    .filter(|hash| new.lock.hashes.contains(hash))
                    .cloned()
                    .collect();
                let most = carried.get(&new.addr).map_or(0, |other| other.hashes.len());
                if hashes.len() > most {
                    let found = CarriedHashes {
                        provider: new.addr.clone(),
                        version: old.lock.version.clone(),
                        hashes,
                    };
                    carried.insert(new.addr.clone(), found);
                }
            }
        }
        carried.into_values().collect()
    }

    /// Returns the top of the repository, and the path of the lock file in it.
    fn place(&self, root: &Root) -> Option<(PathBuf, PathBuf)> {
        let current = self.world.env.current_dir().ok()?;
        let place = ProjectPlace::new(&root.dir, &current);
        let top = project::repository(self.world.disk, &place)?;
        let path = clean(&current.join(&root.dir)).join(FILE_NAME);
        let below = path.strip_prefix(top.absolute()).ok()?.to_owned();
        Some((top.absolute().to_owned(), below))
    }

    fn replaced(&self, top: &Path) -> Result<ReplacedTexts, GitError> {
        let repository = Repository::find(self.world.run, top)?;
        let commits = repository.recent_history()?;
        let files = git::files(&commits);
        let newest: Vec<FileCommit<'_>> = files
            .values()
            .filter_map(|all| all.first())
            .copied()
            .collect();
        let mut contents = VersionContents::default();
        let wanted = newest
            .iter()
            .flat_map(|commit| blobs(commit.change))
            .cloned()
            .collect();
        contents.read(&repository, wanted)?;
        let mut replaced = ReplacedTexts::new();
        for (path, commits) in &files {
            let Some(FileCommit { change, .. }) = commits.first() else {
                continue;
            };
            // What is committed is the version before of a file that was changed since.
            let texts = blobs(change).filter_map(|blob| contents.bytes(blob));
            replaced.insert(path.clone(), texts.collect());
        }
        Ok(replaced)
    }
}
