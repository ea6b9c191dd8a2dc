//! Disks of which a test changes some operations; all others are those of this machine.

use std::io;
use std::path::{Path, PathBuf};

use lockctl::os::RealDisk;
use lockctl::world::{
    DirEntry, Disk, DraftDirectory, DraftFile, Exclusive, FileKind, Files, Objects,
    PrivateDirectory, ReadSeek, Replaced, Replacement, Scratch,
};

/// What a test changes.
pub(crate) trait Changes: Sync {
    /// Is called before anything is read or looked at.
    fn looked_at(&self) {}

    fn read(&self, path: &Path, limit: u64) -> io::Result<Vec<u8>> {
        RealDisk.read(path, limit)
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn ReadSeek>> {
        RealDisk.open(path)
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<DirEntry>> {
        RealDisk.list(dir)
    }

    fn link(&self, path: &Path) -> io::Result<Option<PathBuf>> {
        RealDisk.link(path)
    }

    /// Returns the disk for paths whose links have been followed; without a change the same one, which
    /// follows them.
    fn without_links<'d>(&self, changed: &'d dyn Disk) -> &'d dyn Disk {
        changed
    }

    fn exclusive(&self, path: &Path) -> io::Result<Exclusive> {
        RealDisk.exclusive(path)
    }

    fn replace_held(&self, held: &Exclusive, file: Replacement<'_>) -> io::Result<Replaced> {
        RealDisk.replace_held(held, file)
    }

    fn draft(&self, dir: &Path) -> io::Result<Box<dyn DraftFile + '_>> {
        RealDisk.draft(dir)
    }

    fn objects(&self, dir: &Path) -> Box<dyn Objects + '_> {
        RealDisk.objects(dir)
    }

    fn make_directory(&self, path: &Path) -> io::Result<()> {
        RealDisk.make_directory(path)
    }

    fn draft_directory(&self, dir: &Path) -> io::Result<Box<dyn DraftDirectory + '_>> {
        RealDisk.draft_directory(dir)
    }
}

/// The disk of this machine with the changes of a test.
#[derive(Default)]
pub(crate) struct Changed<T>(pub(crate) T);

impl<T: Changes> Files for Changed<T> {
    fn read(&self, path: &Path, limit: u64) -> io::Result<Vec<u8>> {
        self.0.looked_at();
        self.0.read(path, limit)
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn ReadSeek>> {
        self.0.looked_at();
        self.0.open(path)
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<DirEntry>> {
        self.0.looked_at();
        self.0.list(dir)
    }

    fn kind(&self, path: &Path) -> io::Result<FileKind> {
        self.0.looked_at();
        RealDisk.kind(path)
    }

    fn resolve(&self, path: &Path) -> io::Result<PathBuf> {
        self.0.looked_at();
        RealDisk.resolve(path)
    }
}

impl<T: Changes> Disk for Changed<T> {
    fn without_links(&self) -> &dyn Disk {
        self.0.without_links(self)
    }

    fn link(&self, path: &Path) -> io::Result<Option<PathBuf>> {
        self.0.looked_at();
        self.0.link(path)
    }

    fn exclusive(&self, path: &Path) -> io::Result<Exclusive> {
        self.0.exclusive(path)
    }

    fn replace_held(&self, held: &Exclusive, file: Replacement<'_>) -> io::Result<Replaced> {
        self.0.replace_held(held, file)
    }

    fn remove(&self, path: &Path, old: &[u8]) -> io::Result<Replaced> {
        RealDisk.remove(path, old)
    }

    fn sweep(&self, path: &Path) {
        RealDisk.sweep(path);
    }

    fn make_directory(&self, path: &Path) -> io::Result<()> {
        self.0.make_directory(path)
    }

    fn scratch(&self) -> io::Result<Box<dyn Scratch>> {
        RealDisk.scratch()
    }

    fn draft(&self, dir: &Path) -> io::Result<Box<dyn DraftFile + '_>> {
        self.0.draft(dir)
    }

    fn draft_directory(&self, dir: &Path) -> io::Result<Box<dyn DraftDirectory + '_>> {
        self.0.draft_directory(dir)
    }

    fn executable(&self, path: &Path) -> io::Result<u32> {
        RealDisk.executable(path)
    }

    fn delete(&self, path: &Path) -> io::Result<()> {
        RealDisk.delete(path)
    }

    fn remove_empty(&self, path: &Path) -> io::Result<()> {
        RealDisk.remove_empty(path)
    }

    fn private_directory(&self) -> io::Result<Box<dyn PrivateDirectory>> {
        RealDisk.private_directory()
    }

    fn objects(&self, dir: &Path) -> Box<dyn Objects + '_> {
        self.0.objects(dir)
    }
}

/// Makes a symbolic link to a file; on Windows that takes a privilege, or developer mode.
#[track_caller]
pub(crate) fn link(target: &str, link: &Path) {
    #[cfg(unix)]
    let made = std::os::unix::fs::symlink(target, link);
    #[cfg(windows)]
    let made = std::os::windows::fs::symlink_file(target, link);
    made.expect("a link");
}
