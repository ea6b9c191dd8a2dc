//! Files that pass questions on to other files.

use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};

use super::{DirEntry, DirectoryMemo, FileKind, Files, ReadSeek};

/// Files that are those of others, by other paths or names, or not all of them.
///
/// Every type with this trait is [`Files`]: it states where a path leads, and overrides the answers that differ.
pub trait Layer: Sync {
    /// Returns the files that answer.
    fn base(&self) -> &dyn Files;

    /// Returns the path that they are asked for; an error refuses a path.
    ///
    /// # Errors
    /// The refusal.
    fn at<'p>(&self, path: &'p Path) -> io::Result<Cow<'p, Path>> {
        Ok(Cow::Borrowed(path))
    }

    /// Asks the files that a path leads to.
    ///
    /// # Errors
    /// The refusal of the path, else the error of `ask`.
    fn pass<T>(
        &self,
        path: &Path,
        ask: impl FnOnce(&dyn Files, &Path) -> io::Result<T>,
    ) -> io::Result<T> {
        ask(self.base(), &self.at(path)?)
    }

    /// Reads a file as [`Files::read`] does.
    ///
    /// # Errors
    /// As that.
    fn bytes(&self, path: &Path, limit: u64) -> io::Result<Vec<u8>> {
        self.pass(path, |files, path| files.read(path, limit))
    }

    /// Lists a directory as [`Files::list`] does.
    ///
    /// # Errors
    /// As that.
    fn entries(&self, dir: &Path) -> io::Result<Vec<DirEntry>> {
        self.pass(dir, |files, dir| files.list(dir))
    }

    /// Follows links as [`Files::resolve`] does.
    ///
    /// # Errors
    /// As that.
    fn real(&self, path: &Path) -> io::Result<PathBuf> {
        self.pass(path, |files, path| files.resolve(path))
    }

    /// Names a path as [`Files::shown`] does.
    fn name(&self, path: &Path) -> String {
        self.base().shown(path)
    }

    /// Returns a memory as [`Files::memo`] does; a layer has none unless it says otherwise.
    fn directory_memo(&self, dir: &Path) -> Option<DirectoryMemo> {
        let _ = dir;
        None
    }
}

impl<L: Layer> Files for L {
    fn read(&self, path: &Path, limit: u64) -> io::Result<Vec<u8>> {
        self.bytes(path, limit)
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn ReadSeek>> {
        self.pass(path, |files, path| files.open(path))
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<DirEntry>> {
        self.entries(dir)
    }

    fn kind(&self, path: &Path) -> io::Result<FileKind> {
        self.pass(path, |files, path| files.kind(path))
    }

    fn resolve(&self, path: &Path) -> io::Result<PathBuf> {
        self.real(path)
    }

    fn shown(&self, path: &Path) -> String {
        self.name(path)
    }

    fn memo(&self, dir: &Path) -> Option<DirectoryMemo> {
        self.directory_memo(dir)
    }
}
