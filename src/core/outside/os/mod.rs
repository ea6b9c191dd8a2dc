//! The real world. Only this room names `std::fs`, `std::env` and `std::process::Command`.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "the one place where the traits of `world` meet the system"
)]

#[cfg(not(unix))]
mod draft;
#[cfg(unix)]
mod draft_directory;
mod exclusive;
#[cfg(unix)]
mod link_free;
#[cfg(unix)]
mod objects;
#[cfg(any(not(unix), test))]
mod objects_by_path;
mod panics;
mod private;
mod run;
#[cfg(test)]
mod tests;
#[cfg(all(test, windows))]
mod tests_windows;
mod unfinished;

use std::ffi::OsString;
use std::fs::{self, File, Metadata};
use std::io::{self, IsTerminal, Read, Write};
use std::iter;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use tempfile::{NamedTempFile, PersistError};
use terminal_size::terminal_size_of;

use exclusive::{TEMPORARY_LETTERS, TEMPORARY_PREFIX};
pub use panics::announce_panics;
pub use run::RealRun;
use unfinished::TemporaryMark;
pub use unfinished::{undo, watch_with};

use crate::world::{
    Clock, DirEntry, Disk, DraftDirectory, DraftFile, Env, Exclusive, FileKind, Files, Objects,
    PrivateDirectory, ReadSeek, Replaced, Replacement, Scratch, Stream,
};

/// The files of this machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct RealDisk;

/// The environment of this process.
#[derive(Clone, Copy, Debug, Default)]
pub struct RealEnv;

/// The clock of this machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct RealClock;

/// Returns the command line of this process, the name of the program first.
pub fn args() -> impl Iterator<Item = OsString> {
    std::env::args_os()
}

/// The directory for objects that are being written and have no name yet.
const NEW_OBJECTS: &str = "new";

/// Maximum number of words in the key of an object.
const MAX_KEY_WORDS: usize = 8;

/// A finished file is renamed again this often before a refusal counts.
const MORE_RENAMES: usize = if cfg!(windows) { 100 } else { 0 };

/// The time between two attempts to rename a file.
const RENAME_PAUSE: Duration = Duration::from_millis(10);

