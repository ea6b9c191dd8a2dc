//! In-memory doubles of the outside, for tests.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::io::{self, Cursor};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use super::{Clock, Credentials, Http, HttpError, HttpRequest, HttpResponse};
use super::{
    DirEntry, Disk, DraftDirectory, DraftFile, Env, Exclusive, FileKind, Files, ObjectSize,
    Objects, PrivateDirectory, ReadSeek, Replaced, Replacement, Scratch, Stream, clean,
};
use super::{Ended, Invocation, Run};

/// Writes a path with slashes, so that a test expects the same on every system.
#[must_use]
pub fn slashed(path: impl AsRef<Path>) -> String {
    let text = path.as_ref().display().to_string();
    if cfg!(windows) {
        return text.replace('\\', "/");
    }
    text
}

/// Files held in memory, by path; directories exist as soon as something is in them.
#[derive(Debug, Default)]
pub struct MemFiles {
    files: Mutex<BTreeMap<PathBuf, Vec<u8>>>,
    calls: AtomicUsize,
}

/// A clock that advances only when a caller sleeps, and then at once.
#[derive(Debug)]
pub struct MemClock {
    start: SystemTime,
    slept: Mutex<Vec<Duration>>,
}

/// Makes an answer up.
type Answering<'a> = dyn Fn(&HttpRequest<'_>) -> Result<HttpResponse, HttpError> + Sync + 'a;

/// A network whose answers a function makes up, with a record of what was asked.
pub struct MemHttp<'a> {
    answer: Box<Answering<'a>>,
    asked: Mutex<Vec<MemRequest>>,
}

/// A request as it was sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemRequest {
    /// The URL with its secrets.
    pub url: String,
    /// The credentials that were sent.
    pub credentials: Option<Credentials>,
    /// The header fields that were given.
    pub headers: Vec<(String, String)>,
}

/// Makes up how a program ended.
type Ending<'a> = dyn Fn(&Invocation<'_>) -> io::Result<Ended> + Sync + 'a;

/// Programs whose answers a function makes up, with a record of the arguments of each run.
pub struct MemRun<'a> {
    ending: Box<Ending<'a>>,
    ran: Mutex<Vec<Vec<OsString>>>,
}

/// An environment held in memory.
#[derive(Clone, Debug, Default)]
pub struct MemEnv {
    /// The environment variables by their names.
    pub vars: BTreeMap<String, OsString>,
    /// The working directory, from the top of all directories on.
    pub current_dir: PathBuf,
    /// The standard streams are terminals.
    pub terminal: bool,
    /// Width of the terminals, in columns.
    pub columns: Option<usize>,
    /// The bytes of standard input.
    pub input: Vec<u8>,
}

impl MemFiles {
    /// Makes a tree of text files.
    #[must_use]
    pub fn with(files: &[(&str, &str)]) -> Self {
        files.iter().copied().collect()
    }

    /// Returns the number of files that were read or looked up, and of directories that were listed.
    #[must_use]
    pub fn calls(&self) -> usize {
        self.calls.load(Ordering::Relaxed)
    }

