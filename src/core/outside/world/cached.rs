//! A disk whose directories are listed once in a run.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::{self, ErrorKind};
use std::path::{Component, Path, PathBuf, is_separator};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::listing::{AbsentName, CachedListing};
use super::memo::{DirectoryMemo, RunMemo};
use super::{
    DirEntry, Disk, DraftDirectory, DraftFile, Exclusive, FileKind, Files, Objects,
    PrivateDirectory, ReadSeek, Replaced, Replacement, Scratch,
};

/// Number of names that are remembered; with about 120 bytes for each, that is 60 MB. Later ones are looked
/// up each time.
const MAX_NAMES: usize = 500_000;

/// A disk that remembers which names its directories hold.
///
/// A search through thousands of directories asks for the same parents, and for dozens of names that do
/// not exist, in each of them. Once a directory was listed, such a question needs no system call.
/// The content of files is never remembered, but what readers made of it is, until a file is written. What is written by way of this disk is forgotten first, and
/// nothing is remembered of private directories, which other programs fill.
pub struct CachedDisk<'a> {
    disk: &'a dyn Disk,
    /// The working directory, which has no links in it.
    current: PathBuf,
    memory: Mutex<Memory>,
}

#[derive(Default)]
struct Memory {
    /// By absolute path, as bytes: to compare paths part by part takes ten times as long.
    dirs: BTreeMap<OsString, KnownDirectory>,
    /// Number of names in `dirs`, and of paths in `resolved`.
    names: usize,
    /// Directories that are never cached.
    private: Vec<PathBuf>,
    /// The values that readers made of directories, by absolute path.
    memos: BTreeMap<OsString, DirectoryMemo>,
    /// The paths without links, by absolute path.
    resolved: BTreeMap<OsString, PathBuf>,
    run: Arc<RunMemo>,
}

/// The answers that were given about a directory and the names in it.
#[derive(Default)]
struct KnownDirectory {
    listed: Option<CachedListing>,
    kinds: BTreeMap<OsString, Result<FileKind, AbsentName>>,
}

/// A path as its directory and its name, both without `.` and `..`.
struct PathKey {
    dir: PathBuf,
    name: OsString,
}

impl<'a> CachedDisk<'a> {
    /// Remembers what `disk` answers; relative paths start from `current`, an absolute path without links.
    #[must_use]
    pub fn new(disk: &'a dyn Disk, current: PathBuf) -> Self {
        Self {
            disk,
            current,
            memory: Mutex::default(),
        }
    }

    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the answer about a path that is known already.
    fn known(&self, path: &Path) -> Option<Result<FileKind, AbsentName>> {
        let memory = self.memory();
        let location = memory.locate(&self.current, path)?;
        memory.kind(&location)
    }

    /// Remembers the kind of a path, or that it is missing; other errors are asked for again.
    fn remember(&self, path: &Path, kind: Result<FileKind, &io::Error>) {
        let answer = match kind {
            Ok(kind) => Ok(kind),
            Err(error) if error.kind() == ErrorKind::NotFound => Err(AbsentName),
            Err(_) => return,
        };
        let mut memory = self.memory();
        if let Some(location) = memory.locate(&self.current, path)
            && memory.reserve(1)
        {
            let known = memory
                .dirs
                .entry(location.dir.into_os_string())
                .or_default();
            known.kinds.insert(location.name, answer);
        }
    }

    /// Returns the error of a file that is known not to exist.
    fn refuse_missing(&self, path: &Path) -> io::Result<()> {
        match self.known(path) {
            Some(Err(absent)) => Err(absent.into()),
            _ => Ok(()),
        }
    }

    /// Forgets all answers, because a file is written, or another process may have written one.
    ///
    /// What was made of a module may depend on files of any directory, and a link may take the place of any part of a
    /// path. Files are written when most directories have been read.
    fn forget(&self) {
        let mut memory = self.memory();
        *memory = Memory {
            private: std::mem::take(&mut memory.private),
            run: Arc::clone(&memory.run),
            ..Memory::default()
        };
    }
}

