//! Directories that no other user can read, and that do not outlive the process.
//!
//! The process that makes one holds the lock of a file in it. A killed process leaves its directory behind
//! without the lock, and the next process that makes such a directory removes it.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::unfinished::{self, TemporaryMark};
use super::{RealDisk, open_regular};
use crate::world::{FileKind, Files, PrivateDirectory};

/// The beginning of the names of locked directories.
const PREFIX: &str = "lockctl-dir-";

/// The beginning of the names of directories that are not locked yet.
const NEW_PREFIX: &str = "lockctl-new-";

/// The file that is locked as long as the directory is in use.
const IN_USE: &str = "in-use";

/// A directory that is removed when the value is dropped.
pub(super) struct TemporaryDirectory {
    path: PathBuf,
    /// Closed before the directory is removed.
    lock: Option<File>,
    /// Dropped after the directory is removed.
    _mark: TemporaryMark,
}

/// Makes a directory, and removes those of processes that were killed.
pub(super) fn make() -> io::Result<TemporaryDirectory> {
    let above = std::env::temp_dir();
    remove_orphans(&above);
    let (mark, (path, lock)) = unfinished::make(|| {
        let mut builder = tempfile::Builder::new();
        builder.prefix(NEW_PREFIX);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            builder.permissions(fs::Permissions::from_mode(0o700));
        }
        let made = builder.tempdir().map_err(|error| {
            let (dir, kind) = (above.display(), error.kind());
            io::Error::new(kind, format!("no directory can be made in {dir}: {kind}"))
        })?;
        let lock = File::create_new(made.path().join(IN_USE))?;
        // Where files cannot be locked, no other process takes the directory for an orphan either.
        lock.lock().ok();
        // Before the directory has its lock, its name must not match the pattern that other processes search for.
        let name = made.path().file_name().and_then(|name| name.to_str());
        let letters = name
            .and_then(|name| name.strip_prefix(NEW_PREFIX))
            .unwrap_or_default();
        let path = fs::canonicalize(made.path())?.with_file_name(format!("{PREFIX}{letters}"));
        fs::rename(made.path(), &path)?;
        // This removes nothing: the directory has another name now.
        drop(made);
        Ok((path.clone(), (path, lock)))
    })?;
    Ok(TemporaryDirectory {
        path,
        lock: Some(lock),
        _mark: mark,
    })
}

impl TemporaryDirectory {
    fn inside(&self, path: &Path) -> io::Result<PathBuf> {
        let is_plain = path
            .components()
            .all(|part| matches!(part, std::path::Component::Normal(_)));
        if is_plain {
            Ok(self.path.join(path))
        } else {
            Err(io::ErrorKind::InvalidInput.into())
        }
    }
}

impl PrivateDirectory for TemporaryDirectory {
    fn path(&self) -> &Path {
        &self.path
    }

    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let path = self.inside(path)?;
        if let Some(dir) = path.parent() {
            fs::create_dir_all(dir)?;
        }
        let mut options = File::options();
        options.write(true).create(true).truncate(true);
        #[cfg(unix)]
        {
            use std::os::unix::fs::OpenOptionsExt as _;
            options.mode(0o600);
        }
        options.open(path)?.write_all(bytes)
    }

    fn make_directory(&self, path: &Path) -> io::Result<()> {
        fs::create_dir_all(self.inside(path)?)
    }
}

impl Drop for TemporaryDirectory {
    fn drop(&mut self) {
        // Else it could not be removed on Windows.
        self.lock = None;
        // What cannot be removed is left to the next process.
        fs::remove_dir_all(&self.path).ok();
    }
}

/// Removes the directories of processes that were killed; what cannot be removed does no harm.
fn remove_orphans(above: &Path) {
    for entry in RealDisk.list(above).unwrap_or_default() {
        let path = above.join(&entry.name);
        let has_prefix = entry
            .name
            .to_str()
            .is_some_and(|name| name.starts_with(PREFIX));
        if has_prefix
            && entry.kind == FileKind::Directory
            && is_own(&path)
            // A process that still runs holds this lock.
            && let Ok((lock, _)) = open_regular(&path.join(IN_USE))
            && lock.try_lock().is_ok()
        {
            drop(lock);
            fs::remove_dir_all(&path).ok();
        }
    }
}

/// Returns whether a directory belongs to this user: others may have prepared something else.
#[cfg(unix)]
fn is_own(path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let user = rustix::process::geteuid().as_raw();
    fs::symlink_metadata(path).is_ok_and(|found| found.is_dir() && found.uid() == user)
}

/// Elsewhere every user has a directory for temporary files.
#[cfg(not(unix))]
fn is_own(_path: &Path) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_private_directory_is_removed_with_its_value() {
        let made = make().expect("made");
        let path = made.path().to_owned();
        made.write(Path::new("a/key"), b"secret").expect("written");
        made.make_directory(Path::new("b/c")).expect("made");
        assert_eq!(fs::read(path.join("a/key")).expect("there"), b"secret");
        assert!(path.join("b/c").is_dir());
        for outside in ["../x", "/x", "a/../../x"] {
            assert!(made.write(Path::new(outside), b"").is_err(), "{outside}");
        }
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode =
                |path: &Path| fs::metadata(path).expect("there").permissions().mode() & 0o777;
            assert_eq!(mode(&path), 0o700);
            assert_eq!(mode(&path.join("a/key")), 0o600);
        }
        // One that is in use is left alone, and one that is not is removed.
        remove_orphans(path.parent().expect("a directory above"));
        assert!(path.is_dir());
        drop(made);
        assert!(!path.exists());
    }

    #[test]
    fn what_a_killed_process_left_behind_is_removed() {
        let above = tempfile::tempdir().expect("a temporary directory");
        let orphan = above.path().join("lockctl-dir-abc123");
        fs::create_dir_all(orphan.join("repo")).expect("made");
        fs::write(orphan.join("repo/pack"), b"x").expect("written");
        remove_orphans(above.path());
        assert!(orphan.exists(), "it may have been made this moment");
        fs::write(orphan.join(IN_USE), b"").expect("written");
        fs::create_dir(above.path().join("other")).expect("made");
        remove_orphans(above.path());
        assert!(!orphan.exists());
        assert!(above.path().join("other").exists());
    }
}
