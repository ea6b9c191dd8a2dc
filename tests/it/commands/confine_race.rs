//! `--confine` and the disk below it, while somebody changes links.

use std::io;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use lockctl::os::RealDisk;
use lockctl::world::{Confined, Disk, FileKind, Files, Replaced};

use super::*;
use crate::disk::{Changed, Changes};

/// A disk on which somebody puts a link in the place of something as soon as it was looked at.
struct Swapping {
    place: PathBuf,
    target: &'static str,
    left: AtomicBool,
}

impl Changes for Swapping {
    fn without_links<'d>(&self, _: &'d dyn Disk) -> &'d dyn Disk {
        RealDisk.without_links()
    }

    fn link(&self, path: &Path) -> io::Result<Option<PathBuf>> {
        let found = RealDisk.link(path);
        if path == self.place && self.left.swap(false, Ordering::Relaxed) {
            std::fs::rename(path, path.with_extension("away")).unwrap();
            symlink(self.target, path).unwrap();
        }
        found
    }
}

const FILE: &str = "top/dir/file";

type Use = fn(&Confined<'_>) -> io::Result<()>;

/// What is done below `top/dir`, beside which is a directory that looks the same.
const USES: [(&str, Use); 8] = [
    ("read", |files| files.read(FILE.as_ref(), 100).map(drop)),
    ("open", |files| files.open(FILE.as_ref()).map(drop)),
    ("kind", |files| files.kind(FILE.as_ref()).map(drop)),
    ("resolve", |files| files.resolve(FILE.as_ref()).map(drop)),
    ("list", |files| files.list("top/dir".as_ref()).map(drop)),
    ("replace", |files| {
        let old = Some(&b"inside"[..]);
        files.replace(FILE.as_ref(), old, b"new").map(drop)
    }),
    ("remove", |files| {
        files.remove(FILE.as_ref(), b"inside").map(drop)
    }),
    ("make_directory", |files| {
        files.make_directory("top/dir/new".as_ref())
    }),
];

#[test]
fn a_link_that_appears_after_the_look_is_not_followed() {
    for (place, target) in [("top/dir", "../beside"), (FILE, "../../beside/file")] {
        for (name, act) in USES {
            let lab = Lab::new();
            lab.write(FILE, "inside").write("beside/file", "inside");
            let disk = Changed(Swapping {
                place: std::fs::canonicalize(lab.path(place)).unwrap(),
                target,
                left: AtomicBool::new(true),
            });
            let confined = Confined::new(&disk, lab.path(""), Path::new("top"), &[]).unwrap();
            let result = act(&confined);
            let is_below = place == FILE && ["list", "make_directory", "remove"].contains(&name);
            assert_eq!(result.is_ok(), is_below, "{name} {place}: {result:?}");
            assert_eq!(disk.0.left.into_inner(), is_below, "{name} {place}");
            let beside = lab.path("beside");
            let names = RealDisk.list(&beside).unwrap();
            assert_eq!(names.len(), 1, "{name} {place}: {names:?}");
            assert_eq!(lab.read("beside/file"), "inside", "{name} {place}");
        }
    }
}

#[test]
fn files_without_links_are_used_as_any_other() {
    let lab = Lab::new();
    lab.write("top/dir/file", "old");
    let top = std::fs::canonicalize(lab.path("top")).unwrap();
    let strict = RealDisk.without_links();
    let file = top.join("dir/file");
    assert_eq!(strict.list(&top).unwrap(), RealDisk.list(&top).unwrap());
    assert_eq!(strict.kind(&top).unwrap(), FileKind::Directory);
    assert_eq!(strict.kind(Path::new("/")).unwrap(), FileKind::Directory);
    assert_eq!(strict.read(&file, 3).unwrap(), b"old");
    let too_large = strict.read(&file, 2).unwrap_err();
    assert_eq!(too_large.kind(), io::ErrorKind::FileTooLarge);
    let directory = strict.read(&top, 9).unwrap_err();
    assert_eq!(directory.kind(), io::ErrorKind::IsADirectory);
    for (old, new, done) in [
        (None, "x", Replaced::Changed),
        (Some("new"), "x", Replaced::Changed),
        (Some("old"), "new", Replaced::Done),
    ] {
        let replaced = strict.replace(&file, old.map(str::as_bytes), new.as_bytes());
        assert_eq!(replaced.unwrap(), done, "{old:?}");
    }
    assert_eq!(lab.read("top/dir/file"), "new");
    strict.make_directory(&top.join("a/b")).unwrap();
    strict.make_directory(&top.join("a/b")).unwrap();
    let made = top.join("a/b/c");
    assert_eq!(strict.replace(&made, None, b"c").unwrap(), Replaced::Done);
    let mode = made.metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o644);
    assert_eq!(strict.remove(&made, b"d").unwrap(), Replaced::Changed);
    assert_eq!(strict.remove(&made, b"c").unwrap(), Replaced::Done);
    assert_eq!(strict.list(&top.join("a/b")).unwrap(), []);
    assert_eq!(strict.list(&top.join("dir")).unwrap().len(), 1);
    symlink("dir", top.join("link")).unwrap();
    assert_eq!(strict.link(&top.join("link")).unwrap(), Some("dir".into()));
    assert_eq!(strict.link(&file).unwrap(), None);
    assert_eq!(strict.link(&top.join("nothing")).unwrap(), None);
    for path in ["link", "link/file"] {
        assert!(strict.read(&top.join(path), 9).is_err(), "{path}");
    }
    assert!(strict.read(Path::new("dir/file"), 9).is_err(), "relative");
}
