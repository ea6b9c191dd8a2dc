//! Files and directories that get their names when they are complete, on systems that cannot open directories.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Component, Path, PathBuf};

use tempfile::NamedTempFile;

use super::unfinished::TemporaryMark;
use super::{patiently, temporary_in};
use crate::world::{DraftDirectory, DraftFile};

/// A temporary file in the directory of its final name.
pub(super) struct NamedDraft {
    pub(super) file: NamedTempFile,
    /// Dropped after the file is removed.
    pub(super) mark: TemporaryMark,
}

impl DraftFile for NamedDraft {
    fn place(self: Box<Self>, name: &OsStr) -> io::Result<()> {
        let target = self.file.path().with_file_name(name);
        self.file.as_file().sync_all()?;
        // Windows lets no other process read a locked file.
        self.file.as_file().unlock().ok();
        let Self { file, mark } = *self;
        let placed = patiently(file, |file| file.persist(&target));
        drop(mark);
        placed.map(|_| ()).map_err(|failed| failed.error)
    }
}

impl Read for NamedDraft {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.file.read(buffer)
    }
}

impl Write for NamedDraft {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Seek for NamedDraft {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

/// A temporary directory beside a locked file, which shows other runs that it is in use: Windows locks no
/// directories.
pub(super) struct NamedDirectory {
    path: PathBuf,
    files: Vec<PathBuf>,
    owner: NamedTempFile,
    /// Dropped after the file is removed.
    _mark: TemporaryMark,
}

/// Returns the directory that belongs to a temporary file.
pub(super) fn directory_of(file: &Path) -> PathBuf {
    file.with_extension("d")
}

impl NamedDirectory {
    /// Makes the directory; the caller has the right to write in the one above.
    pub(super) fn make(above: &Path) -> io::Result<Self> {
        let (mark, owner) = temporary_in(above)?;
        owner.as_file().try_lock().ok();
        let path = directory_of(owner.path());
        fs::create_dir(&path)?;
        Ok(Self {
            path,
            files: Vec::new(),
            owner,
            _mark: mark,
        })
    }
}

impl DraftDirectory for NamedDirectory {
    fn path(&self) -> &Path {
        &self.path
    }

    fn create(&mut self, path: &[u8], _executable: u32) -> io::Result<Box<dyn Write + '_>> {
        let path = std::str::from_utf8(path).map_err(|_| io::ErrorKind::InvalidInput)?;
        // The names come from a package: `..` would write outside of the directory.
        let is_plain = Path::new(path)
            .components()
            .all(|part| matches!(part, Component::Normal(_)));
        if !is_plain {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let path = self.path.join(path);
        if let Some(above) = path.parent() {
            fs::create_dir_all(above)?;
        }
        let file = File::create_new(&path)?;
        self.files.push(path);
        Ok(Box::new(file))
    }

    fn place(self: Box<Self>, name: &OsStr) -> io::Result<()> {
        // Before the rename: otherwise a crash could leave empty files under the final name.
        for path in &self.files {
            File::options().write(true).open(path)?.sync_all()?;
        }
        // These systems cannot exchange two names: the old directory moves aside, and back if the rename fails.
        let target = self.path.with_file_name(name);
        let aside = self.owner.path().with_extension("old");
        match fs::rename(&target, &aside) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let renamed = fs::rename(&self.path, &target);
        if renamed.is_err() {
            fs::rename(&aside, &target).ok();
        }
        fs::remove_dir_all(&aside)
            .or_else(|_| fs::remove_file(&aside))
            .ok();
        renamed
    }
}

impl Drop for NamedDirectory {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.path).ok();
    }
}
