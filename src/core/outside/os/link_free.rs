//! The disk for paths whose links have all been followed.
//!
//! Between the moment when a path is checked link by link and the one when it is opened, a part of it
//! may become a link that leads elsewhere. Here every directory on the way is opened from the one above
//! it, and none of them may be a link, so that what was looked at is what is opened, or nothing.
//!
//! `openat2` with `RESOLVE_NO_SYMLINKS` does the same in one call, but Linux alone has it, not in all
//! versions that are in use, and some containers forbid it; the walk would be needed all the same.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{self, AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;

use super::draft_directory::TemporaryDirectory;
use super::exclusive::{self, TEMPORARY_LETTERS, TEMPORARY_PREFIX};
use super::objects::existing_is_fine;
use super::unfinished::{self, TemporaryMark};
use super::{
    RealDisk, absent_as_none, beginning, not_regular, read_regular, refuse_other,
    written_or_changed,
};
use crate::world::{
    DirEntry, Disk, DraftDirectory, DraftFile, Exclusive, FileKind, Files, Objects,
    PrivateDirectory, ReadSeek, Replaced, Replacement, Scratch,
};

/// The files of this machine, by absolute paths without links and without `..`.
///
/// A link anywhere in a path is an error, also at its end.
pub(super) struct LinkFreeDisk;

/// The mode of a new file.
const NEW_MODE: Mode = Mode::from_raw_mode(0o644);

/// The bits of a mode that make a file executable for its owner, its group and others.
pub(super) const EXECUTABLE: u32 = 0o111;

/// Flags to open a directory on the way. Where there is `O_PATH`, it need not be readable.
#[cfg(any(target_os = "linux", target_os = "android"))]
const STEP: OFlags = OFlags::PATH.union(DIRECTORY);
#[cfg(not(any(target_os = "linux", target_os = "android")))]
const STEP: OFlags = DIRECTORY;

pub(super) const DIRECTORY: OFlags = OFlags::DIRECTORY.union(SAFE);
pub(super) const SAFE: OFlags = OFlags::NOFOLLOW.union(OFlags::CLOEXEC);

/// The target of a path: something in an open directory, or that directory itself by the name `.`.
struct OpenedParent<'p> {
    dir: OwnedFd,
    name: &'p OsStr,
}

impl<'p> OpenedParent<'p> {
    /// Walks to what a path names, which need not exist.
    fn find(path: &'p Path) -> io::Result<Self> {
        let below_root = path
            .strip_prefix("/")
            .map_err(|_| io::ErrorKind::InvalidInput)?;
        let mut target = Self {
            dir: fs::open("/", STEP, Mode::empty())?,
            name: OsStr::new("."),
        };
        for part in below_root.components() {
            let Component::Normal(name) = part else {
                return Err(io::ErrorKind::InvalidInput.into());
            };
            target = Self {
                dir: target.open(STEP)?,
                name,
            };
        }
        Ok(target)
    }

    fn open(&self, flags: OFlags) -> io::Result<OwnedFd> {
        Ok(fs::openat(&self.dir, self.name, flags, Mode::empty())?)
    }

    fn stat(&self) -> io::Result<fs::Stat> {
        Ok(fs::statat(&self.dir, self.name, AtFlags::SYMLINK_NOFOLLOW)?)
    }

    /// Opens a regular file; anything else is refused before it could block.
    fn open_regular(&self) -> io::Result<File> {
        match kind_of(FileType::from_raw_mode(self.stat()?.st_mode)) {
            FileKind::Symlink => return Err(Errno::LOOP.into()),
            FileKind::Directory => return Err(io::ErrorKind::IsADirectory.into()),
            FileKind::Other => return Err(not_regular()),
            FileKind::File => {}
        }
        // The file may have become a FIFO since `stat`, whose opening would wait for a writer.
        let file = File::from(self.open(SAFE | OFlags::NONBLOCK | OFlags::NOCTTY)?);
        refuse_other(&file.metadata()?)?;
        Ok(file)
    }

    /// Waits for the right to write in the directory.
    fn exclusive(&self) -> io::Result<Exclusive> {
        // What is locked has to be open for reading.
        let dir = fs::openat(&self.dir, ".", DIRECTORY, Mode::empty());
        exclusive::of_handle(dir.map(File::from).map_err(io::Error::from))
    }

