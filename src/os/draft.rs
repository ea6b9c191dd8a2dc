//! Files that get their names when they are complete, on systems without directories that can be opened.

use std::ffi::OsStr;
use std::io::{self, Read, Seek, SeekFrom, Write};

use tempfile::NamedTempFile;

use super::patiently;
use super::unfinished::TemporaryMark;
use crate::world::DraftFile;

/// A temporary file in the directory in which it gets its name.
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