impl Files for RealDisk {
    fn read(&self, path: &Path, limit: u64) -> io::Result<Vec<u8>> {
        let (file, metadata) = open_regular(path)?;
        read_regular(file, metadata.len(), limit)
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn ReadSeek>> {
        Ok(Box::new(open_regular(path)?.0))
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<DirEntry>> {
        let mut entries = Vec::new();
        for entry in fs::read_dir(dir)? {
            let entry = entry?;
            let kind = kind_of(entry.file_type()?);
            entries.push(DirEntry {
                name: entry.file_name(),
                kind,
            });
        }
        // Systems list in different orders; output must not depend on that.
        entries.sort_by(|a, b| a.name.as_encoded_bytes().cmp(b.name.as_encoded_bytes()));
        Ok(entries)
    }

    fn kind(&self, path: &Path) -> io::Result<FileKind> {
        Ok(kind_of(fs::metadata(path)?.file_type()))
    }

    fn resolve(&self, path: &Path) -> io::Result<PathBuf> {
        fs::canonicalize(path)
    }
}

/// Reads a file that was opened without waiting.
fn read_regular(file: File, expected: u64, limit: u64) -> io::Result<Vec<u8>> {
    read_limited(file, expected, limit).map_err(|error| match error.kind() {
        // `/proc/kmsg` and `trace_pipe` are regular files by their mode, and have bytes only later, if ever.
        io::ErrorKind::WouldBlock => not_regular(),
        _ => error,
    })
}

/// Reads everything, unless it is more than `limit` bytes.
fn read_limited(from: impl Read, expected: u64, limit: u64) -> io::Result<Vec<u8>> {
    // A file that grows meanwhile is read to its end all the same.
    let expected = expected.min(limit).saturating_add(1);
    let mut bytes = Vec::with_capacity(usize::try_from(expected).unwrap_or(0));
    from.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    Ok(bytes)
}

impl Disk for RealDisk {
    #[cfg(unix)]
    fn without_links(&self) -> &dyn Disk {
        &link_free::LinkFreeDisk
    }

    /// Windows opens nothing relative to an open directory by way of the standard library, and
    /// `cap-std`, which can, needs ten crates more. Links are rare there: to make one needs a
    /// privilege. So a link that appears in the wrong moment is followed.
    #[cfg(not(unix))]
    fn without_links(&self) -> &dyn Disk {
        self
    }

    fn link(&self, path: &Path) -> io::Result<Option<PathBuf>> {
        use io::ErrorKind::{NotADirectory, NotFound};
        match fs::symlink_metadata(path) {
            Ok(metadata) if metadata.is_symlink() => fs::read_link(path).map(Some),
            Ok(_) => Ok(None),
            Err(error) if [NotFound, NotADirectory].contains(&error.kind()) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn exclusive(&self, path: &Path) -> io::Result<Exclusive> {
        exclusive::of_directory(directory_of(&follow_links(path)?))
    }

    fn replace_held(&self, held: &Exclusive, file: Replacement<'_>) -> io::Result<Replaced> {
        let Replacement { path, old, new } = file;
        let target = follow_links(path)?;
        let dir = directory_of(&target);
        if held.is_held() {
            remove_orphans(dir);
        }
        // In the same directory: a rename to another file system would be a copy, which is not atomic.
        let (_mark, mut temporary) = temporary_in(dir)?;
        // Where that fails no other run removes the file, either.
        temporary.as_file().try_lock().ok();
        temporary.write_all(new)?;
        // `tempfile` makes files with mode 0600. The mode is set before the rename, so that a reader of
        // another user never meets a file that it may not read.
        let old_permissions =
            absent_as_none(fs::metadata(&target))?.map(|metadata| metadata.permissions());
        if let Some(permissions) = old_permissions.or_else(new_permissions) {
            temporary.as_file().set_permissions(permissions)?;
        }
        // Some file systems write the rename to the disk before the content: after a loss of power the
        // file would be empty.
        temporary.as_file().sync_all()?;
        if current(&target, old.map_or(0, <[u8]>::len))?.as_deref() != old {
            return Ok(Replaced::Changed);
        }
        // On Windows no other process could read the file as long as it is locked.
        temporary.as_file().unlock().ok();
        let renamed = unfinished::replace(|| match old {
            Some(_) => patiently(temporary, |file| file.persist(&target)),
            // A program that asks for no lock may have made the file since the comparison.
            None => patiently(temporary, |file| file.persist_noclobber(&target)),
        });
        match renamed {
            Ok(_) => {
                // Under the right to write, no other lockctl can have written since.
                if held.is_held() {
                    Ok(Replaced::Done)
                } else {
                    Ok(written_or_changed(current(&target, new.len())?, new))
                }
            }
            Err(failed) if failed.error.kind() == io::ErrorKind::AlreadyExists => {
                Ok(Replaced::Changed)
            }
            Err(failed) => Err(failed.error),
        }
    }

    fn remove(&self, path: &Path, old: &[u8]) -> io::Result<Replaced> {
        // Held until the end of the function: between comparison and removal no other lockctl may write.
        let _held = exclusive::of_directory(directory_of(path))?;
        if current(path, old.len())?.as_deref() != Some(old) {
            return Ok(Replaced::Changed);
        }
        fs::remove_file(path)?;
        Ok(Replaced::Done)
    }

    fn sweep(&self, path: &Path) {
        let Ok(target) = follow_links(path) else {
            return;
        };
        let dir = directory_of(&target);
        let entries = self.list(dir).unwrap_or_default();
        // As a rule there is nothing to do, and nothing to wait for.
        if entries
            .iter()
            .any(|entry| exclusive::is_temporary(&entry.name))
            && exclusive::of_directory(dir).is_ok_and(|held| held.is_held())
        {
            remove_orphans(dir);
        }
    }

    fn make_directory(&self, path: &Path) -> io::Result<()> {
        fs::create_dir_all(path)
    }

    fn scratch(&self) -> io::Result<Box<dyn Scratch>> {
        let file = tempfile::tempfile().map_err(|error| {
            let dir = std::env::temp_dir();
            let text = format!(
                "no temporary file can be made in {}: {}",
                dir.display(),
                error.kind()
            );
            io::Error::new(error.kind(), text)
        })?;
        Ok(Box::new(file))
    }

    #[cfg(unix)]
    fn draft(&self, dir: &Path) -> io::Result<Box<dyn DraftFile + '_>> {
        link_free::LinkFreeDisk.draft(&fs::canonicalize(dir)?)
    }

    #[cfg(not(unix))]
    fn draft(&self, dir: &Path) -> io::Result<Box<dyn DraftFile + '_>> {
        let _held = exclusive::of_directory(dir)?;
        let (mark, file) = temporary_in(dir)?;
        file.as_file().try_lock().ok();
        Ok(Box::new(draft::NamedDraft { file, mark }))
    }

    #[cfg(unix)]
    fn draft_directory(&self, dir: &Path) -> io::Result<Box<dyn DraftDirectory + '_>> {
        link_free::LinkFreeDisk.draft_directory(&fs::canonicalize(dir)?)
    }

    #[cfg(not(unix))]
    fn draft_directory(&self, dir: &Path) -> io::Result<Box<dyn DraftDirectory + '_>> {
        let _held = exclusive::of_directory(dir)?;
        Ok(Box::new(draft::NamedDirectory::make(dir)?))
    }

