//! Roots with a changed file: their own files, those of local modules, and all others that were read.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::config::ConfigSources;
use crate::diag::Texts;
use crate::lockfile;
use crate::project;
use crate::remote_module::InstalledOnly;
use crate::workspace::{Reading, Root};
use crate::world::{DirEntry, FileKind, Files, Layer, clean};

/// Names of files that concern every root below them.
const GOVERNING: [&str; 2] = [project::FILE_NAME, ".gitignore"];

/// Files that changed, by their absolute paths.
#[derive(Clone, Debug)]
pub(crate) struct ChangedFiles {
    /// Says in words what they changed since, as in ` since main`; empty if they were named.
    pub(crate) since: String,
    /// Absolute paths; that of a directory includes everything below it.
    pub(crate) paths: BTreeSet<PathBuf>,
    /// The top of the repository that was compared; `None` if the files were named.
    pub(crate) top: Option<PathBuf>,
}

impl ChangedFiles {
    /// Adds the targets of links that changed.
    pub(crate) fn with_targets(mut self, files: &dyn Files) -> Self {
        let targets: Vec<PathBuf> = self
            .paths
            .iter()
            // A file may be reached through several links, and git lists only the link that changed.
            .filter(|path| is_link(path, files))
            .filter_map(|path| files.resolve(path).ok())
            .collect();
        self.paths.extend(targets);
        self
    }

    /// Returns the directories of lock files that changed or were deleted.
    pub(super) fn lock_dirs(&self) -> BTreeSet<PathBuf> {
        self.paths
            .iter()
            .filter(|path| path.file_name() == Some(lockfile::FILE_NAME.as_ref()))
            .filter_map(|path| path.parent().map(Path::to_owned))
            .collect()
    }

    /// Returns true if a file of a root changed, or if that is not known.
    ///
    /// `reading` are the sources of its configuration; nothing is fetched. Without them only the files
    /// beside the root and those that govern it count.
    pub(super) fn concern(
        &self,
        root: &Root,
        current: &Path,
        reading: Option<Reading<'_>>,
        files: &dyn Files,
    ) -> bool {
        let dir = clean(&current.join(&root.dir));
        // A submodule is a repository of its own, whose files were not compared.
        let repository = project::repository(files, &project::ProjectPlace::new(&dir, current));
        let is_elsewhere =
            |top: &PathBuf| repository.is_none_or(|repository| repository.absolute() != top);
        if self.has(&dir, FileUse::Listed, files) || self.top.as_ref().is_some_and(is_elsewhere) {
            return true;
        }
        let mut above = dir.ancestors().skip(1);
        if above.any(|dir| {
            GOVERNING
                .iter()
                .any(|name| self.paths.contains(&dir.join(name)))
        }) {
            return true;
        }
        let Some(reading) = reading else {
            return false;
        };
        let noted = NotedFiles {
            files,
            used: Mutex::default(),
        };
        // What other roots share with this one is read again, so that it is noted for this one, too.
        let loaded = root.alone().load(
            &Reading {
                sources: ConfigSources {
                    files: &noted,
                    modules: &InstalledOnly,
                },
                ..reading
            },
            &mut Texts::default(),
        );
        // Of a unit that cannot be evaluated it is not known what it reads.
        if root.unit.is_some()
            && loaded
                .modules
                .first()
                .is_some_and(|node| node.unseen.is_some())
        {
            return true;
        }
        let used = noted
            .used
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        used.into_iter()
            .any(|(path, used)| self.has(&clean(&current.join(path)), used, files))
    }

    /// Returns true if a path that was used changed, or one that a link leads to.
    fn has(&self, path: &Path, used: FileUse, files: &dyn Files) -> bool {
        self.has_itself(path, used)
            || match files.resolve(path) {
                Ok(target) => target != path && self.has_itself(&target, used),
                // A link that leads nowhere may have led somewhere before: it is reported with the root.
                Err(_) => path
                    .ancestors()
                    .take_while(|path| files.resolve(path).is_err())
                    .any(|path| is_link(path, files)),
            }
    }

    fn has_itself(&self, path: &Path, used: FileUse) -> bool {
        let is_in = |changed: &PathBuf| changed.parent() == Some(path);
        // A link, or a submodule, that changed is one path with everything below it.
        path.ancestors().any(|path| self.paths.contains(path))
            || used == FileUse::Listed
                && self
                    .paths
                    .range(path.to_owned()..)
                    .take_while(|changed| changed.starts_with(path))
                    .any(is_in)
    }
}

/// Returns true if there is a link at a path, wherever it leads.
fn is_link(path: &Path, files: &dyn Files) -> bool {
    let (Some(dir), Some(name)) = (path.parent(), path.file_name()) else {
        return false;
    };
    files.list(dir).is_ok_and(|entries| {
        entries
            .iter()
            .any(|entry| entry.name == name && entry.kind == FileKind::Symlink)
    })
}

/// The use that was made of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum FileUse {
    /// The file was read, or looked for.
    File,
    /// All names in the directory matter.
    Listed,
}

/// Files, and which of them were used, whether they exist or not.
struct NotedFiles<'a> {
    files: &'a dyn Files,
    used: Mutex<BTreeSet<(PathBuf, FileUse)>>,
}

impl NotedFiles<'_> {
    fn note(&self, path: &Path, used: FileUse) {
        let mut all = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        all.insert((path.to_owned(), used));
    }
}

impl Layer for NotedFiles<'_> {
    fn base(&self) -> &dyn Files {
        self.files
    }

    fn at<'p>(&self, path: &'p Path) -> io::Result<Cow<'p, Path>> {
        self.note(path, FileUse::File);
        Ok(Cow::Borrowed(path))
    }

    fn entries(&self, dir: &Path) -> io::Result<Vec<DirEntry>> {
        self.note(dir, FileUse::Listed);
        self.files.list(dir)
    }

    fn real(&self, path: &Path) -> io::Result<PathBuf> {
        self.files.resolve(path)
    }
}
