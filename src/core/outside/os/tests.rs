use super::*;
#[cfg(unix)]
use crate::world::CachedDisk;

fn dir() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary directory")
}

#[test]
fn replace_writes_only_over_what_was_read() {
    let dir = dir();
    let path = dir.path().join("lock");
    let replace = |old, new| RealDisk.replace(&path, old, new).expect("works");
    assert_eq!(replace(Some(b"x"), b"y"), Replaced::Changed);
    assert_eq!(replace(None, b"one"), Replaced::Done);
    assert_eq!(replace(None, b"two"), Replaced::Changed);
    assert_eq!(replace(Some(b"other"), b"two"), Replaced::Changed);
    assert_eq!(fs::read(&path).expect("there"), b"one");
    assert_eq!(replace(Some(b"one"), b"two"), Replaced::Done);
    assert_eq!(fs::read(&path).expect("there"), b"two");
    let names = RealDisk.list(dir.path()).expect("listed");
    assert_eq!(names.len(), 1, "no temporary file is left: {names:?}");
}

#[test]
fn of_two_that_replace_at_once_none_loses_what_it_wrote() {
    const WRITERS: usize = 4;
    const TIMES: usize = 50;
    let dir = dir();
    let path = dir.path().join("lock");
    fs::write(&path, b"").expect("written");
    let append = |disk: &dyn Disk| {
        loop {
            let old = disk.read(&path, 1 << 20).expect("there");
            let new = [&*old, b"."].concat();
            let replaced = disk.replace(&path, Some(&old), &new).expect("works");
            if replaced == Replaced::Done {
                break;
            }
        }
    };
    std::thread::scope(|scope| {
        for writer in 0..WRITERS {
            scope.spawn(move || {
                let disk: &dyn Disk = match writer % 2 {
                    0 => &RealDisk,
                    _ => RealDisk.without_links(),
                };
                for _ in 0..TIMES {
                    append(disk);
                }
            });
        }
    });
    assert_eq!(fs::read(&path).expect("there").len(), WRITERS * TIMES);
}

#[test]
fn temporary_files_of_processes_that_ended_are_removed() {
    let dir = dir();
    let path = dir.path().join("lock");
    let disks: [&dyn Disk; 2] = [&RealDisk, RealDisk.without_links()];
    for disk in disks {
        fs::write(dir.path().join(".lockctl-Ended1"), b"half").expect("written");
        let owned = File::create(dir.path().join(".lockctl-Owned1")).expect("made");
        owned.try_lock().expect("free");
        fs::write(dir.path().join(".lockctl-other"), b"").expect("written");
        let old = disk.read(&path, 100).ok();
        let replaced = disk.replace(&path, old.as_deref(), b"new");
        assert_eq!(replaced.expect("works"), Replaced::Done);
        let names = RealDisk.list(dir.path()).expect("listed");
        let names: Vec<_> = names.iter().map(|entry| &*entry.name).collect();
        assert_eq!(names, [".lockctl-Owned1", ".lockctl-other", "lock"]);
    }
}

#[test]
fn without_a_lock_a_file_is_looked_at_after_the_step() {
    let dir = dir();
    let path = dir.path().join("lock");
    let held = Exclusive::unsupported();
    let file = Replacement {
        path: &path,
        old: None,
        new: b"one",
    };
    let replaced = RealDisk.replace_held(&held, file);
    assert_eq!(replaced.expect("works"), Replaced::Done);
    let found = |bytes: &[u8]| written_or_changed(Some(bytes.to_vec()), b"one");
    assert_eq!(found(b"one"), Replaced::Done);
    assert_eq!(found(b"two"), Replaced::Changed);
    assert_eq!(written_or_changed(None, b"one"), Replaced::Changed);
}

/// `/proc/kmsg` is a regular file by its mode, and a FIFO may take the place of a file behind the first look.
#[cfg(unix)]
#[test]
fn files_are_opened_without_waiting() {
    let dir = dir();
    let path = dir.path().join("file");
    fs::write(&path, b"x").expect("written");
    let (file, _) = open_regular(&path).expect("opened");
    let flags = rustix::fs::fcntl_getfl(&file).expect("flags");
    assert!(flags.contains(rustix::fs::OFlags::NONBLOCK), "{flags:?}");
}