    fn count(&self) {
        self.calls.fetch_add(1, Ordering::Relaxed);
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<PathBuf, Vec<u8>>> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<P: AsRef<str>, T: AsRef<str>> FromIterator<(P, T)> for MemFiles {
    fn from_iter<I: IntoIterator<Item = (P, T)>>(files: I) -> Self {
        let files = files
            .into_iter()
            .map(|(path, text)| (clean(Path::new(path.as_ref())), text.as_ref().into()))
            .collect();
        Self {
            files: Mutex::new(files),
            calls: AtomicUsize::new(0),
        }
    }
}

impl Files for MemFiles {
    fn read(&self, path: &Path, limit: u64) -> io::Result<Vec<u8>> {
        self.count();
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
        self.count();
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
        // There are no empty directories.
        if names.is_empty() {
            return Err(io::ErrorKind::NotFound.into());
        }
        Ok(names.into_iter().collect())
    }

    fn kind(&self, path: &Path) -> io::Result<FileKind> {
        if self.lock().contains_key(&clean(path)) {
            self.count();
            return Ok(FileKind::File);
        }
        self.list(path).map(|_| FileKind::Directory)
    }

    fn resolve(&self, path: &Path) -> io::Result<PathBuf> {
        self.kind(path).map(|_| clean(path))
    }
}

impl Disk for MemFiles {
    fn without_links(&self) -> &dyn Disk {
        self
    }

    /// There are no links.
    fn link(&self, _path: &Path) -> io::Result<Option<PathBuf>> {
        Ok(None)
    }

    /// Nothing is kept out: each step is atomic, since the map is locked.
    fn exclusive(&self, _path: &Path) -> io::Result<Exclusive> {
        Ok(Exclusive::held_by(()))
    }

    fn replace_held(&self, _held: &Exclusive, file: Replacement<'_>) -> io::Result<Replaced> {
        let (mut files, path) = (self.lock(), clean(file.path));
        if files.get(&path).map(Vec::as_slice) != file.old {
            return Ok(Replaced::Changed);
        }
        files.insert(path, file.new.to_vec());
        Ok(Replaced::Done)
    }

    fn remove(&self, path: &Path, old: &[u8]) -> io::Result<Replaced> {
        let mut files = self.lock();
        if files.get(&clean(path)).map(Vec::as_slice) != Some(old) {
            return Ok(Replaced::Changed);
        }
        files.remove(&clean(path));
        Ok(Replaced::Done)
    }

    /// Does nothing: each step is atomic.
    fn sweep(&self, _path: &Path) {}

    /// Does nothing: a directory is there as long as it holds a file.
    fn make_directory(&self, _path: &Path) -> io::Result<()> {
        Ok(())
    }

    fn scratch(&self) -> io::Result<Box<dyn Scratch>> {
        Ok(Box::new(Cursor::new(Vec::new())))
    }

    /// Programs see nothing of it, and what is written to it is forgotten.
    fn private_directory(&self) -> io::Result<Box<dyn PrivateDirectory>> {
        Ok(Box::new(MemPrivateDirectory))
    }

    /// No mirror is made in memory.
    fn draft(&self, _dir: &Path) -> io::Result<Box<dyn DraftFile + '_>> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// No mirror is made in memory.
    fn draft_directory(&self, _dir: &Path) -> io::Result<Box<dyn DraftDirectory + '_>> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Files have no mode.
    fn executable(&self, path: &Path) -> io::Result<u32> {
        self.kind(path).map(|_| 0)
    }

    fn delete(&self, path: &Path) -> io::Result<()> {
        self.kind(path)?;
        self.lock().retain(|file, _| !file.starts_with(clean(path)));
        Ok(())
    }

    /// There are no empty directories in memory.
    fn remove_empty(&self, path: &Path) -> io::Result<()> {
        self.kind(path)?;
        Err(io::ErrorKind::DirectoryNotEmpty.into())
    }

    fn objects(&self, dir: &Path) -> Box<dyn Objects + '_> {
        Box::new(MemObjects {
            files: self,
            dir: clean(dir),
        })
    }
}

/// A private directory that keeps nothing.
struct MemPrivateDirectory;

impl PrivateDirectory for MemPrivateDirectory {
    fn path(&self) -> &Path {
        Path::new("/private")
    }

    fn write(&self, _path: &Path, _bytes: &[u8]) -> io::Result<()> {
        Ok(())
    }

    fn make_directory(&self, _path: &Path) -> io::Result<()> {
        Ok(())
    }
}

/// Objects as files in memory.
struct MemObjects<'a> {
    files: &'a MemFiles,
    dir: PathBuf,
}

impl Objects for MemObjects<'_> {
    fn check(&self) -> io::Result<()> {
        Ok(())
    }

    fn get(&self, key: &str, limit: u64) -> io::Result<Option<Vec<u8>>> {
        match self.files.read(&self.dir.join(key), limit) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            read => read.map(Some),
        }
    }

    fn put(&self, key: &str, bytes: &[u8]) -> io::Result<()> {
        self.files.lock().insert(self.dir.join(key), bytes.to_vec());
        Ok(())
    }

    /// When an object was put is not kept.
    fn measure(&self, above: &str) -> io::Result<Vec<ObjectSize>> {
        let files = self.files.lock();
        let found = files
            .iter()
            .filter(|(path, _)| path.starts_with(self.dir.join(above)))
            .filter_map(|(path, content)| {
                Some(ObjectSize {
                    key: slashed(path.strip_prefix(&self.dir).ok()?),
                    bytes: content.len() as u64,
                    written: SystemTime::UNIX_EPOCH,
                })
            });
        Ok(found.collect())
    }

    fn remove(&self, key: &str) -> io::Result<()> {
        self.files.lock().remove(&self.dir.join(key));
        Ok(())
    }
}

