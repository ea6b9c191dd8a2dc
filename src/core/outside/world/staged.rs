//! A disk that keeps what is written, until all of it is written together.

use std::collections::BTreeMap;
use std::io::{self, Cursor, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{
    DirEntry, Disk, DraftDirectory, DraftFile, Exclusive, FileKind, Files, Objects,
    PrivateDirectory, ReadSeek, Replaced, Replacement, Scratch,
};

/// A disk on which files are replaced together or not at all.
///
/// A file that was replaced reads as its new bytes, and [`StagedDisk::commit`] writes all of them. Everything else
/// goes to the disk below at once. What is new is in no listing.
pub struct StagedDisk<'a> {
    disk: &'a dyn Disk,
    files: Mutex<BTreeMap<PathBuf, StagedFile>>,
}

/// A file with its new bytes.
#[derive(Clone)]
struct StagedFile {
    path: PathBuf,
    /// The bytes on the disk; `None` for no file.
    old: Option<Vec<u8>>,
    new: Vec<u8>,
}

/// The file because of which nothing is written.
#[derive(Debug)]
pub struct Unwritten {
    /// The path of the file.
    pub path: PathBuf,
    /// The error of the system; `None` if the file was changed meanwhile.
    pub cause: Option<io::Error>,
    /// Files that were written already and could not be set back.
    pub left: Vec<PathBuf>,
}

impl<'a> StagedDisk<'a> {
    /// Begins with the files of a disk as they are.
    #[must_use]
    pub fn new(disk: &'a dyn Disk) -> Self {
        Self {
            disk,
            files: Mutex::default(),
        }
    }

    /// Writes all files, in the order of their paths: every one that differs from what was read stops all others,
    /// and after an error those that were written get their old bytes back.
    ///
    /// # Errors
    /// The first file that could not be written.
    pub fn commit(&self) -> Result<(), Box<Unwritten>> {
        let files = self.files();
        let files: Vec<&StagedFile> = files
            .values()
            .filter(|file| file.old.as_deref() != Some(&*file.new))
            .collect();
        // A change by somebody else is found before anything is written, in nearly every case.
        for file in &files {
            if on_disk(self.disk, &file.path).map_err(|cause| unwritten(file, Some(cause)))?
                != file.old
            {
                return Err(unwritten(file, None));
            }
        }
        for (count, file) in files.iter().enumerate() {
            let replaced = self
                .disk
                .replace(&file.path, file.old.as_deref(), &file.new);
            let cause = match replaced {
                Ok(Replaced::Done) => continue,
                Ok(Replaced::Changed) => None,
                Err(cause) => Some(cause),
            };
            let undone = |file: &&&StagedFile| match &file.old {
                Some(old) => self.disk.replace(&file.path, Some(&file.new), old),
                None => self.disk.remove(&file.path, &file.new),
            };
            // A file that somebody changed meanwhile is left alone: the undo must not remove that change.
            let left = files[..count]
                .iter()
                .filter(|file| !matches!(undone(file), Ok(Replaced::Done)))
                .map(|file| file.path.clone());
            return Err(Box::new(Unwritten {
                left: left.collect(),
                ..*unwritten(file, cause)
            }));
        }
        Ok(())
    }

    fn files(&self) -> MutexGuard<'_, BTreeMap<PathBuf, StagedFile>> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the path that a file has once, however it is reached.
    fn key(&self, path: &Path) -> PathBuf {
        let above = || {
            let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty());
            let dir = self.disk.resolve(dir.unwrap_or(Path::new("."))).ok()?;
            Some(dir.join(path.file_name()?))
        };
        self.disk
            .resolve(path)
            .ok()
            .or_else(above)
            .unwrap_or_else(|| path.to_owned())
    }

    fn staged(&self, path: &Path) -> Option<Vec<u8>> {
        if self.files().is_empty() {
            return None;
        }
        // A link may have any name.
        let key = self.key(path);
        self.files().get(&key).map(|file| file.new.clone())
    }
}

fn unwritten(file: &StagedFile, cause: Option<io::Error>) -> Box<Unwritten> {
    Box::new(Unwritten {
        path: file.path.clone(),
        cause,
        left: Vec::new(),
    })
}

