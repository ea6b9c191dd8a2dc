//! In-memory doubles of the outside, for tests.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::io::{self, Cursor};
use std::path::{Component, Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::{DirEntry, Disk, Env, FileKind, Files, ReadSeek, Replaced, Stream};

/// Files held in memory, by path; directories exist as soon as something lies in them.
#[derive(Debug, Default)]
pub struct MemFiles {
    files: Mutex<BTreeMap<PathBuf, Vec<u8>>>,
}

/// An environment held in memory.
#[derive(Clone, Debug, Default)]
pub struct MemEnv {
    /// The variables.
    pub vars: BTreeMap<String, OsString>,
    /// Whether the streams are terminals.
    pub terminal: bool,
}

impl MemFiles {
    /// Makes a tree of text files.
    #[must_use]
    pub fn with(files: &[(&str, &str)]) -> Self {
        let files = files
            .iter()
            .map(|(path, text)| (clean(Path::new(path)), text.as_bytes().to_vec()))
            .collect();
        Self {
            files: Mutex::new(files),
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<PathBuf, Vec<u8>>> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Resolves `.` and `..` by text alone.
fn clean(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                out.pop();
            }
            other => out.push(other),
        }
    }
    out
}

impl Files for MemFiles {
    fn read(&self, path: &Path, limit: u64) -> io::Result<Vec<u8>> {
        let files = self.lock();
        let bytes = files.get(&clean(path)).ok_or(io::ErrorKind::NotFound)?;
        if bytes.len() as u64 > limit {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        Ok(bytes.clone())
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn ReadSeek>> {
        Ok(Box::new(Cursor::new(self.read(path, u64::MAX)?)))
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<DirEntry>> {
        let dir = clean(dir);
        let mut names = BTreeSet::new();
        for path in self.lock().keys() {
            let Ok(rest) = path.strip_prefix(&dir) else {
                continue;
            };
            let mut parts = rest.components();
            let Some(first) = parts.next() else { continue };
            let kind = if parts.next().is_some() {
                FileKind::Directory
            } else {
                FileKind::File
            };
            names.insert(DirEntry {
                name: first.as_os_str().to_owned(),
                kind,
            });
        }
        if names.is_empty() {
            return Err(io::ErrorKind::NotFound.into());
        }
        Ok(names.into_iter().collect())
    }

    fn kind(&self, path: &Path) -> io::Result<FileKind> {
        if self.lock().contains_key(&clean(path)) {
            return Ok(FileKind::File);
        }
        self.list(path).map(|_| FileKind::Directory)
    }
}

impl Disk for MemFiles {
    fn replace(&self, path: &Path, old: Option<&[u8]>, new: &[u8]) -> io::Result<Replaced> {
        let mut files = self.lock();
        if files.get(&clean(path)).map(Vec::as_slice) != old {
            return Ok(Replaced::Changed);
        }
        files.insert(clean(path), new.to_vec());
        Ok(Replaced::Done)
    }
}

impl Env for MemEnv {
    fn var(&self, name: &str) -> Option<OsString> {
        self.vars.get(name).cloned()
    }

    fn terminal(&self, _stream: Stream) -> bool {
        self.terminal
    }
}