impl Default for MemClock {
    fn default() -> Self {
        Self::at(SystemTime::UNIX_EPOCH)
    }
}

impl MemClock {
    /// Makes a clock that starts at a time.
    #[must_use]
    pub fn at(start: SystemTime) -> Self {
        Self {
            start,
            slept: Mutex::default(),
        }
    }

    /// Returns how long callers slept, each time.
    #[must_use]
    pub fn slept(&self) -> Vec<Duration> {
        locked(&self.slept).clone()
    }
}

impl Clock for MemClock {
    fn now(&self) -> SystemTime {
        self.start + locked(&self.slept).iter().sum::<Duration>()
    }

    fn sleep(&self, duration: Duration) {
        locked(&self.slept).push(duration);
    }
}

impl<'a> MemHttp<'a> {
    /// Makes a network whose answers a function makes up.
    #[must_use]
    pub fn new(
        answer: impl Fn(&HttpRequest<'_>) -> Result<HttpResponse, HttpError> + Sync + 'a,
    ) -> Self {
        Self {
            answer: Box::new(answer),
            asked: Mutex::default(),
        }
    }

    /// Makes a network without any server.
    #[must_use]
    pub fn unreachable() -> Self {
        Self::new(|_| {
            Err(HttpError::Connect {
                reason: "there is no network here".to_owned(),
                proxy: None,
            })
        })
    }

    /// Returns everything that was asked, in order.
    #[must_use]
    pub fn asked(&self) -> Vec<MemRequest> {
        locked(&self.asked).clone()
    }
}

impl Http for MemHttp<'_> {
    fn get(&self, request: &HttpRequest<'_>) -> Result<HttpResponse, HttpError> {
        let headers = request.headers.iter();
        locked(&self.asked).push(MemRequest {
            url: request.url.secret_text().to_owned(),
            credentials: request.credentials.cloned(),
            headers: headers
                .map(|(n, v)| ((*n).to_owned(), (*v).to_owned()))
                .collect(),
        });
        (self.answer)(request)
    }
}

impl<'a> MemRun<'a> {
    /// Makes programs whose answers a function makes up.
    #[must_use]
    pub fn new(ending: impl Fn(&Invocation<'_>) -> io::Result<Ended> + Sync + 'a) -> Self {
        Self {
            ending: Box::new(ending),
            ran: Mutex::default(),
        }
    }

    /// Makes a machine without any program.
    #[must_use]
    pub fn nothing() -> Self {
        Self::new(|_| Err(io::ErrorKind::NotFound.into()))
    }

    /// Returns the arguments of everything that was run, in order.
    #[must_use]
    pub fn ran(&self) -> Vec<Vec<OsString>> {
        locked(&self.ran).clone()
    }
}

impl Run for MemRun<'_> {
    fn run(&self, invocation: &Invocation<'_>) -> io::Result<Ended> {
        locked(&self.ran).push(invocation.args.to_vec());
        (self.ending)(invocation)
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Env for MemEnv {
    fn names(&self, prefix: &str) -> Vec<String> {
        self.vars
            .keys()
            .filter(|name| name.starts_with(prefix))
            .cloned()
            .collect()
    }

    fn var(&self, name: &str) -> Option<OsString> {
        self.vars.get(name).cloned()
    }

    fn current_dir(&self) -> io::Result<PathBuf> {
        Ok(Path::new("/").join(&self.current_dir))
    }

    fn terminal(&self, _stream: Stream) -> bool {
        self.terminal
    }

    fn input(&self, limit: u64) -> io::Result<Vec<u8>> {
        if self.input.len() as u64 > limit {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        Ok(self.input.clone())
    }

    fn columns(&self, stream: Stream) -> Option<usize> {
        self.columns.filter(|_| self.terminal(stream))
    }
}