/// Reads a file that may not be there.
fn on_disk(disk: &dyn Disk, path: &Path) -> io::Result<Option<Vec<u8>>> {
    match disk.read(path, u64::MAX) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

impl Files for StagedDisk<'_> {
    fn read(&self, path: &Path, limit: u64) -> io::Result<Vec<u8>> {
        match self.staged(path) {
            Some(bytes) if bytes.len() as u64 > limit => Err(ErrorKind::FileTooLarge.into()),
            Some(bytes) => Ok(bytes),
            None => self.disk.read(path, limit),
        }
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn ReadSeek>> {
        match self.staged(path) {
            Some(bytes) => Ok(Box::new(Cursor::new(bytes))),
            None => self.disk.open(path),
        }
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<DirEntry>> {
        self.disk.list(dir)
    }

    fn kind(&self, path: &Path) -> io::Result<FileKind> {
        match self.staged(path) {
            Some(_) => Ok(FileKind::File),
            None => self.disk.kind(path),
        }
    }

    fn resolve(&self, path: &Path) -> io::Result<PathBuf> {
        self.disk.resolve(path)
    }

    fn shown(&self, path: &Path) -> String {
        self.disk.shown(path)
    }
}

impl Disk for StagedDisk<'_> {
    fn without_links(&self) -> &dyn Disk {
        self.disk.without_links()
    }

    fn link(&self, path: &Path) -> io::Result<Option<PathBuf>> {
        self.disk.link(path)
    }

    fn private_directory(&self) -> io::Result<Box<dyn PrivateDirectory>> {
        self.disk.private_directory()
    }

    fn exclusive(&self, path: &Path) -> io::Result<Exclusive> {
        self.disk.exclusive(path)
    }

    fn replace_held(&self, _: &Exclusive, file: Replacement<'_>) -> io::Result<Replaced> {
        let key = self.key(file.path);
        let mut files = self.files();
        if let Some(staged) = files.get_mut(&key) {
            if Some(&*staged.new) != file.old {
                return Ok(Replaced::Changed);
            }
            staged.new = file.new.to_owned();
            return Ok(Replaced::Done);
        }
        let old = on_disk(self.disk, file.path)?;
        if old.as_deref() != file.old {
            return Ok(Replaced::Changed);
        }
        let staged = StagedFile {
            path: file.path.to_owned(),
            old,
            new: file.new.to_owned(),
        };
        files.insert(key, staged);
        Ok(Replaced::Done)
    }

    fn remove(&self, path: &Path, old: &[u8]) -> io::Result<Replaced> {
        self.disk.remove(path, old)
    }

    fn sweep(&self, path: &Path) {
        self.disk.sweep(path);
    }

    fn make_directory(&self, path: &Path) -> io::Result<()> {
        self.disk.make_directory(path)
    }

    fn scratch(&self) -> io::Result<Box<dyn Scratch>> {
        self.disk.scratch()
    }

    fn draft(&self, dir: &Path) -> io::Result<Box<dyn DraftFile + '_>> {
        self.disk.draft(dir)
    }

    fn draft_directory(&self, dir: &Path) -> io::Result<Box<dyn DraftDirectory + '_>> {
        self.disk.draft_directory(dir)
    }

    fn executable(&self, path: &Path) -> io::Result<u32> {
        self.disk.executable(path)
    }

    fn delete(&self, path: &Path) -> io::Result<()> {
        self.disk.delete(path)
    }

    fn remove_empty(&self, path: &Path) -> io::Result<()> {
        self.disk.remove_empty(path)
    }

    fn objects(&self, dir: &Path) -> Box<dyn Objects + '_> {
        self.disk.objects(dir)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::mem::MemFiles;

    fn staged<'a>(files: &'a MemFiles) -> StagedDisk<'a> {
        let disk = StagedDisk::new(files);
        for (path, old, new) in [
            ("/a/main.tf", Some("1"), "2"),
            ("/a/lock", None, "new"),
            ("/b/main.tf", Some("1"), "3"),
        ] {
            let old = old.map(str::as_bytes);
            let replaced = disk.replace(Path::new(path), old, new.as_bytes());
            assert_eq!(replaced.expect("staged"), Replaced::Done);
        }
        disk
    }

    fn text(files: &dyn Files, path: &str) -> Option<String> {
        let bytes = files.read(Path::new(path), 9).ok()?;
        String::from_utf8(bytes).ok()
    }

    #[test]
    fn files_are_written_together() {
        let files = MemFiles::with(&[("/a/main.tf", "1"), ("/b/main.tf", "1")]);
        let disk = staged(&files);
        assert_eq!(text(&disk, "/a/main.tf").as_deref(), Some("2"));
        assert_eq!(text(&disk, "/a/lock").as_deref(), Some("new"));
        assert_eq!(text(&files, "/a/main.tf").as_deref(), Some("1"));
        disk.commit().expect("written");
        assert_eq!(text(&files, "/a/lock").as_deref(), Some("new"));
        assert_eq!(text(&files, "/b/main.tf").as_deref(), Some("3"));
    }

    #[test]
    fn a_file_that_changed_stops_all_others() {
        let files = MemFiles::with(&[("/a/main.tf", "1"), ("/b/main.tf", "1")]);
        let disk = staged(&files);
        let path = Path::new("/b/main.tf");
        files.replace(path, Some(b"1"), b"other").expect("written");
        let error = disk.commit().expect_err("changed");
        assert!(error.path == path && error.cause.is_none() && error.left.is_empty());
        assert_eq!(text(&files, "/a/main.tf").as_deref(), Some("1"));
        assert_eq!(text(&files, "/a/lock"), None);
    }
}