    #[cfg(unix)]
    fn executable(&self, path: &Path) -> io::Result<u32> {
        use std::os::unix::fs::PermissionsExt as _;
        Ok(fs::metadata(path)?.permissions().mode() & link_free::EXECUTABLE)
    }

    #[cfg(not(unix))]
    fn executable(&self, path: &Path) -> io::Result<u32> {
        fs::metadata(path).map(|_| 0)
    }

    fn delete(&self, path: &Path) -> io::Result<()> {
        if fs::symlink_metadata(path)?.is_dir() {
            fs::remove_dir_all(path)
        } else {
            fs::remove_file(path)
        }
    }

    fn remove_empty(&self, path: &Path) -> io::Result<()> {
        fs::remove_dir(path)
    }

    fn private_directory(&self) -> io::Result<Box<dyn PrivateDirectory>> {
        private::make().map(|made| Box::new(made) as Box<dyn PrivateDirectory>)
    }

    #[cfg(unix)]
    fn objects(&self, dir: &Path) -> Box<dyn Objects + '_> {
        Box::new(objects::DirectoryObjects::new(dir))
    }

    #[cfg(not(unix))]
    fn objects(&self, dir: &Path) -> Box<dyn Objects + '_> {
        Box::new(objects_by_path::DirectoryObjects::new(dir))
    }
}

impl Env for RealEnv {
    fn names(&self, prefix: &str) -> Vec<String> {
        let mut names: Vec<String> = std::env::vars_os()
            .filter_map(|(name, _)| name.into_string().ok())
            .filter(|name| name.starts_with(prefix))
            .collect();
        names.sort();
        names
    }

    fn var(&self, name: &str) -> Option<OsString> {
        std::env::var_os(name)
    }

    fn current_dir(&self) -> io::Result<PathBuf> {
        std::env::current_dir()
    }

    fn terminal(&self, stream: Stream) -> bool {
        match stream {
            Stream::Stdout => io::stdout().is_terminal(),
            Stream::Stderr => io::stderr().is_terminal(),
        }
    }

    fn input(&self, limit: u64) -> io::Result<Vec<u8>> {
        read_limited(io::stdin().lock(), 0, limit)
    }

    fn columns(&self, stream: Stream) -> Option<usize> {
        let size = match stream {
            Stream::Stdout => terminal_size_of(io::stdout()),
            Stream::Stderr => terminal_size_of(io::stderr()),
        };
        let (columns, _) = size?;
        Some(usize::from(columns.0))
    }
}

impl Clock for RealClock {
    fn now(&self) -> SystemTime {
        SystemTime::now()
    }

    fn sleep(&self, duration: Duration) {
        std::thread::sleep(duration);
    }
}

/// Makes the error of something that is there and may not be used.
fn refused(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, why.to_owned())
}

/// Turns the error of a missing file into `None`.
fn absent_as_none<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Returns the directory that a file is in.
fn directory_of(path: &Path) -> &Path {
    match path.parent() {
        Some(dir) if !dir.as_os_str().is_empty() => dir,
        _ => Path::new("."),
    }
}

/// Removes temporary files of processes that have ended; what cannot be removed does no harm.
fn remove_orphans(dir: &Path) {
    for entry in RealDisk.list(dir).unwrap_or_default() {
        let path = dir.join(&entry.name);
        if entry.kind == FileKind::File
            && exclusive::is_temporary(&entry.name)
            && let Ok((file, _)) = open_regular(&path)
            && exclusive::is_orphan(&file)
        {
            // The directory first: as long as the file exists, another run can find and remove the directory.
            #[cfg(not(unix))]
            fs::remove_dir_all(draft::directory_of(&path)).ok();
            fs::remove_file(&path).ok();
        }
    }
}

/// Renames a finished file, again and again for a second where the system refuses it.
fn patiently<T>(
    mut file: NamedTempFile,
    rename: impl Fn(NamedTempFile) -> Result<T, PersistError>,
) -> Result<T, PersistError> {
    for _ in iter::repeat_n((), MORE_RENAMES) {
        match rename(file) {
            // Windows may refuse to replace a file while another process has it open, as virus scanners do with
            // every new file.
            Err(failed) if is_in_use(&failed.error) => {
                file = failed.file;
                std::thread::sleep(RENAME_PAUSE);
            }
            ended => return ended,
        }
    }
    rename(file)
}