    /// Reads the file as far as is needed to compare it with `expected` bytes.
    fn current(&self, expected: usize) -> io::Result<Option<Vec<u8>>> {
        absent_as_none(
            self.open_regular()
                .and_then(|file| beginning(file, expected)),
        )
    }
}

impl Files for LinkFreeDisk {
    fn read(&self, path: &Path, limit: u64) -> io::Result<Vec<u8>> {
        read_regular(OpenedParent::find(path)?.open_regular()?, 0, limit)
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn ReadSeek>> {
        Ok(Box::new(OpenedParent::find(path)?.open_regular()?))
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<DirEntry>> {
        let dir = OpenedParent::find(dir)?.open(DIRECTORY)?;
        let mut entries = Vec::new();
        for entry in fs::Dir::read_from(&dir)? {
            let entry = entry?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if name == "." || name == ".." {
                continue;
            }
            let file_type = match entry.file_type() {
                // Some file systems do not say.
                FileType::Unknown => {
                    let stat = fs::statat(&dir, name, AtFlags::SYMLINK_NOFOLLOW)?;
                    FileType::from_raw_mode(stat.st_mode)
                }
                known => known,
            };
            entries.push(DirEntry {
                name: name.to_owned(),
                kind: kind_of(file_type),
            });
        }
        entries.sort_by(|a, b| a.name.as_encoded_bytes().cmp(b.name.as_encoded_bytes()));
        Ok(entries)
    }

    fn kind(&self, path: &Path) -> io::Result<FileKind> {
        let stat = OpenedParent::find(path)?.stat()?;
        match kind_of(FileType::from_raw_mode(stat.st_mode)) {
            FileKind::Symlink => Err(Errno::LOOP.into()),
            kind => Ok(kind),
        }
    }

    fn resolve(&self, path: &Path) -> io::Result<PathBuf> {
        self.kind(path).map(|_| path.to_owned())
    }
}

impl Disk for LinkFreeDisk {
    fn without_links(&self) -> &dyn Disk {
        self
    }

    fn link(&self, path: &Path) -> io::Result<Option<PathBuf>> {
        let named = OpenedParent::find(path)?;
        match fs::readlinkat(&named.dir, named.name, Vec::new()) {
            Ok(target) => Ok(Some(OsString::from_vec(target.into_bytes()).into())),
            Err(Errno::INVAL | Errno::NOENT | Errno::NOTDIR) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    fn exclusive(&self, path: &Path) -> io::Result<Exclusive> {
        OpenedParent::find(path)?.exclusive()
    }

    fn replace_held(&self, held: &Exclusive, file: Replacement<'_>) -> io::Result<Replaced> {
        let Replacement { path, old, new } = file;
        let target = OpenedParent::find(path)?;
        if held.is_held() {
            remove_orphans(&target.dir);
        }
        let mode = match target.stat() {
            Ok(stat) => Mode::from_raw_mode(stat.st_mode),
            Err(error) if error.kind() == io::ErrorKind::NotFound => NEW_MODE,
            Err(error) => return Err(error),
        };
        let dir = path.parent().unwrap_or(Path::new("/"));
        let mut temporary = Temporary::make(&target.dir, dir)?;
        temporary.file.write_all(new)?;
        // Mode and content are on the disk before the rename: no reader finds the file closed to it, or empty after
        // a loss of power.
        fs::fchmod(&temporary.file, mode)?;
        temporary.file.sync_all()?;
        if target.current(old.map_or(0, <[u8]>::len))?.as_deref() != old {
            return Ok(Replaced::Changed);
        }
        let (from, to) = (&*temporary.name, target.name);
        let renamed = unfinished::replace(|| match old {
            Some(_) => fs::renameat(&target.dir, from, &target.dir, to),
            None => rename_to_new(&target.dir, from, to),
        });
        match renamed {
            Ok(()) if held.is_held() => Ok(Replaced::Done),
            Ok(()) => Ok(written_or_changed(target.current(new.len())?, new)),
            // A program that asks for no lock has made the file since the comparison.
            Err(Errno::EXIST) => Ok(Replaced::Changed),
            Err(error) => Err(error.into()),
        }
    }

    fn remove(&self, path: &Path, old: &[u8]) -> io::Result<Replaced> {
        let target = OpenedParent::find(path)?;
        let _held = target.exclusive()?;
        if target.current(old.len())?.as_deref() != Some(old) {
            return Ok(Replaced::Changed);
        }
        fs::unlinkat(&target.dir, target.name, AtFlags::empty())?;
        Ok(Replaced::Done)
    }

    fn sweep(&self, path: &Path) {
        // Usually there is nothing to remove, so the run need not wait for the right to write.
        let has_temporary = |entries: Vec<DirEntry>| {
            entries
                .iter()
                .any(|entry| exclusive::is_temporary(&entry.name))
        };
        if path
            .parent()
            .is_some_and(|dir| self.list(dir).is_ok_and(has_temporary))
            && let Ok(target) = OpenedParent::find(path)
            && let Ok(held) = target.exclusive()
            && held.is_held()
        {
            remove_orphans(&target.dir);
        }
    }

    fn make_directory(&self, path: &Path) -> io::Result<()> {
        let above: Vec<&Path> = path.ancestors().collect();
        for path in above.into_iter().rev() {
            let dir = OpenedParent::find(path)?;
            match dir.open(STEP) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    // Another thread or run may make it at the same time. The path is opened afterwards, so a file or a
                    // link in its place is still an error.
                    existing_is_fine(fs::mkdirat(&dir.dir, dir.name, Mode::from_raw_mode(0o777)))?;
                    dir.open(STEP)?;
                }
                opened => drop(opened?),
            }
        }
        Ok(())
    }

    fn scratch(&self) -> io::Result<Box<dyn Scratch>> {
        RealDisk.scratch()
    }

    fn private_directory(&self) -> io::Result<Box<dyn PrivateDirectory>> {
        RealDisk.private_directory()
    }

    fn draft(&self, dir: &Path) -> io::Result<Box<dyn DraftFile + '_>> {
        // The lock on the file is taken under the right to write, so that no other run removes it meanwhile.
        let (opened, _held) = opened_exclusively(dir)?;
        Ok(Box::new(Temporary::make(opened, dir)?))
    }

    fn draft_directory(&self, dir: &Path) -> io::Result<Box<dyn DraftDirectory + '_>> {
        let (opened, _held) = opened_exclusively(dir)?;
        Ok(Box::new(TemporaryDirectory::make(opened, dir)?))
    }

