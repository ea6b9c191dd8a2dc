//! Objects as files of a directory that one user alone may use.
//!
//! The directory is opened once, and everything in it is opened from there, without following a link: the
//! directory that was checked to be private is the one in use, even if its path leads elsewhere later. An
//! object or a directory that others may write to is refused, as is a link.
//!
//! A new object is written to a file in the directory `new`, which is then renamed. Nothing is synced: the
//! objects carry their own check, and to wait for the disk would cost more than to compute them again.

use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Duration, SystemTime};

use rustix::fs::{self, AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;

use super::link_free::{DIRECTORY, SAFE, Temporary, remove_orphans};
use super::{MAX_KEY_WORDS, NEW_OBJECTS, absent_as_none, read_regular, refused};
use crate::world::{ObjectSize, Objects, is_key_word};

/// Attempts to put an object if other processes remove its directory, or its file, meanwhile.
const ATTEMPTS: usize = 3;

/// The mode of directories that are made.
const PRIVATE: Mode = Mode::from_raw_mode(0o700);

/// Permission bits of the group and of all others.
const OF_OTHERS: fs::RawMode = 0o077;

/// The part of that which changes something.
const WRITABLE_BY_OTHERS: fs::RawMode = 0o022;

/// Objects as files of a directory.
pub(super) struct DirectoryObjects {
    dir: PathBuf,
    /// The directory, since it was found to be private.
    top: OnceLock<OwnedFd>,
}

/// The reaction to a missing directory.
#[derive(Clone, Copy, PartialEq, Eq)]
enum IfMissing {
    Make,
    Fail,
}

impl DirectoryObjects {
    /// Keeps objects in a directory, which is made when the first one is put.
    pub(super) fn new(dir: &Path) -> Self {
        Self {
            dir: dir.to_owned(),
            top: OnceLock::new(),
        }
    }

    /// Opens the directory, unless that was done before.
    fn top(&self, if_missing: IfMissing) -> io::Result<BorrowedFd<'_>> {
        if let Some(top) = self.top.get() {
            return Ok(top.as_fd());
        }
        if if_missing == IfMissing::Make {
            if let Some(above) = self.dir.parent() {
                std::fs::create_dir_all(above)?;
            }
            existing_is_fine(fs::mkdir(&self.dir, PRIVATE))?;
        }
        let top = fs::open(&self.dir, DIRECTORY, Mode::empty()).map_err(of_directory)?;
        check(&top, FileType::Directory, OF_OTHERS)?;
        // What ended processes left behind is removed by the first one that comes after them.
        if let Ok(new) = fs::openat(&top, NEW_OBJECTS, DIRECTORY, Mode::empty()) {
            remove_orphans(&new);
        }
        Ok(self.top.get_or_init(|| top).as_fd())
    }

    /// Opens the directory that holds the object of a key; returns it with the name of the object.
    fn directory_of<'k>(
        &self,
        key: &'k str,
        if_missing: IfMissing,
    ) -> io::Result<(OwnedFd, &'k str)> {
        if !key.split('/').all(is_key_word) || key.split('/').count() > MAX_KEY_WORDS {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let (dirs, name) = key.rsplit_once('/').unwrap_or((".", key));
        Ok((self.directory(dirs, if_missing)?, name))
    }

    fn directory(&self, dirs: &str, if_missing: IfMissing) -> io::Result<OwnedFd> {
        let mut dir = fs::openat(self.top(if_missing)?, ".", DIRECTORY, Mode::empty())?;
        for name in dirs.split('/') {
            if if_missing == IfMissing::Make {
                existing_is_fine(fs::mkdirat(&dir, name, PRIVATE))?;
            }
            dir = fs::openat(&dir, name, DIRECTORY, Mode::empty()).map_err(of_directory)?;
            check(&dir, FileType::Directory, WRITABLE_BY_OTHERS)?;
        }
        Ok(dir)
    }

    fn put_once(&self, key: &str, bytes: &[u8]) -> io::Result<()> {
        let (dir, name) = self.directory_of(key, IfMissing::Make)?;
        let new = self.directory(NEW_OBJECTS, IfMissing::Make)?;
        let mut temporary = Temporary::make(&new, &self.dir.join(NEW_OBJECTS))?;
        temporary.file.write_all(bytes)?;
        match fs::renameat(&new, &*temporary.name, &dir, name) {
            // Anything else that has the name of an object is useless.
            Err(Errno::ISDIR | Errno::NOTEMPTY | Errno::EXIST) => {
                Err(io::ErrorKind::IsADirectory.into())
            }
            renamed => Ok(renamed?),
        }
    }
}