impl Memory {
    /// Makes one key of all spellings of a path. Returns nothing if links could give it another meaning, or
    /// nothing may be remembered of it.
    fn locate(&self, current: &Path, path: &Path) -> Option<PathKey> {
        let bytes = path.as_os_str().as_encoded_bytes();
        // The system refuses an empty path, and takes the others for directories.
        if bytes.is_empty() || bytes.ends_with(b"/") || bytes.ends_with(b"/.") {
            return None;
        }
        let start = if path.is_absolute() {
            Path::new("")
        } else {
            current
        };
        // Every question comes here, and a path that grows part by part is allocated several times.
        let mut dir = PathBuf::with_capacity(start.as_os_str().len() + 1 + bytes.len());
        dir.push(start);
        for part in path.components() {
            match part {
                Component::CurDir => {}
                Component::ParentDir => {
                    // `link/..` is the parent of what the link leads to. Nothing above the working
                    // directory is a link, so there the text alone decides.
                    if !is_above(&dir, current) && !self.is_listed_directory(&dir) {
                        return None;
                    }
                    dir.pop();
                }
                Component::Normal(_) | Component::RootDir | Component::Prefix(_) => dir.push(part),
            }
        }
        if self.private.iter().any(|private| dir.starts_with(private)) {
            return None;
        }
        let name = dir.file_name()?.to_owned();
        dir.pop();
        Some(PathKey { dir, name })
    }

    fn is_listed_directory(&self, path: &Path) -> bool {
        let (Some(dir), Some(name)) = (path.parent(), path.file_name()) else {
            return false;
        };
        let known = self.dirs.get(dir.as_os_str());
        let listing = known.and_then(|known| known.listed.as_ref());
        listing.is_some_and(|listing| listing.find(name) == Some(Ok(FileKind::Directory)))
    }

    fn kind(&self, location: &PathKey) -> Option<Result<FileKind, AbsentName>> {
        let PathKey { dir, name } = location;
        if let Some(answer) = self
            .dirs
            .get(dir.as_os_str())
            .and_then(|known| known.of(name))
        {
            return Some(answer);
        }
        // In a directory that does not exist there is nothing.
        for below in dir.ancestors() {
            let (parent, name) = (below.parent()?, below.file_name()?);
            let known = self.dirs.get(parent.as_os_str());
            match known.and_then(|known| known.of(name)) {
                Some(Err(absent)) => return Some(Err(absent)),
                // A directory above that exists says nothing about what is in it.
                Some(Ok(_)) => return None,
                None => {}
            }
        }
        None
    }

    /// Returns true if so many more names may be remembered, and counts them.
    fn reserve(&mut self, names: usize) -> bool {
        // All names of a listing or none: half of one would make the others look absent.
        let total = self.names + names;
        let is_within = total <= MAX_NAMES;
        if is_within {
            self.names = total;
        }
        is_within
    }
}

/// Returns true if one path leads through the other, or is the same; both have no `.` and `..`. By bytes, because to
/// compare part by part takes twenty times as long.
fn is_above(dir: &Path, below: &Path) -> bool {
    let dir = dir.as_os_str().as_encoded_bytes();
    let rest = below.as_os_str().as_encoded_bytes().strip_prefix(dir);
    rest.is_some_and(|rest| {
        let ends = |bytes: Option<&u8>| bytes.is_some_and(|byte| is_separator(char::from(*byte)));
        rest.is_empty() || ends(rest.first()) || ends(dir.last())
    })
}

impl KnownDirectory {
    fn of(&self, name: &OsStr) -> Option<Result<FileKind, AbsentName>> {
        let listed = self.listed.as_ref().and_then(|listing| listing.find(name));
        listed.or_else(|| self.kinds.get(name).copied())
    }
}