    fn executable(&self, path: &Path) -> io::Result<u32> {
        let mode = OpenedParent::find(path)?.stat()?.st_mode;
        Ok(mode & EXECUTABLE)
    }

    fn delete(&self, path: &Path) -> io::Result<()> {
        let target = OpenedParent::find(path)?;
        delete_at(&target.dir, target.name)
    }

    fn remove_empty(&self, path: &Path) -> io::Result<()> {
        let target = OpenedParent::find(path)?;
        Ok(fs::unlinkat(&target.dir, target.name, AtFlags::REMOVEDIR)?)
    }

    fn objects(&self, dir: &Path) -> Box<dyn Objects + '_> {
        RealDisk.objects(dir)
    }
}

/// Opens a directory, and waits for the right to write in it.
fn opened_exclusively(dir: &Path) -> io::Result<(OwnedFd, Exclusive)> {
    let opened = OpenedParent::find(dir)?.open(DIRECTORY)?;
    let readable = fs::openat(&opened, ".", DIRECTORY, Mode::empty())?;
    let held = exclusive::of_handle(Ok(File::from(readable)))?;
    Ok((opened, held))
}

/// Removes what a directory has under a name; no link is followed.
pub(super) fn delete_at(dir: &OwnedFd, name: &OsStr) -> io::Result<()> {
    let stat = fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW)?;
    if kind_of(FileType::from_raw_mode(stat.st_mode)) != FileKind::Directory {
        return Ok(fs::unlinkat(dir, name, AtFlags::empty())?);
    }
    // Opened from its parent, so that a path that was replaced by a link meanwhile leads nowhere else.
    let below = fs::openat(dir, name, DIRECTORY, Mode::empty())?;
    for entry in fs::Dir::read_from(&below)? {
        let entry = entry?;
        let inner = OsStr::from_bytes(entry.file_name().to_bytes());
        if inner != "." && inner != ".." {
            delete_at(&below, inner)?;
        }
    }
    Ok(fs::unlinkat(dir, name, AtFlags::REMOVEDIR)?)
}

