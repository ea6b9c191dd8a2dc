//! Many roots: what is read of each, and that threads change nothing of what is said.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use lockctl::os::RealDisk;
use lockctl::world::Files;

use super::*;
use crate::disk::{Changed, Changes};

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
    // In one thread: two of them may ask for the same directory at the same time.
    for args in [
        &["lock", "-r", "--fs-mirror", "mirror", "--jobs", "1"][..],
        &["verify", "-r", "--jobs", "1"],
    ] {
        let calls = |roots: usize| {
            let lab = locked(roots);
            let disk = Changed::<Counting>::default();
            assert_exit(&lab.run_on(&disk, args), 0);
            disk.0.calls.into_inner()
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
            let alone = run("1").exits(exit);
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

impl Changes for Counting {
    fn looked_at(&self) {
        self.calls.fetch_add(1, Ordering::Relaxed);
    }
}

/// A disk that counts how often each lock file is read.
#[derive(Default)]
struct CountedLocks(Mutex<BTreeMap<PathBuf, usize>>);

impl Changes for CountedLocks {
    fn read(&self, path: &Path, limit: u64) -> io::Result<Vec<u8>> {
        if path.ends_with(LOCK) && path.exists() {
            *self.0.lock().unwrap().entry(path.to_owned()).or_default() += 1;
        }
        RealDisk.read(path, limit)
    }
}

/// The search for roots reads a lock file for its flavor, and the root is opened with the same bytes.
#[test]
fn each_lock_file_is_read_once() {
    let lab = locked(3);
    // Without a header the whole file counts: the registries in it show the flavor.
    let path = format!("live/001/{LOCK}");
    let text = lab.read(&path);
    lab.write(&path, &text[text.find("provider").unwrap()..]);
    for command in ["verify", "show", "outdated"] {
        let disk = Changed::<CountedLocks>::default();
        let outcome = lab.run_on(&disk, &[command, "-r"]);
        let counts = disk.0.0.into_inner().unwrap();
        assert_eq!(counts.len(), 3, "{command}: {counts:?} {outcome:?}");
        assert!(
            counts.values().all(|count| *count == 1),
            "{command}: {counts:?}"
        );
    }
}
