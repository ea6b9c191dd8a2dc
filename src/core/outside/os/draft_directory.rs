//! Directories that get their names when they are complete, made and filled without following any link.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{self, Mode, OFlags};
use rustix::io::Errno;

use super::exclusive::{TEMPORARY_LETTERS, TEMPORARY_PREFIX};
use super::link_free::{DIRECTORY, EXECUTABLE, SAFE, delete_at};
use super::unfinished::{self, TemporaryMark};
use crate::world::DraftDirectory;

/// The mode of directories, as the programs make them.
const DIRECTORY_MODE: Mode = Mode::from_raw_mode(0o755);

/// A directory under a temporary name; removed unless it was placed.
///
/// The directory is locked as long as the value lives, so that no other run removes it as a leftover.
pub(super) struct TemporaryDirectory {
    above: OwnedFd,
    name: OsString,
    path: PathBuf,
    dir: OwnedFd,
    /// The files in the directory, which must be on the disk before it gets its name.
    files: Vec<Box<[u8]>>,
    /// Dropped after the directory is removed.
    _mark: TemporaryMark,
}

impl TemporaryDirectory {
    /// Makes the directory in an open one, whose path is `above_path`.
    pub(super) fn make(above: OwnedFd, above_path: &Path) -> io::Result<Self> {
        let (mark, (path, dir)) = unfinished::make(|| {
            let made = tempfile::Builder::new()
                .prefix(TEMPORARY_PREFIX)
                .rand_bytes(TEMPORARY_LETTERS)
                .disable_cleanup(true)
                .make_in(above_path, |path| {
                    let name = path.file_name().unwrap_or_default();
                    fs::mkdirat(&above, name, Mode::RWXU)?;
                    Ok(fs::openat(&above, name, DIRECTORY, Mode::empty())?)
                });
            // The error is reduced to its kind, because users do not know the temporary name.
            let made = made.map_err(|error| io::Error::from(error.kind()))?;
            let path = made.path().to_owned();
            Ok((path.clone(), (path, made.into_parts().0)))
        })?;
        let dir = File::from(dir);
        // If the file system has no locks, no other run removes the directory either.
        dir.try_lock().ok();
        Ok(Self {
            above,
            name: path.file_name().unwrap_or_default().to_owned(),
            path,
            dir: dir.into(),
            files: Vec::new(),
            _mark: mark,
        })
    }

    /// Opens the directory that contains a path below this one, and returns it with the last part of the path. Makes
    /// missing directories if `makes` is true.
    fn walk<'p>(&self, path: &'p [u8], makes: bool) -> io::Result<(OwnedFd, &'p OsStr)> {
        let mut dir = fs::openat(&self.dir, ".", DIRECTORY, Mode::empty())?;
        let mut parts = path.split(|byte| *byte == b'/').peekable();
        while let Some(part) = parts.next() {
            if matches!(part, b"" | b"." | b"..") {
                return Err(io::ErrorKind::InvalidInput.into());
            }
            let name = OsStr::from_bytes(part);
            if parts.peek().is_none() {
                return Ok((dir, name));
            }
            // No other process uses this directory, so an existing one was made for an earlier file.
            if makes {
                match fs::mkdirat(&dir, name, DIRECTORY_MODE) {
                    Ok(()) => {
                        dir = fs::openat(&dir, name, DIRECTORY, Mode::empty())?;
                        // As for the files in it: all accounts may read the package, and the umask does not count.
                        fs::fchmod(&dir, DIRECTORY_MODE)?;
                        continue;
                    }
                    Err(Errno::EXIST) => {}
                    Err(error) => return Err(error.into()),
                }
            }
            dir = fs::openat(&dir, name, DIRECTORY, Mode::empty())?;
        }
        Err(io::ErrorKind::InvalidInput.into())
    }

    /// Exchanges the directory with a file or directory of the name, which then has the temporary name.
    fn exchange(&self, name: &OsStr) -> rustix::io::Result<()> {
        #[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
        match fs::renameat_with(
            &self.above,
            &*self.name,
            &self.above,
            name,
            fs::RenameFlags::EXCHANGE,
        ) {
            // Not all file systems can do this.
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {}
            renamed => return renamed,
        }
        // For a moment nothing has the name: a reader may find the package missing, but never incomplete.
        let mut aside = self.name.clone();
        aside.push("-old");
        fs::renameat(&self.above, name, &self.above, &*aside)?;
        let renamed = fs::renameat(&self.above, &*self.name, &self.above, name);
        let left = if renamed.is_ok() { &*self.name } else { name };
        fs::renameat(&self.above, &*aside, &self.above, left)?;
        renamed
    }
}

impl DraftDirectory for TemporaryDirectory {
    fn path(&self) -> &Path {
        &self.path
    }

    fn create(&mut self, path: &[u8], executable: u32) -> io::Result<Box<dyn Write + '_>> {
        let (dir, name) = self.walk(path, true)?;
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::RDWR | SAFE;
        let file = fs::openat(&dir, name, flags, Mode::from_raw_mode(0o600))?;
        // Set after the call, because the umask of the process reduces the mode of the call.
        fs::fchmod(&file, Mode::from_raw_mode(0o644 | executable & EXECUTABLE))?;
        self.files.push(path.into());
        Ok(Box::new(File::from(file)))
    }

    fn place(self: Box<Self>, name: &OsStr) -> io::Result<()> {
        // Some file systems write the rename to the disk before the content.
        for path in &self.files {
            let (dir, name) = self.walk(path, false)?;
            let file = fs::openat(&dir, name, OFlags::RDONLY | SAFE, Mode::empty())?;
            File::from(file).sync_all()?;
        }
        fs::fchmod(&self.dir, DIRECTORY_MODE)?;
        match fs::renameat(&self.above, &*self.name, &self.above, name) {
            // A rename of a directory replaces only an empty directory, and never a file or a link.
            Err(Errno::EXIST | Errno::NOTEMPTY | Errno::NOTDIR) => Ok(self.exchange(name)?),
            renamed => Ok(renamed?),
        }
    }
}

impl Drop for TemporaryDirectory {
    fn drop(&mut self) {
        delete_at(&self.above, &self.name).ok();
    }
}