/// Removes temporary files and directories of processes that have ended; ignores those that cannot be removed.
pub(super) fn remove_orphans(dir: &OwnedFd) {
    // The directory may be open in a way that does not permit listing it.
    let readable = fs::openat(dir, ".", DIRECTORY, Mode::empty());
    let entries = readable.and_then(fs::Dir::read_from);
    for entry in entries.into_iter().flatten().flatten() {
        let name = OsStr::from_bytes(entry.file_name().to_bytes());
        if !exclusive::is_temporary(name) {
            continue;
        }
        let file = fs::openat(dir, name, SAFE.union(OFlags::NONBLOCK), Mode::empty());
        if let Ok(file) = file.map(File::from)
            && file
                .metadata()
                .is_ok_and(|found| found.is_file() || found.is_dir())
            && exclusive::is_orphan(&file)
        {
            delete_at(dir, name).ok();
        }
    }
}

/// A file beside the one that it shall replace; removed unless it got that one's name.
pub(super) struct Temporary<D: AsFd> {
    dir: D,
    pub(super) name: OsString,
    pub(super) file: File,
    /// Dropped after the file is removed.
    _mark: TemporaryMark,
}

impl<D: AsFd> Temporary<D> {
    /// Makes the file in an open directory; `path` is that of the directory.
    pub(super) fn make(dir: D, path: &Path) -> io::Result<Self> {
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::RDWR | SAFE;
        let (mark, (name, file)) = unfinished::make(|| {
            let made = tempfile::Builder::new()
                .prefix(TEMPORARY_PREFIX)
                .rand_bytes(TEMPORARY_LETTERS)
                .disable_cleanup(true)
                .make_in(path, |path| {
                    let name = path.file_name().unwrap_or_default().to_owned();
                    let file = fs::openat(&dir, &name, flags, Mode::from_raw_mode(0o600))?;
                    Ok((name, file))
                });
            // The name of the temporary file is of no use in a message.
            let made = made.map_err(|error| io::Error::from(error.kind()))?;
            Ok((made.path().to_owned(), made.into_parts().0))
        })?;
        let file = File::from(file);
        // Where that fails no other run removes the file, either.
        file.try_lock().ok();
        Ok(Self {
            dir,
            name,
            file,
            _mark: mark,
        })
    }
}

impl<D: AsFd + Send> DraftFile for Temporary<D> {
    fn place(self: Box<Self>, name: &OsStr) -> io::Result<()> {
        fs::fchmod(&self.file, NEW_MODE)?;
        // Some file systems write the rename to the disk before the content.
        self.file.sync_all()?;
        Ok(fs::renameat(&self.dir, &*self.name, &self.dir, name)?)
    }
}

impl<D: AsFd> Read for Temporary<D> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.file.read(buffer)
    }
}

impl<D: AsFd> Write for Temporary<D> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl<D: AsFd> Seek for Temporary<D> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

impl<D: AsFd> Drop for Temporary<D> {
    fn drop(&mut self) {
        fs::unlinkat(&self.dir, &self.name, AtFlags::empty()).ok();
    }
}

/// Renames a file, but never over another one.
fn rename_to_new(dir: &OwnedFd, from: &OsStr, to: &OsStr) -> rustix::io::Result<()> {
    #[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
    match fs::renameat_with(dir, from, dir, to, fs::RenameFlags::NOREPLACE) {
        // Not all file systems can do this.
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {}
        renamed => return renamed,
    }
    // A second name is refused where there is a file already; `Temporary` removes the first one.
    fs::linkat(dir, from, dir, to, AtFlags::empty())
}

fn kind_of(file_type: FileType) -> FileKind {
    match file_type {
        FileType::RegularFile => FileKind::File,
        FileType::Directory => FileKind::Directory,
        FileType::Symlink => FileKind::Symlink,
        _ => FileKind::Other,
    }
}