/// Returns true if Windows may have refused a step because another process has a file open.
fn is_in_use(error: &io::Error) -> bool {
    // `ERROR_SHARING_VIOLATION`, which is of no kind. It is about the file that is renamed; about the one that
    // is replaced Windows says that access is denied.
    error.kind() == io::ErrorKind::PermissionDenied || error.raw_os_error() == Some(32)
}

/// Compares a file with the bytes that were written, where nothing keeps other processes out.
fn written_or_changed(current: Option<Vec<u8>>, written: &[u8]) -> Replaced {
    if current.as_deref() == Some(written) {
        Replaced::Done
    } else {
        Replaced::Changed
    }
}

/// Opens a regular file; anything else is refused before it could block.
fn open_regular(path: &Path) -> io::Result<(File, Metadata)> {
    // To open a device can have effects of its own: a tape is rewound, a watchdog starts.
    refuse_other(&fs::metadata(path)?)?;
    let file = open_without_waiting(path)?;
    // The path may have been exchanged between the two calls.
    let metadata = file.metadata()?;
    refuse_other(&metadata)?;
    Ok((file, metadata))
}

/// Opens what a path names by now; the opening of a FIFO would wait for a writer.
#[cfg(unix)]
fn open_without_waiting(path: &Path) -> io::Result<File> {
    use rustix::fs::{Mode, OFlags};
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    Ok(File::from(rustix::fs::open(path, flags, Mode::empty())?))
}

/// Windows has no FIFO that a path of a directory leads to.
#[cfg(not(unix))]
fn open_without_waiting(path: &Path) -> io::Result<File> {
    File::open(path)
}

fn refuse_other(metadata: &Metadata) -> io::Result<()> {
    match kind_of(metadata.file_type()) {
        FileKind::File => Ok(()),
        FileKind::Directory => Err(io::ErrorKind::IsADirectory.into()),
        FileKind::Symlink | FileKind::Other => Err(not_regular()),
    }
}

fn not_regular() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "not a regular file")
}

fn kind_of(file_type: fs::FileType) -> FileKind {
    if file_type.is_file() {
        FileKind::File
    } else if file_type.is_dir() {
        FileKind::Directory
    } else if file_type.is_symlink() {
        FileKind::Symlink
    } else {
        FileKind::Other
    }
}

/// Follows links to the path that is no link. Any other path is returned as it is, whether it exists or not.
///
/// A link that leads nowhere is an error.
fn follow_links(path: &Path) -> io::Result<PathBuf> {
    // Nothing else is resolved: some file systems of Windows cannot, and a message shows the path as it was given.
    let Ok(target) = fs::read_link(path) else {
        return Ok(path.to_owned());
    };
    fs::canonicalize(path).map_err(|error| match error.kind() {
        // Otherwise a link in a checkout would choose where a file is created.
        io::ErrorKind::NotFound => {
            let text = format!("it is a link to {}, which does not exist", target.display());
            io::Error::new(io::ErrorKind::NotFound, text)
        }
        _ => error,
    })
}

#[cfg(unix)]
fn new_permissions() -> Option<fs::Permissions> {
    use std::os::unix::fs::PermissionsExt;
    Some(fs::Permissions::from_mode(0o644))
}

/// Elsewhere a new file is as the system makes it.
#[cfg(not(unix))]
fn new_permissions() -> Option<fs::Permissions> {
    None
}

/// Reads the file as far as is needed to compare it with `expected` bytes.
fn current(path: &Path, expected: usize) -> io::Result<Option<Vec<u8>>> {
    absent_as_none(open_regular(path).and_then(|(file, _)| beginning(file, expected)))
}

/// Reads one byte more than `expected`, so that a longer file differs.
fn beginning(file: File, expected: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(expected as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Makes a temporary file whose name shows the next process that it may be removed.
fn temporary_in(dir: &Path) -> io::Result<(TemporaryMark, NamedTempFile)> {
    unfinished::make(|| {
        let made = tempfile::Builder::new()
            .prefix(TEMPORARY_PREFIX)
            .rand_bytes(TEMPORARY_LETTERS)
            .tempfile_in(dir)
            // The name of the temporary file is of no use in a message.
            .map_err(|error| io::Error::from(error.kind()))?;
        Ok((made.path().to_owned(), made))
    })
}