#[cfg(unix)]
#[test]
fn a_fifo_a_socket_and_a_device_are_no_regular_files() {
    let kept = dir();
    let dir = fs::canonicalize(kept.path()).expect("there");
    let fifo = dir.join("fifo");
    let made = std::process::Command::new("mkfifo").arg(&fifo).status();
    assert!(made.expect("started").success());
    let socket = dir.join("socket");
    let _listening = std::os::unix::net::UnixListener::bind(&socket).expect("bound");
    let disks: [&dyn Disk; 2] = [&RealDisk, RealDisk.without_links()];
    for disk in disks {
        for path in [&*fifo, &socket, Path::new("/dev/null")] {
            let read = disk.read(path, 10).expect_err("refused");
            assert_eq!(read.to_string(), "not a regular file", "{path:?}");
            let opened = disk.open(path).map(drop).expect_err("refused");
            assert_eq!(opened.to_string(), "not a regular file", "{path:?}");
        }
    }
}

#[test]
fn read_stops_at_the_limit() {
    let dir = dir();
    let path = dir.path().join("file");
    fs::write(&path, b"12345").expect("written");
    assert_eq!(RealDisk.read(&path, 5).expect("fits"), b"12345");
    let error = RealDisk.read(&path, 4).expect_err("too large");
    assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
}

#[cfg(unix)]
#[test]
fn a_link_is_followed_and_a_mode_is_kept() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let dir = dir();
    let target = dir.path().join("target");
    let link = dir.path().join("link");
    symlink("target", &link).expect("linked");
    RealDisk
        .replace(&link, None, b"one")
        .expect_err("a link that leads nowhere");
    fs::write(&target, b"one").expect("written");
    fs::set_permissions(&target, fs::Permissions::from_mode(0o644)).expect("set");
    let mode = |path: &Path| fs::metadata(path).expect("there").permissions().mode() & 0o777;
    assert_eq!(mode(&target), 0o644);
    fs::set_permissions(&target, fs::Permissions::from_mode(0o600)).expect("set");
    assert_eq!(
        RealDisk
            .replace(&link, Some(b"one"), b"two")
            .expect("works"),
        Replaced::Done
    );
    assert_eq!(mode(&target), 0o600);
    assert!(
        fs::symlink_metadata(&link)
            .expect("there")
            .file_type()
            .is_symlink()
    );
    assert_eq!(fs::read(&target).expect("there"), b"two");
}

#[cfg(unix)]
#[test]
fn a_path_that_is_no_link_stays_as_it_is() {
    let dir = dir();
    fs::create_dir(dir.path().join("real")).expect("made");
    std::os::unix::fs::symlink("real", dir.path().join("link")).expect("linked");
    let path = dir.path().join("link/lock");
    assert_eq!(follow_links(&path).expect("absent"), path);
    fs::write(&path, b"one").expect("written");
    assert_eq!(follow_links(&path).expect("there"), path);
}

#[cfg(unix)]
#[test]
fn a_circle_of_links_is_an_error() {
    let dir = dir();
    let link = dir.path().join("link");
    std::os::unix::fs::symlink("link", &link).expect("linked");
    assert!(RealDisk.replace(&link, None, b"x").is_err());
}

#[cfg(unix)]
#[test]
fn a_cached_disk_lets_the_system_follow_links() {
    use std::os::unix::fs::symlink;
    let dir = dir();
    let top = dir.path().canonicalize().expect("there");
    fs::create_dir_all(top.join("far/away")).expect("made");
    symlink("far/away", top.join("link")).expect("made");
    symlink("nowhere", top.join("dangling")).expect("made");
    let disk = CachedDisk::new(&RealDisk, top.clone());
    disk.list(&top).expect("listed");
    let kind = |path: &str| {
        let kind = disk.kind(&top.join(path));
        kind.map_err(|error| error.kind())
    };
    assert_eq!(kind("link"), Ok(FileKind::Directory));
    assert_eq!(kind("dangling"), Err(io::ErrorKind::NotFound));
    assert_eq!(
        kind("link/../away"),
        Ok(FileKind::Directory),
        "not of the top"
    );
    assert_eq!(kind("far/../away"), Err(io::ErrorKind::NotFound));
}

#[test]
fn several_make_a_directory_and_those_above_it_at_once() {
    const ROUNDS: usize = 200;
    let dir = dir();
    let disks: [&dyn Disk; 2] = [&RealDisk, RealDisk.without_links()];
    for disk in disks {
        for round in 0..ROUNDS {
            let top = dir.path().join(format!("{round}/above"));
            std::thread::scope(|scope| {
                for number in 0..4 {
                    let path = top.join(format!("{}", number % 2));
                    scope.spawn(move || disk.make_directory(&path).expect("made"));
                }
            });
        }
    }
}
