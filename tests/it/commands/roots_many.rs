//! Many roots: what is read of each, and that threads change nothing of what is said.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use lockctl::os::RealDisk;
use lockctl::world::{
    DirEntry, Disk, Exclusive, FileKind, Files, Objects, ReadSeek, Replaced, Scratch,
};

use super::{ONE_PROVIDER, assert_exit, simple};
use crate::lab::Lab;

/// Roots that call a module which all share, each with a lock file that is up to date.
fn locked(roots: usize) -> Lab {
    let lab = simple();
    std::fs::remove_file(lab.path("main.tf")).unwrap();
    lab.write(".lockctl.hcl", "platforms = [\"linux_amd64\"]\n");
    lab.write("modules/m/main.tf", ONE_PROVIDER);
    for root in 0..roots {
        let text = "terraform {\n  backend \"local\" {}\n}\nmodule \"m\" {\n  source = \"../../modules/m\"\n}\n";
        lab.write(&format!("live/{root:03}/main.tf"), text);
    }
    assert_exit(&lab.run(&["lock", "-r", "--fs-mirror", "mirror"]), 0);
    lab
}

#[test]
fn what_is_read_grows_with_the_number_of_roots() {
    for args in [
        &["lock", "-r", "--fs-mirror", "mirror"][..],
        &["verify", "-r"],
    ] {
        let calls = |roots: usize| {
            let lab = locked(roots);
            let disk = Counting::default();
            assert_exit(&lab.run_on(&disk, args), 0);
            disk.calls.into_inner()
        };
        // Twice as many roots more are twice as many calls more.
        let (few, some, many) = (calls(10), calls(20), calls(40));
        assert_eq!(
            many - some,
            2 * (some - few),
            "{args:?}: {few} {some} {many}"
        );
    }
}

#[test]
fn threads_change_nothing_of_what_is_said() {
    // More roots than are read ahead, among them one that is broken and one that lacks a lock file.
    let lab = locked(70);
    lab.write("live/005/broken.tf", "terraform {\n");
    lab.write("live/066/.lockctl.hcl", "platform = []\n");
    std::fs::remove_file(lab.path("live/033/.terraform.lock.hcl")).unwrap();
    let lock = ["lock", "-r", "--fs-mirror", "mirror", "--check"];
    let verify = ["verify", "-r"];
    for (args, exit) in [(&lock[..], 2), (&verify[..], 2)] {
        for format in ["human", "json"] {
            let run = |jobs| lab.run(&[args, &["--format", format, "--jobs", jobs]].concat());
            let alone = run("1");
            assert_exit(&alone, exit);
            for jobs in ["2", "16"] {
                let together = run(jobs);
                assert_eq!(together.stdout, alone.stdout, "{args:?} --jobs {jobs}");
                assert_eq!(together.stderr, alone.stderr, "{args:?} --jobs {jobs}");
            }
        }
    }
}

/// A disk that counts how often it is asked to read something.
#[derive(Default)]
struct Counting {
    calls: AtomicUsize,
}

impl Counting {
    fn counted(&self) -> RealDisk {
        self.calls.fetch_add(1, Ordering::Relaxed);
        RealDisk
    }
}

impl Files for Counting {
    fn read(&self, path: &Path, limit: u64) -> io::Result<Vec<u8>> {
        self.counted().read(path, limit)
    }
    fn open(&self, path: &Path) -> io::Result<Box<dyn ReadSeek>> {
        self.counted().open(path)
    }
    fn list(&self, dir: &Path) -> io::Result<Vec<DirEntry>> {
        self.counted().list(dir)
    }
    fn kind(&self, path: &Path) -> io::Result<FileKind> {
        self.counted().kind(path)
    }
    fn resolve(&self, path: &Path) -> io::Result<PathBuf> {
        self.counted().resolve(path)
    }
}

impl Disk for Counting {
    fn without_links(&self) -> &dyn Disk {
        self
    }
    fn link(&self, path: &Path) -> io::Result<Option<PathBuf>> {
        self.counted().link(path)
    }
    fn exclusive(&self, path: &Path) -> io::Result<Exclusive> {
        RealDisk.exclusive(path)
    }
    fn replace_held(
        &self,
        held: &Exclusive,
        path: &Path,
        old: Option<&[u8]>,
        new: &[u8],
    ) -> io::Result<Replaced> {
        RealDisk.replace_held(held, path, old, new)
    }
    fn remove(&self, path: &Path, old: &[u8]) -> io::Result<Replaced> {
        RealDisk.remove(path, old)
    }
    fn make_directory(&self, path: &Path) -> io::Result<()> {
        RealDisk.make_directory(path)
    }
    fn scratch(&self) -> io::Result<Box<dyn Scratch>> {
        RealDisk.scratch()
    }
    fn sweep(&self, path: &Path) {
        RealDisk.sweep(path);
    }
    fn objects(&self, dir: &Path) -> Box<dyn Objects + '_> {
        RealDisk.objects(dir)
    }
}
