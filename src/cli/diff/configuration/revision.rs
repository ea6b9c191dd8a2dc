//! A revision as if it were checked out: its files, and the environment at the top of the repository.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use crate::git;
use crate::lockfile;
use crate::world::{DirEntry, Env, FileKind, Files, ReadSeek, Stream};

/// The directory of git's own records, which marks the top of a repository.
const RECORDS: &str = ".git";

/// The files of a revision, which relative paths and absolute ones below the top name alike.
pub(super) struct RevisionFiles<'a> {
    tree: &'a git::Tree<'a>,
    top: PathBuf,
}

impl<'a> RevisionFiles<'a> {
    pub(super) fn new(tree: &'a git::Tree<'a>, top: PathBuf) -> Self {
        Self { tree, top }
    }

    /// Returns the path from the top on. What lies outside of the repository is in no revision.
    fn inside<'p>(&self, path: &'p Path) -> io::Result<&'p Path> {
        match path.strip_prefix(&self.top) {
            Ok(inside) if inside.as_os_str().is_empty() => Ok(Path::new(".")),
            Ok(inside) => Ok(inside),
            Err(_) if path.is_absolute() => Err(io::ErrorKind::NotFound.into()),
            Err(_) => Ok(path),
        }
    }
}

impl Files for RevisionFiles<'_> {
    fn read(&self, path: &Path, limit: u64) -> io::Result<Vec<u8>> {
        // The lock files that differ were read in one call of git; here each would cost one more.
        if path.ends_with(lockfile::FILE_NAME) {
            return Err(io::ErrorKind::NotFound.into());
        }
        self.tree.read(self.inside(path)?, limit)
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn ReadSeek>> {
        self.tree.open(self.inside(path)?)
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<DirEntry>> {
        self.tree.list(self.inside(dir)?)
    }

    fn kind(&self, path: &Path) -> io::Result<FileKind> {
        let inside = self.inside(path)?;
        // No tree holds it, but whoever looks for the top of a repository looks for it.
        if inside.strip_prefix(".").unwrap_or(inside) == Path::new(RECORDS) {
            return Ok(FileKind::Directory);
        }
        self.tree.kind(inside)
    }

    fn resolve(&self, path: &Path) -> io::Result<PathBuf> {
        let resolved = self.tree.resolve(self.inside(path)?)?;
        // Two spellings of a path must resolve to the same one.
        Ok(self.top.join(resolved))
    }

    fn shown(&self, path: &Path) -> String {
        path.strip_prefix(&self.top)
            .unwrap_or(path)
            .display()
            .to_string()
    }
}

/// The environment of the user, with the top of the repository as the working directory: paths of a revision
/// begin there.
pub(super) struct EnvAtTop<'a> {
    env: &'a dyn Env,
    top: PathBuf,
}

impl<'a> EnvAtTop<'a> {
    pub(super) fn new(env: &'a dyn Env, top: PathBuf) -> Self {
        Self { env, top }
    }
}

impl Env for EnvAtTop<'_> {
    fn var(&self, name: &str) -> Option<OsString> {
        self.env.var(name)
    }

    fn names(&self, prefix: &str) -> Vec<String> {
        self.env.names(prefix)
    }

    fn current_dir(&self) -> io::Result<PathBuf> {
        Ok(self.top.clone())
    }

    fn terminal(&self, stream: Stream) -> bool {
        self.env.terminal(stream)
    }

    fn input(&self, limit: u64) -> io::Result<Vec<u8>> {
        self.env.input(limit)
    }

    fn columns(&self, stream: Stream) -> Option<usize> {
        self.env.columns(stream)
    }
}