impl Objects for DirectoryObjects {
    fn check(&self) -> io::Result<()> {
        absent_as_none(self.top(IfMissing::Fail)).map(|_| ())
    }

    fn get(&self, key: &str, limit: u64) -> io::Result<Option<Vec<u8>>> {
        absent_as_none(
            self.directory_of(key, IfMissing::Fail)
                .and_then(|(dir, name)| {
                    // A FIFO is opened without waiting for it, and then refused.
                    let flags = SAFE | OFlags::NONBLOCK | OFlags::NOCTTY;
                    let file =
                        fs::openat(&dir, name, flags, Mode::empty()).map_err(
                            |error| match error {
                                Errno::LOOP => refused("it is a link"),
                                error => error.into(),
                            },
                        )?;
                    check(&file, FileType::RegularFile, WRITABLE_BY_OTHERS)?;
                    read_regular(File::from(file), 0, limit)
                }),
        )
    }

    fn put(&self, key: &str, bytes: &[u8]) -> io::Result<()> {
        let mut put = self.put_once(key, bytes);
        for _ in 1..ATTEMPTS {
            match &put {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    put = self.put_once(key, bytes);
                }
                _ => break,
            }
        }
        put
    }

    fn measure(&self, above: &str) -> io::Result<Vec<ObjectSize>> {
        let mut found = Vec::new();
        let mut open = vec![above.to_owned()];
        while let Some(above) = open.pop() {
            let Some(dir) = absent_as_none(self.directory(&above, IfMissing::Fail))? else {
                continue;
            };
            for entry in fs::Dir::read_from(&dir)? {
                let entry = entry?;
                let Some(name) = entry
                    .file_name()
                    .to_str()
                    .ok()
                    .filter(|name| is_key_word(name))
                else {
                    continue;
                };
                // Another process may have removed it meanwhile.
                let stat = fs::statat(&dir, name, AtFlags::SYMLINK_NOFOLLOW);
                let Some(stat) = absent_as_none(stat.map_err(io::Error::from))? else {
                    continue;
                };
                let key = format!("{above}/{name}");
                let is_directory = FileType::from_raw_mode(stat.st_mode) == FileType::Directory;
                // A deeper directory is no key of this program: its tree is not walked, so that no depth fills the
                // memory.
                if is_directory && key.split('/').count() < MAX_KEY_WORDS {
                    open.push(key);
                } else {
                    let since = u64::try_from(stat.st_mtime).unwrap_or_default();
                    found.push(ObjectSize {
                        key,
                        bytes: u64::try_from(stat.st_size).unwrap_or_default(),
                        written: SystemTime::UNIX_EPOCH + Duration::from_secs(since),
                    });
                }
            }
        }
        found.sort();
        Ok(found)
    }

    fn remove(&self, key: &str) -> io::Result<()> {
        let removed = self
            .directory_of(key, IfMissing::Fail)
            .and_then(|(dir, name)| Ok(fs::unlinkat(&dir, name, AtFlags::empty())?));
        absent_as_none(removed).map(|_| ())
    }
}

