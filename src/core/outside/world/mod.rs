//! The outside, as traits: files, environment, network, clock, other programs.
//!
//! Rooms that need something from outside take one of these as their first parameter. The real
//! ones live in `os`, the in-memory doubles for tests in [`mem`].

use std::any::Any;
use std::ffi::{OsStr, OsString};
use std::io::{self, Read, Seek, Write};
use std::path::{Component, Path, PathBuf};

mod cached;
mod confined;
mod layer;
mod listing;
pub mod mem;
mod memo;
mod net;
mod objects;
mod run;
mod staged;
mod within;

pub use cached::CachedDisk;
pub use confined::{Confined, Outside, is_outside};
pub use layer::Layer;
pub use memo::DirectoryMemo;
pub use net::{Clock, Credentials, Http, HttpError, HttpRequest, HttpResponse, Secret};
pub use objects::{
    NotedObjects, ObjectSize, Objects, SHARED_TIME_LIMIT, SharedObjects, VersionedObject,
    is_key_word,
};
pub use run::{DirectoryRoom, Ended, Executable, Invocation, Run};
pub use staged::{StagedDisk, Unwritten};
pub use within::{BeyondTop, Within, is_beyond_top, is_link};

/// The kind of a directory entry or of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FileKind {
    /// A regular file, readable at any offset.
    File,
    /// A directory, which can be listed.
    Directory,
    /// A symbolic link (only where links are not followed).
    Symlink,
    /// A FIFO, a socket, a device.
    Other,
}

/// One name in a directory.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DirEntry {
    /// The name, without its directory.
    pub name: OsString,
    /// The kind of the name itself; links are not followed.
    pub kind: FileKind,
}

/// An open regular file.
pub trait ReadSeek: Read + Seek + Send {}

impl<T: Read + Seek + Send> ReadSeek for T {}

/// Reading files and directories.
pub trait Files: Sync {
    /// Reads a whole regular file, following links.
    ///
    /// # Errors
    /// `FileTooLarge` if it holds more than `limit` bytes; `InvalidInput` if it is neither a
    /// regular file nor a link to one (a FIFO is never waited for); else what the system says.
    fn read(&self, path: &Path, limit: u64) -> io::Result<Vec<u8>>;

    /// Opens a regular file, following links, for reading at any offset.
    ///
    /// # Errors
    /// As [`Files::read`], but for the limit.
    fn open(&self, path: &Path) -> io::Result<Box<dyn ReadSeek>>;

    /// Lists a directory, sorted by the bytes of the names.
    ///
    /// # Errors
    /// What the system says.
    fn list(&self, dir: &Path) -> io::Result<Vec<DirEntry>>;

    /// Returns what a path is, following links.
    ///
    /// # Errors
    /// `NotFound` for a missing path or a dangling link; else what the system says.
    fn kind(&self, path: &Path) -> io::Result<FileKind>;

    /// Returns the path without any link to what a path leads to: two paths lead to the same thing
    /// if this is equal.
    ///
    /// # Errors
    /// As [`Files::kind`].
    fn resolve(&self, path: &Path) -> io::Result<PathBuf>;

    /// Returns what messages call a path: where a file comes from, if that is another place.
    fn shown(&self, path: &Path) -> String {
        path.display().to_string()
    }

    /// Returns the memory for what is made of the files in a directory; `None` if every reader needs them anew.
    fn memo(&self, dir: &Path) -> Option<DirectoryMemo> {
        let _ = dir;
        None
    }
}

/// The outcome of [`Disk::replace`] or [`Disk::remove`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replaced {
    /// The file holds the new bytes.
    Done,
    /// The file no longer held the old bytes, so nothing was written.
    Changed,
}

/// The right to replace files of one directory, which no other process has meanwhile.
#[derive(Debug)]
pub struct Exclusive {
    /// The value that ends the right when it is dropped; `None` where the system can give no such
    /// right.
    guard: Option<Box<dyn Any + Send>>,
}

impl Exclusive {
    /// Makes a right that ends when the value is dropped.
    #[must_use]
    pub fn held_by(guard: impl Any + Send) -> Self {
        Self {
            guard: Some(Box::new(guard)),
        }
    }

    /// The value for systems that have no such right: other processes may write at any time.
    #[must_use]
    pub fn unsupported() -> Self {
        Self { guard: None }
    }

    /// Returns whether other processes are kept out.
    #[must_use]
    pub fn is_held(&self) -> bool {
        self.guard.is_some()
    }
}

/// A nameless file for as long as it is open.
pub trait Scratch: Read + Write + Seek + Send {}

impl<T: Read + Write + Seek + Send> Scratch for T {}

/// A directory for one purpose, for as long as the value lives.
pub trait PrivateDirectory: Send + Sync {
    /// Returns where it is, as an absolute path.
    fn path(&self) -> &Path;

    /// Writes a file that no other user can read, with the directories above it; one that is there is
    /// replaced. The path has neither `..` nor links in it.
    ///
    /// # Errors
    /// What the system says.
    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()>;