impl Files for CachedDisk<'_> {
    fn read(&self, path: &Path, limit: u64) -> io::Result<Vec<u8>> {
        self.refuse_missing(path)?;
        // The content is read each time: a user may edit a file while a command asks registries.
        let bytes = self.disk.read(path, limit);
        if let Err(error) = &bytes {
            self.remember(path, Err(error));
        }
        bytes
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn ReadSeek>> {
        self.refuse_missing(path)?;
        self.disk.open(path)
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<DirEntry>> {
        // The memory is not locked while the disk lists, so that other threads go on meanwhile.
        let location = {
            let memory = self.memory();
            let location = memory.locate(&self.current, dir);
            if let Some(location) = &location {
                let path = location.dir.join(&location.name);
                let known = memory.dirs.get(path.as_os_str());
                if let Some(listing) = known.and_then(|known| known.listed.as_ref()) {
                    let entries = Arc::clone(&listing.entries);
                    drop(memory);
                    return Ok(entries.to_vec());
                }
                // Each root is asked for directories that most roots do not have, as `.terraform/modules`.
                if let Some(Err(absent)) = memory.kind(location) {
                    return Err(absent.into());
                }
            }
            location
        };
        let listed = self.disk.list(dir);
        let Some(location) = location else {
            return listed;
        };
        let entries = listed.inspect_err(|error| self.remember(dir, Err(error)))?;
        // A directory may be readable and yet refuse every name in it. Any one of its names shows that;
        // where it is empty, `.` does.
        let probe = entries.first().map_or(OsStr::new("."), |entry| &entry.name);
        let probed = self.disk.kind(&dir.join(probe));
        let is_refused = probed.is_err_and(|error| error.kind() == ErrorKind::PermissionDenied);
        let mut memory = self.memory();
        // Beyond the limit nothing more is remembered, and every question goes to the disk.
        if memory.reserve(entries.len()) {
            let path = location.dir.join(&location.name);
            let listing = CachedListing::new(entries.clone(), !is_refused);
            memory.dirs.entry(path.into_os_string()).or_default().listed = Some(listing);
        }
        Ok(entries)
    }

    fn kind(&self, path: &Path) -> io::Result<FileKind> {
        if let Some(answer) = self.known(path) {
            return Ok(answer?);
        }
        let kind = self.disk.kind(path);
        self.remember(path, kind.as_ref().copied());
        kind
    }

    fn resolve(&self, path: &Path) -> io::Result<PathBuf> {
        // The path to a shared module is spelled anew by each root: `live/r7/../../modules/m`.
        let Some(location) = self.memory().locate(&self.current, path) else {
            return self.disk.resolve(path);
        };
        let place = location.dir.join(&location.name).into_os_string();
        if let Some(resolved) = self.memory().resolved.get(&place) {
            return Ok(resolved.clone());
        }
        let resolved = self.disk.resolve(path)?;
        let mut memory = self.memory();
        if memory.reserve(1) {
            memory.resolved.insert(place, resolved.clone());
        }
        Ok(resolved)
    }

    fn shown(&self, path: &Path) -> String {
        self.disk.shown(path)
    }

    fn memo(&self, dir: &Path) -> Option<DirectoryMemo> {
        let location = self.memory().locate(&self.current, dir);
        // Behind a link, or `..` in a directory that was not listed, the system knows which directory it is.
        let path = match location {
            Some(location) => location.dir.join(&location.name),
            None => self.disk.resolve(dir).ok()?,
        };
        let mut memory = self.memory();
        if memory
            .private
            .iter()
            .any(|private| path.starts_with(private))
        {
            return None;
        }
        let path = path.into_os_string();
        let Memory { memos, run, .. } = &mut *memory;
        let memo = memos
            .entry(path)
            .or_insert_with_key(|path| DirectoryMemo::new(run, path.as_encoded_bytes()));
        Some(memo.clone())
    }
}

impl Disk for CachedDisk<'_> {
    /// A caller that asks for this guards against links which appear meanwhile, so nothing is remembered.
    fn without_links(&self) -> &dyn Disk {
        self.disk.without_links()
    }

    fn link(&self, path: &Path) -> io::Result<Option<PathBuf>> {
        self.disk.link(path)
    }

    fn private_directory(&self) -> io::Result<Box<dyn PrivateDirectory>> {
        let made = self.disk.private_directory()?;
        // On macOS the directory for temporary files is behind a link, and git prints the path without it.
        let resolved = self.disk.resolve(made.path()).ok();
        let mut memory = self.memory();
        memory.private.push(made.path().to_owned());
        memory.private.extend(resolved);
        Ok(made)
    }

    fn exclusive(&self, path: &Path) -> io::Result<Exclusive> {
        let held = self.disk.exclusive(path);
        // The process that held the right before may have made or removed the file.
        self.forget();
        held
    }

    fn replace_held(&self, held: &Exclusive, file: Replacement<'_>) -> io::Result<Replaced> {
        // Forgotten behind the step and not before: another thread may list the directory in between.
        let replaced = self.disk.replace_held(held, file);
        self.forget();
        replaced
    }

    fn remove(&self, path: &Path, old: &[u8]) -> io::Result<Replaced> {
        let removed = self.disk.remove(path, old);
        self.forget();
        removed
    }

    fn sweep(&self, path: &Path) {
        self.disk.sweep(path);
        self.forget();
    }

    fn make_directory(&self, path: &Path) -> io::Result<()> {
        let made = self.disk.make_directory(path);
        self.forget();
        made
    }

    fn scratch(&self) -> io::Result<Box<dyn Scratch>> {
        self.disk.scratch()
    }

    /// Nothing is known of the directory from then on: the file gets its name without this disk's knowledge.
    fn draft(&self, dir: &Path) -> io::Result<Box<dyn DraftFile + '_>> {
        self.memory().private.push(self.current.join(dir));
        self.disk.draft(dir)
    }

    /// The directory is not cached from then on, as for [`Disk::draft`].
    fn draft_directory(&self, dir: &Path) -> io::Result<Box<dyn DraftDirectory + '_>> {
        self.memory().private.push(self.current.join(dir));
        self.disk.draft_directory(dir)
    }

    fn executable(&self, path: &Path) -> io::Result<u32> {
        self.disk.executable(path)
    }

    fn delete(&self, path: &Path) -> io::Result<()> {
        let deleted = self.disk.delete(path);
        self.forget();
        deleted
    }

    fn remove_empty(&self, path: &Path) -> io::Result<()> {
        let removed = self.disk.remove_empty(path);
        self.forget();
        removed
    }

    fn objects(&self, dir: &Path) -> Box<dyn Objects + '_> {
        // Objects are put and removed without this disk's knowledge.
        let mut memory = self.memory();
        let dir_path = self.current.join(dir);
        if !memory.private.contains(&dir_path) {
            memory.private.push(dir_path);
        }
        drop(memory);
        self.disk.objects(dir)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::mem::MemFiles;
    use crate::world::{Confined, is_outside};

    /// Counts the questions that reach the disk.
    #[cfg(not(windows))]
    #[track_caller]
    fn check(files: &MemFiles, calls: usize, ask: impl FnOnce()) {
        let before = files.calls();
        ask();
        assert_eq!(files.calls() - before, calls);
    }

    #[test]
    fn a_path_is_above_another_by_whole_names() {
        let above = |dir: &str, below: &str| is_above(Path::new(dir), Path::new(below));
        assert!(above("/a", "/a/b") && above("/a", "/a") && above("/", "/a"));
        assert!(!above("/a", "/ab") && !above("/a/b", "/a") && !above("/b", "/a/b"));
    }

    // On Windows a listing does not have every name that leads to a file.
    #[cfg(not(windows))]
    #[test]
    fn names_of_a_listed_directory_are_not_looked_up() {
        let files = MemFiles::with(&[("/top/a/main.tf", "x"), ("/top/a/Other", "")]);
        let disk = CachedDisk::new(&files, "/top".into());
        // One call lists, one finds out whether the directory can be entered.
        check(&files, 2, || {
            drop(disk.list(Path::new("/top/a")).expect("listed"))
        });
        check(&files, 0, || {
            assert_eq!(disk.list(Path::new("a")).expect("listed").len(), 2);
            let kind = |path: &str| disk.kind(Path::new(path)).map_err(|error| error.kind());
            assert_eq!(kind("a/main.tf"), Ok(FileKind::File));
            for missing in ["a/x", "/top/a/x", "./a/./x", "a/x/y/z", "../top/a/x"] {
                assert_eq!(kind(missing), Err(ErrorKind::NotFound), "{missing}");
                assert!(disk.read(Path::new(missing), 1).is_err());
                assert!(disk.open(Path::new(missing)).is_err());
            }
        });
        // Where case does not count, this is the file `Other`.
        let other = Path::new("/top/a/other");
        check(&files, 1, || assert!(disk.kind(other).is_err()));
        check(&files, 0, || assert!(disk.kind(other).is_err()));
        let file = Path::new("/top/a/main.tf");
        check(&files, 1, || assert!(disk.read(file, 9).is_ok()));
    }

    #[cfg(not(windows))]
    #[test]
    fn one_directory_is_resolved_once_for_all_its_spellings() {
        let files = MemFiles::with(&[("/top/live/a/main.tf", ""), ("/top/live/b/main.tf", "")]);
        files
            .replace(Path::new("/top/m/main.tf"), None, b"")
            .expect("written");
        let disk = CachedDisk::new(&files, "/top".into());
        for dir in ["/top", "/top/live"] {
            drop(disk.list(Path::new(dir)).expect("listed"));
        }
        let resolve = |path: &str| disk.resolve(Path::new(path)).expect("resolved");
        check(&files, 1, || {
            for spelling in ["/top/live/a/../../m", "/top/live/b/../../m", "/top/./m"] {
                assert_eq!(resolve(spelling), Path::new("/top/m"), "{spelling}");
            }
        });
        // What is written may be a link.
        let link = Path::new("/top/m/new");
        assert_eq!(
            disk.replace(link, None, b"").expect("written"),
            Replaced::Done
        );
        check(&files, 1, || {
            assert_eq!(resolve("/top/m"), Path::new("/top/m"))
        });
    }

    #[test]
    fn what_is_written_is_seen() {
        let files = MemFiles::with(&[("/top/a/main.tf", "x")]);
        let disk = CachedDisk::new(&files, "/top".into());
        let (path, new) = (Path::new("/top/a/lock"), Path::new("/top/b/c/d"));
        assert!(disk.list(Path::new("/top/a")).is_ok() && disk.kind(path).is_err());
        assert!(disk.list(new).is_err() && disk.kind(Path::new("/top/b")).is_err());
        assert_eq!(
            disk.replace(path, None, b"1").expect("written"),
            Replaced::Done
        );
        assert_eq!(disk.read(path, 9).expect("read"), b"1");
        assert_eq!(disk.list(Path::new("/top/a")).expect("listed").len(), 2);
        assert_eq!(disk.remove(path, b"1").expect("removed"), Replaced::Done);
        assert!(disk.kind(path).is_err());
        files
            .replace(Path::new("/top/b/c/d/e"), None, b"")
            .expect("written");
        disk.make_directory(new).expect("made");
        assert_eq!(disk.list(new).expect("listed").len(), 1);
        assert!(disk.kind(Path::new("/top/b")).is_ok());
    }

    #[test]
    fn errors_that_hold_a_reason_are_asked_for_again() {
        let files = MemFiles::with(&[("/top/a/b/main.tf", "x")]);
        let confined = Confined::new(&files, "/top/a".into(), Path::new("/top/a"), &[]);
        let confined = confined.expect("confined");
        let disk = CachedDisk::new(&confined, "/top/a".into());
        for _ in 0..2 {
            let error = disk.kind(Path::new("../x")).expect_err("outside");
            assert!(is_outside(&error));
        }
        assert_eq!(disk.list(Path::new("b")).expect("listed").len(), 1);
    }
}