/// Makes sure that something open is what it should be, and that others may not do this to it.
fn check(open: &OwnedFd, kind: FileType, of_others: fs::RawMode) -> io::Result<()> {
    let stat = fs::fstat(open)?;
    if FileType::from_raw_mode(stat.st_mode) != kind {
        Err(refused("it is not a regular file"))
    } else if stat.st_uid != rustix::process::geteuid().as_raw() {
        Err(refused("it belongs to another user"))
    } else if stat.st_mode & of_others != 0 {
        Err(refused(match kind {
            FileType::Directory => "other users may use it; `chmod 700` makes it private",
            _ => "other users may write to it",
        }))
    } else {
        Ok(())
    }
}

/// Explains why something is no directory that can be used.
fn of_directory(error: Errno) -> io::Error {
    match error {
        // Linux says the former of a link, other systems the latter.
        Errno::NOTDIR | Errno::LOOP => refused("it is a link or a file, not a directory"),
        error => error.into(),
    }
}

/// Accepts an existing directory; the caller checks its kind and owner by opening it.
pub(super) fn existing_is_fine(made: rustix::io::Result<()>) -> io::Result<()> {
    match made {
        Err(error) if error != Errno::EXIST => Err(error.into()),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;
    use crate::os::objects_by_path;

    const KEY: &str = "facts-1/ab/abc";

    fn set_mode(path: &Path, mode: u32) {
        fs::set_permissions(path, Permissions::from_mode(mode)).expect("set");
    }

    fn names(dir: &Path) -> Vec<String> {
        let names = fs::read_dir(dir)
            .expect("listed")
            .map(|entry| entry.expect("read").file_name());
        names
            .map(|name| name.to_string_lossy().into_owned())
            .collect()
    }

    /// Puts, reads, lists and removes objects in a directory that is not there yet.
    #[track_caller]
    fn check_use(objects: &dyn Objects, dir: &Path) {
        assert_eq!(objects.get(KEY, 10).expect("read"), None);
        assert_eq!(objects.list("facts-1").expect("listed"), [""; 0]);
        objects.remove(KEY).expect("there is none");
        objects.check().expect("there is nothing");
        assert!(!dir.exists(), "only putting makes it");
        for text in ["one", "two"] {
            objects.put(KEY, text.as_bytes()).expect("put");
            assert_eq!(
                objects.get(KEY, 10).expect("read").as_deref(),
                Some(text.as_bytes())
            );
        }
        let error = objects.get(KEY, 2).expect_err("too large");
        assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
        objects.put("facts-1/aa/c", b"").expect("put");
        fs::write(dir.join("facts-1/aa/No key"), "").expect("written");
        assert_eq!(
            objects.list("facts-1").expect("listed"),
            ["facts-1/aa/c", KEY]
        );
        assert_eq!(objects.list("facts-1/ab").expect("listed"), [KEY]);
        assert_eq!(
            names(&dir.join("new")),
            [""; 0],
            "nothing temporary is left"
        );
        for key in ["../x", "facts-1/../x", "/x", "a//b", "", "A"] {
            let error = objects.get(key, 1).expect_err("no key");
            assert_eq!(error.kind(), io::ErrorKind::InvalidInput, "{key:?}");
        }
        objects.remove(KEY).expect("removed");
        assert_eq!(objects.get(KEY, 10).expect("read"), None);
    }

    #[test]
    fn objects_are_put_read_listed_and_removed() {
        let base = tempfile::tempdir().expect("made");
        let (one, other) = (base.path().join("a/one"), base.path().join("a/other"));
        check_use(&DirectoryObjects::new(&one), &one);
        check_use(&objects_by_path::DirectoryObjects::new(&other), &other);
        let mode = |path: &Path| fs::metadata(path).expect("there").permissions().mode() & 0o777;
        assert_eq!((mode(&one), mode(&one.join("facts-1/aa"))), (0o700, 0o700));
        assert_eq!(mode(&one.join("facts-1/aa/c")), 0o600);
    }

    #[track_caller]
    fn check_refused(dir: &Path, why: &str) {
        let objects = DirectoryObjects::new(dir);
        let got = objects.get(KEY, 10).expect_err("refused");
        assert_eq!(
            (got.kind(), &*got.to_string()),
            (io::ErrorKind::PermissionDenied, why)
        );
    }

    #[test]
    fn what_others_may_use_is_refused() {
        let base = tempfile::tempdir().expect("made");
        let dir = base.path().join("store");
        DirectoryObjects::new(&dir).put(KEY, b"x").expect("put");
        for mode in [0o755, 0o701, 0o720, 0o777] {
            set_mode(&dir, mode);
            check_refused(&dir, "other users may use it; `chmod 700` makes it private");
            let error = DirectoryObjects::new(&dir)
                .put(KEY, b"y")
                .expect_err("refused");
            assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
        }
        set_mode(&dir, 0o700);
        for (path, why) in [
            (
                "facts-1/ab",
                "other users may use it; `chmod 700` makes it private",
            ),
            ("facts-1/ab/abc", "other users may write to it"),
        ] {
            set_mode(&dir.join(path), 0o777);
            check_refused(&dir, why);
            set_mode(&dir.join(path), 0o700);
        }
        let got = DirectoryObjects::new(&dir)
            .get(KEY, 10)
            .expect("private again");
        assert_eq!(got.as_deref(), Some(&b"x"[..]));
    }

    #[test]
    fn links_and_other_things_are_refused() {
        let base = tempfile::tempdir().expect("made");
        let dir = base.path().join("store");
        DirectoryObjects::new(&dir).put(KEY, b"x").expect("put");
        let no_directory = "it is a link or a file, not a directory";
        let link = base.path().join("link");
        symlink(&dir, &link).expect("made");
        check_refused(&link, no_directory);
        for (path, why) in [
            ("facts-1/ab/abc", "it is a link"),
            ("facts-1/ab", no_directory),
            ("facts-1", no_directory),
        ] {
            let (path, away) = (dir.join(path), base.path().join("away"));
            fs::rename(&path, &away).expect("moved");
            symlink(&away, &path).expect("made");
            check_refused(&dir, why);
            for objects in [
                &DirectoryObjects::new(&dir) as &dyn Objects,
                &objects_by_path::DirectoryObjects::new(&dir),
            ] {
                let got = objects.get(KEY, 10).expect_err("refused");
                assert_eq!(got.kind(), io::ErrorKind::PermissionDenied);
            }
            fs::remove_file(&path).expect("removed");
            fs::rename(&away, &path).expect("moved back");
        }
        let object = dir.join(KEY);
        fs::remove_file(&object).expect("removed");
        fs::create_dir(&object).expect("made");
        check_refused(&dir, "it is not a regular file");
        assert!(DirectoryObjects::new(&dir).put(KEY, b"y").is_err());
        fs::remove_dir(&object).expect("removed");
        // To open a FIFO for reading would wait for a writer.
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &object,
            FileType::Fifo,
            Mode::from_raw_mode(0o600),
            0,
        )
        .expect("made");
        check_refused(&dir, "it is not a regular file");
    }

    #[test]
    fn temporary_files_of_ended_processes_are_removed() {
        let base = tempfile::tempdir().expect("made");
        let dir = base.path().join("store");
        DirectoryObjects::new(&dir).put(KEY, b"x").expect("put");
        let left = dir.join("new/.lockctl-a1B2c3");
        for open in [
            &(|dir: &Path| DirectoryObjects::new(dir).get(KEY, 10)) as &dyn Fn(&Path) -> _,
            &|dir| objects_by_path::DirectoryObjects::new(dir).get(KEY, 10),
        ] {
            let file = File::create(&left).expect("made");
            file.try_lock().expect("free");
            open(&dir).expect("read");
            assert!(left.exists(), "its process lives");
            drop(file);
            open(&dir).expect("read");
            assert!(!left.exists());
        }
    }
}