    /// Makes a directory in it, and those above.
    ///
    /// # Errors
    /// What the system says.
    fn make_directory(&self, path: &Path) -> io::Result<()>;
}

/// A file in the directory of its final name, which it gets when it is complete; until then it is removed with
/// the value.
///
/// Where a process ends without removing it, [`Disk::sweep`] does.
pub trait DraftFile: Read + Write + Seek + Send {
    /// Gives the file its name, in one atomic step: a file of that name is replaced.
    ///
    /// Its bytes are on the disk before; on Unix it gets mode 0644.
    ///
    /// # Errors
    /// What the system says; then what was there is as it was.
    fn place(self: Box<Self>, name: &OsStr) -> io::Result<()>;
}

/// A directory under a temporary name, which gets its final name when it is complete; else it is removed with the
/// value.
///
/// If a process ends without removing it, [`Disk::sweep`] does.
pub trait DraftDirectory: Send {
    /// Returns the current path, for reading the directory by the same disk.
    fn path(&self) -> &Path;

    /// Makes a file in the directory, with the missing directories above it. The path is raw bytes with `/`
    /// between its parts. No part is empty, `.` or `..`.
    ///
    /// On Unix the file gets mode 0644 and the bits of `executable`.
    ///
    /// # Errors
    /// `AlreadyExists` if there is such a file; else what the system says.
    fn create(&mut self, path: &[u8], executable: u32) -> io::Result<Box<dyn Write + '_>>;

    /// Gives the directory its name; anything that has the name is replaced and removed.
    ///
    /// Its files are on the disk before. Where the system can exchange two names, there is no moment without a
    /// directory of that name.
    ///
    /// # Errors
    /// What the system says; then what was there is as it was.
    fn place(self: Box<Self>, name: &OsStr) -> io::Result<()>;
}

/// A file whose bytes are to be replaced; see [`Disk::replace`].
#[derive(Clone, Copy, Debug)]
pub struct Replacement<'a> {
    /// The path of the file.
    pub path: &'a Path,
    /// The bytes that were read before; `None` for no file.
    pub old: Option<&'a [u8]>,
    /// The bytes that take their place.
    pub new: &'a [u8],
}

/// Writing files, and reading them as [`Files`] does.
pub trait Disk: Files {
    /// Returns the same disk for paths whose links have been followed: absolute, without `..`.
    ///
    /// Where the system can, a link anywhere in such a path is an error, be it only because it
    /// appeared after the path was looked at.
    fn without_links(&self) -> &dyn Disk;

    /// Returns where a link leads, as it is written; `None` for what is no link, or not there.
    ///
    /// # Errors
    /// What the system says.
    fn link(&self, path: &Path) -> io::Result<Option<PathBuf>>;

    /// Makes an empty directory that no other user can read, and that is removed with the value.
    ///
    /// Where a process ends without removing it, the next one that makes such a directory does.
    ///
    /// # Errors
    /// What the system says.
    fn private_directory(&self) -> io::Result<Box<dyn PrivateDirectory>>;

    /// Waits until this process alone may replace files in the directory of a path, for as long as
    /// the value lives.
    ///
    /// That holds among processes which ask for it, and the system ends it with the process.
    /// Another thread that asks waits as well, so who has the right must not ask for it again.
    ///
    /// # Errors
    /// `TimedOut` if another process keeps the right for too long; else what the system says. Where
    /// the system can give no such right, the value says so.
    fn exclusive(&self, path: &Path) -> io::Result<Exclusive>;

    /// Puts `new` in the place of `old`, in one atomic step or not at all.
    ///
    /// `old` is what was read before, `None` for no file. It is compared again just before the
    /// step, and [`Disk::exclusive`] is held from before the comparison until after the step. A link
    /// is followed: its target is replaced, and must exist. An existing file keeps its mode, a new
    /// one gets 0644 on Unix. Temporary files that an ended process left there are removed.
    ///
    /// # Errors
    /// What the system says; then the old file is as it was.
    fn replace(&self, path: &Path, old: Option<&[u8]>, new: &[u8]) -> io::Result<Replaced> {
        self.replace_held(&self.exclusive(path)?, Replacement { path, old, new })
    }

