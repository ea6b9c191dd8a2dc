//! What is so on Windows only: files that another program has open, long paths, many names of one directory.
//!
//! A handle of this process stands in for the other program: the system compares the modes of handles, whose
//! ever they are.

use std::os::windows::fs::OpenOptionsExt;

use super::*;

/// `FILE_SHARE_READ`: others may read, but neither write, nor rename, nor delete.
const OTHERS_MAY_READ: u32 = 1;

fn open_elsewhere(path: &Path, others: u32) -> File {
    let mut options = File::options();
    options.read(true).share_mode(others);
    options.open(path).expect("opened")
}

fn dir() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary directory")
}

fn names(dir: &Path) -> Vec<OsString> {
    let entries = RealDisk.list(dir).expect("listed");
    entries.into_iter().map(|entry| entry.name).collect()
}

#[test]
fn a_file_is_replaced_when_nobody_has_it_open_any_more() {
    let dir = dir();
    let path = dir.path().join("lock");
    fs::write(&path, b"one").expect("written");
    let other = open_elsewhere(&path, OTHERS_MAY_READ);
    std::thread::scope(|scope| {
        scope.spawn(move || {
            std::thread::sleep(20 * RENAME_PAUSE);
            drop(other);
        });
        let replaced = RealDisk.replace(&path, Some(b"one"), b"two");
        assert_eq!(replaced.expect("works"), Replaced::Done);
    });
    assert_eq!(fs::read(&path).expect("there"), b"two");
    assert_eq!(names(dir.path()), ["lock"]);
}

#[test]
fn a_file_that_stays_open_elsewhere_is_kept() {
    let dir = dir();
    let path = dir.path().join("lock");
    fs::write(&path, b"one").expect("written");
    let _other = open_elsewhere(&path, OTHERS_MAY_READ);
    let error = RealDisk.replace(&path, Some(b"one"), b"two");
    assert!(is_in_use(&error.expect_err("refused")));
    assert_eq!(fs::read(&path).expect("there"), b"one");
    assert_eq!(names(dir.path()), ["lock"]);
}

/// Programs that look for viruses open what is new, and that is the temporary file.
#[test]
fn a_finished_file_is_renamed_when_nobody_has_it_open_any_more() {
    let dir = dir();
    let path = dir.path().join("lock");
    let (_mark, temporary) = temporary_in(dir.path()).expect("made");
    // The handle of `tempfile` is for writing, and no handle shares that with this one.
    let temporary = NamedTempFile::from_parts(
        open_elsewhere(temporary.path(), 7),
        temporary.into_temp_path(),
    );
    let other = open_elsewhere(temporary.path(), OTHERS_MAY_READ);
    std::thread::scope(|scope| {
        scope.spawn(move || {
            std::thread::sleep(20 * RENAME_PAUSE);
            drop(other);
        });
        patiently(temporary, |file| file.persist(&path)).expect("renamed");
    });
    assert_eq!(names(dir.path()), ["lock"]);
}

#[test]
fn one_directory_has_one_lock_by_all_its_names() {
    let dir = dir();
    let path = dir.path().join("a root");
    fs::create_dir(&path).expect("made");
    let _held = RealDisk.exclusive(&path.join("lock")).expect("free");
    let verbatim = fs::canonicalize(&path).expect("there");
    assert!(verbatim.to_string_lossy().starts_with(r"\\?\"));
    let upper = path.to_string_lossy().to_uppercase();
    for name in [
        verbatim.as_path(),
        Path::new(&upper),
        &path.join("."),
        &path.join(r"..\A ROOT"),
    ] {
        assert!(exclusive::is_taken(name), "{name:?}");
    }
    assert!(!exclusive::is_taken(dir.path()));
}

#[test]
fn paths_may_be_longer_than_260_characters() {
    let kept = dir();
    let dir = (0..8).fold(kept.path().to_owned(), |dir, _| dir.join("d".repeat(40)));
    RealDisk.make_directory(&dir).expect("made");
    let path = dir.join("lock");
    assert!(path.as_os_str().len() > 300);
    assert_eq!(
        RealDisk.replace(&path, None, b"one").expect("works"),
        Replaced::Done
    );
    assert_eq!(
        RealDisk
            .replace(&path, Some(b"one"), b"two")
            .expect("works"),
        Replaced::Done
    );
    assert_eq!(RealDisk.read(&path, 10).expect("there"), b"two");
    assert_eq!(names(&dir), ["lock"]);
    assert_eq!(RealDisk.kind(&path).expect("there"), FileKind::File);
    assert_eq!(RealDisk.link(&path).expect("there"), None);
    RealDisk.remove(&path, b"two").expect("removed");
    assert!(names(&dir).is_empty());
}