    /// Does what [`Disk::replace`] does, for a caller that has the right to write in this directory.
    ///
    /// # Errors
    /// As [`Disk::replace`].
    fn replace_held(&self, held: &Exclusive, file: Replacement<'_>) -> io::Result<Replaced>;

    /// Removes a file that holds `old`, the bytes that were read before.
    ///
    /// [`Disk::exclusive`] is held from before the comparison until after the removal. A link is
    /// removed, not what it leads to.
    ///
    /// # Errors
    /// What the system says; then the file is as it was.
    fn remove(&self, path: &Path, old: &[u8]) -> io::Result<Replaced>;

    /// Removes what ended processes left behind when they replaced the file, as [`Disk::replace`] does.
    ///
    /// What cannot be removed does no harm, so there is no error.
    fn sweep(&self, path: &Path);

    /// Makes a directory, and those above it that are missing; one that is there is left alone.
    ///
    /// # Errors
    /// What the system says; directories above may have been made.
    fn make_directory(&self, path: &Path) -> io::Result<()>;

    /// Makes an empty file that has no name and vanishes with the last use of it, however the
    /// process ends.
    ///
    /// # Errors
    /// What the system says.
    fn scratch(&self) -> io::Result<Box<dyn Scratch>>;

    /// Begins a file in a directory, which must be there.
    ///
    /// # Errors
    /// What the system says.
    fn draft(&self, dir: &Path) -> io::Result<Box<dyn DraftFile + '_>>;

    /// Begins a directory in a directory, which must be there.
    ///
    /// # Errors
    /// What the system says.
    fn draft_directory(&self, dir: &Path) -> io::Result<Box<dyn DraftDirectory + '_>>;

    /// Returns the bits of a file's mode that make it executable; where files have no mode, none.
    ///
    /// # Errors
    /// What the system says.
    fn executable(&self, path: &Path) -> io::Result<u32>;

    /// Removes a file, or a directory with all that is in it. A link is removed, not what it leads to.
    ///
    /// # Errors
    /// What the system says; a part of a directory may have been removed.
    fn delete(&self, path: &Path) -> io::Result<()>;

    /// Removes a directory that holds nothing; a link is none.
    ///
    /// # Errors
    /// What the system says; then the directory is as it was.
    fn remove_empty(&self, path: &Path) -> io::Result<()>;

    /// Keeps objects in a directory, which is made when the first one is put.
    ///
    /// Where files have owners, nothing is read or written unless the directory belongs to this user
    /// and is open to no other one, and is no link; the error of each operation says so.
    fn objects(&self, dir: &Path) -> Box<dyn Objects + '_>;
}

/// One of the standard streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Standard output, where results go.
    Stdout,
    /// Standard error, where progress and remarks go.
    Stderr,
}

/// The surroundings of the process: variables, working directory, terminal.
pub trait Env: Sync {
    /// Returns an environment variable, if it is set.
    fn var(&self, name: &str) -> Option<OsString>;

    /// Returns the names of all environment variables that begin so, sorted; names that are no
    /// text are left out.
    fn names(&self, prefix: &str) -> Vec<String>;

    /// Returns the working directory, as an absolute path.
    ///
    /// # Errors
    /// If it was removed, or is where this process may not look.
    fn current_dir(&self) -> io::Result<PathBuf>;

    /// Returns whether a stream goes to a terminal.
    fn terminal(&self, stream: Stream) -> bool;

    /// Reads standard input to its end.
    ///
    /// # Errors
    /// `FileTooLarge` if it has more than `limit` bytes; else what the system says.
    fn input(&self, limit: u64) -> io::Result<Vec<u8>>;

    /// Returns how many columns the terminal has that a stream goes to; `None` if it goes to none, or
    /// to one of unknown width.
    fn columns(&self, stream: Stream) -> Option<usize>;
}

/// An environment with another working directory, as for the files of a revision.
#[derive(Clone)]
pub struct EnvAt<'a> {
    /// The environment with everything else.
    pub env: &'a dyn Env,
    /// The working directory, as an absolute path.
    pub current_dir: PathBuf,
}

impl Env for EnvAt<'_> {
    fn var(&self, name: &str) -> Option<OsString> {
        self.env.var(name)
    }

    fn names(&self, prefix: &str) -> Vec<String> {
        self.env.names(prefix)
    }

    fn current_dir(&self) -> io::Result<PathBuf> {
        Ok(self.current_dir.clone())
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

/// Names a directory in a sentence.
#[must_use]
pub fn named(dir: &Path) -> String {
    if dir == Path::new(".") {
        "the working directory".to_owned()
    } else {
        dir.display().to_string()
    }
}

/// Resolves `.` and `..` by text alone.
#[must_use]
pub fn clean(path: &Path) -> PathBuf {
    let mut out = PathBuf::with_capacity(path.as_os_str().len());
    for part in path.components() {
        match part {
            Component::CurDir => {}
            // Above the root is the root, as for the system.
            Component::ParentDir => {
                out.pop();
            }
            other => out.push(other),
        }
    }
    out
}

/// Takes `.` and `..` out of a path by its text alone; a relative path may still begin with `..`.
#[must_use]
pub fn lexical(path: &Path) -> PathBuf {
    let mut out = PathBuf::with_capacity(path.as_os_str().len());
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if out.file_name().is_some() => {
                out.pop();
            }
            Component::ParentDir if out.has_root() => {}
            other => out.push(other),
        }
    }
    out
}

/// Returns the relative path from one directory to another, by their names alone.
#[must_use]
pub fn relative(from: &Path, to: &Path) -> String {
    let (from, to) = (clean(from), clean(to));
    let (mut a, mut b) = (from.components().peekable(), to.components().peekable());
    while a.peek().is_some() && a.peek() == b.peek() {
        a.next();
        b.next();
    }
    let ups = a.map(|_| "..".to_owned());
    let downs = b.map(|part| part.as_os_str().to_string_lossy().into_owned());
    let parts: Vec<String> = ups.chain(downs).collect();
    if parts.is_empty() {
        return ".".to_owned();
    }
    parts.join("/")
}
