//! The smaller commands, and files as they lie on a disk.

use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use lockctl::cli::{self, Io, World};
use lockctl::net::RealHttp;
use lockctl::os::{RealDisk, RealRun};
use lockctl::world::{Disk, Exclusive, Files, Replaced, Replacement};

use super::*;
use crate::disk::{Changed, Changes};

#[test]
fn usage_and_missing_things_exit_with_2() {
    let lab = simple();
    for args in [
        &["lock"] as &[&str],
        &["lock", "--fs-mirror", "nowhere"],
        &["lock", "--platform", "linux"],
        &["lock", "--platform", "locked", "--fs-mirror", "mirror"],
        &["lock", "nowhere", "--fs-mirror", "mirror"],
        &["verify", "mirror"],
        &["verify", "main.tf"],
        &["show"],
        &["fmt"],
        &["hash"],
        &["hash", "nowhere"],
        &["nonsense"],
        &["--flavor", "tofu", "show"],
        &[],
    ] {
        let outcome = lab.run(args).exits(2);
        assert!(!outcome.stderr.is_empty(), "{args:?} says why");
        assert!(
            outcome.stdout.is_empty() || args.first() == Some(&"verify"),
            "{args:?}: {}",
            outcome.stdout
        );
    }
}

#[test]
fn show_lists_what_is_locked() {
    let lab = simple();
    assert_exit(&lock(&lab, BOTH), 0);
    lab.unpacked(
        ".terraform/providers",
        "example.com/t/x/1.1.0/linux_amd64",
        "1.1.0 linux_amd64",
    );
    lab.run(&["show", "-v"]).exits(0).stdout_eq(str![[r#"
PROVIDER         VERSION  CONSTRAINTS  h1  zh  other  KNOWN PLATFORMS
example.com/t/x  1.1.0    ~> 1.0       2   0   0      linux_amd64
    h1:NnL+qI4e2PY7BWBHHIZlJ0CEMhmgX29u+TcOT8Bq5xY=  linux_amd64
    h1:jXvnnYg8+9yIeXUPsWxg/+iLp8jHR9sC8czWOnQt4Dc=

"#]]);
}

#[test]
fn hash_prints_both_schemes() {
    let lab = Lab::new();
    lab.write("a.zip", zip_of(&[("terraform-provider-x_v1.0.0", "fake")]));
    lab.write("dir/terraform-provider-x_v1.0.0", "fake");
    lab.run(&["hash", "--files", "a.zip", "dir"]).exits(0).stdout_eq(str![[r#"
zh:99a3b8617846089a5ef7fcda5596df7f77fd30cde1a11f6f39c849187c0eb81a  a.zip
h1:vSUZJPJlJhDOkbAT+iqt7AAQArew8uExp71bJtBUdMw=  a.zip
  b5d54c39e66671c9731b9f471e585d8262cd4f54963f0c93082d8dcf334d4c78             4  terraform-provider-x_v1.0.0
h1:vSUZJPJlJhDOkbAT+iqt7AAQArew8uExp71bJtBUdMw=  dir
  b5d54c39e66671c9731b9f471e585d8262cd4f54963f0c93082d8dcf334d4c78             4  terraform-provider-x_v1.0.0

"#]]);
}

#[test]
fn fmt_rewrites_and_says_what_it_drops() {
    let lab = Lab::new();
    let loose = "# mine\nprovider \"example.com/t/x\" {\n version=\"1.0.0\"\n}\n";
    lab.write(LOCK, loose);
    lab.run(&["fmt", "--check"]).exits(1);
    assert_eq!(lab.read(LOCK), loose);
    let outcome = lab.run(&["fmt"]).exits(0);
    outcome.stdout_eq(str![[r#"
.terraform.lock.hcl

"#]]);
    outcome.stderr_eq(str![[r#"
note: a rewrite drops 1 comment, as Terraform and OpenTofu do

"#]]);
    lab.read(LOCK).reads(str![[r##"
# This file is maintained automatically by "terraform init".
# Manual edits may be lost in future updates.

provider "example.com/t/x" {
  version = "1.0.0"
}

"##]]);
    let again = lab.run(&["fmt"]).exits(0);
    assert!(again.stdout.is_empty() && again.stderr.is_empty());
}

#[cfg(unix)]
#[test]
fn a_linked_lock_file_stays_a_link_and_keeps_its_mode() {
    use std::os::unix::fs::PermissionsExt as _;
    let lab = simple();
    lab.write("elsewhere/lock", "");
    std::fs::set_permissions(
        lab.path("elsewhere/lock"),
        std::fs::Permissions::from_mode(0o640),
    )
    .unwrap();
    std::os::unix::fs::symlink("elsewhere/lock", lab.path(LOCK)).unwrap();
    assert_exit(&lock(&lab, BOTH), 0);
    assert!(
        std::fs::symlink_metadata(lab.path(LOCK))
            .unwrap()
            .file_type()
            .is_symlink()
    );
    assert!(lab.read("elsewhere/lock").contains("example.com/t/x"));
    let mode = std::fs::metadata(lab.path("elsewhere/lock"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o640);
}

#[cfg(unix)]
#[test]
fn a_fifo_in_the_place_of_a_lock_file_is_not_waited_for() {
    let lab = simple();
    let made = std::process::Command::new("mkfifo")
        .arg(lab.path(LOCK))
        .status()
        .unwrap();
    assert!(made.success());
    assert_exit(&lab.run(&["verify"]), 2);
    assert_exit(&lock(&lab, BOTH), 2);
}

/// Standard output that takes nothing.
struct Refusing(io::ErrorKind);

impl Write for Refusing {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(self.0.into())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Runs lockctl in a lab; returns its exit code and what it says on standard error.
fn printing_fails(lab: &Lab, kind: io::ErrorKind, args: &[&str]) -> (u8, String) {
    let mut stderr = Vec::new();
    let dir = lab.path("");
    let line = ["lockctl".into(), "-C".into(), dir.into_os_string()];
    let world = World {
        disk: &RealDisk,
        env: &lab.env,
        http: &RealHttp::trusting_as_on_linux(&lab.env),
        clock: &lab.clock,
        run: &RealRun,
        project_files: None,
    };
    let mut io = Io {
        stdout: &mut Refusing(kind),
        stderr: &mut stderr,
    };
    let code = cli::run(
        line.into_iter().chain(args.iter().map(Into::into)),
        world,
        &mut io,
    );
    (code, String::from_utf8(stderr).unwrap())
}

#[test]
fn a_result_that_cannot_be_printed_is_a_failure_with_a_reason() {
    let lab = Lab::new();
    lab.write("a.zip", zip_of(&[("x", "y")]));
    for args in [
        &["hash", "a.zip"] as &[&str],
        &["hash", "--format", "json", "a.zip"],
        &["--help"],
        &["--version"],
    ] {
        let full = printing_fails(&lab, io::ErrorKind::StorageFull, args);
        let reason = "error: the result could not be printed: no storage space\n";
        assert_eq!(full, (2, reason.to_owned()), "{args:?}");
        let gone = printing_fails(&lab, io::ErrorKind::BrokenPipe, args);
        assert_eq!(gone, (0, String::new()), "{args:?}");
    }
}

/// A disk on which somebody else writes the lock file just before lockctl does.
pub(super) struct Busy {
    pub(super) path: std::path::PathBuf,
    /// How many more times that happens.
    pub(super) left: AtomicUsize,
}

impl Changes for Busy {
    fn replace_held(&self, held: &Exclusive, file: Replacement<'_>) -> io::Result<Replaced> {
        let left = self.left.load(Ordering::Relaxed);
        if left > 0 {
            self.left.store(left - 1, Ordering::Relaxed);
            std::fs::write(&self.path, format!("# written by somebody else, {left}\n")).unwrap();
        }
        RealDisk.replace_held(held, file)
    }
}

/// A disk on which another run of this program writes the lock file of the root whenever it may: after
/// each reading of the file, unless this run keeps it out.
struct Rival {
    path: std::path::PathBuf,
    /// How often it wrote.
    written: AtomicUsize,
    /// Whether this run keeps it out.
    is_out: Arc<AtomicBool>,
}

/// Lets the rival in again when it is dropped.
struct KeptOut {
    is_out: Arc<AtomicBool>,
    _held: Exclusive,
}

impl Drop for KeptOut {
    fn drop(&mut self) {
        self.is_out.store(false, Ordering::Relaxed);
    }
}

impl Changes for Rival {
    fn read(&self, path: &Path, limit: u64) -> io::Result<Vec<u8>> {
        let read = RealDisk.read(path, limit)?;
        if path.ends_with(LOCK) && !self.is_out.load(Ordering::Relaxed) {
            let times = self.written.fetch_add(1, Ordering::Relaxed);
            let hash = format!("    \"h1:{}=\",\n  ]", format!("{times:x}").repeat(43));
            let theirs = String::from_utf8(read.clone()).unwrap();
            std::fs::write(&self.path, theirs.replace("  ]", &hash)).unwrap();
        }
        Ok(read)
    }

    fn exclusive(&self, path: &Path) -> io::Result<Exclusive> {
        let held = RealDisk.exclusive(path)?;
        self.is_out.store(true, Ordering::Relaxed);
        Ok(Exclusive::held_by(KeptOut {
            is_out: Arc::clone(&self.is_out),
            _held: held,
        }))
    }

    fn replace_held(&self, held: &Exclusive, file: Replacement<'_>) -> io::Result<Replaced> {
        assert!(self.is_out.load(Ordering::Relaxed));
        RealDisk.replace_held(held, file)
    }
}

#[test]
fn a_run_that_starts_over_keeps_other_runs_out_and_loses_nothing_of_theirs() {
    let lab = simple();
    assert_exit(&lock(&lab, &["--platform", "linux_amd64"]), 0);
    let rival = Changed(Rival {
        path: lab.path(LOCK),
        written: AtomicUsize::new(0),
        is_out: Arc::default(),
    });
    let args = words("lock --fs-mirror mirror --platform darwin_arm64");
    assert_exit(&lab.run_on(&rival, &args), 0);
    let (written, now) = (rival.0.written.into_inner(), lab.read(LOCK));
    assert_eq!(written, 1, "the second attempt is not disturbed");
    assert_eq!(now.matches("h1:").count(), 3, "{now}");
    now.has("0".repeat(43));
}

#[test]
fn a_file_that_changes_under_a_run_is_read_again_once() {
    let lab = simple();
    let args = [&["lock", "--fs-mirror", "mirror"], BOTH].concat();
    let busy = |left| {
        Changed(Busy {
            path: lab.path(LOCK),
            left: AtomicUsize::new(left),
        })
    };
    assert_exit(&lab.run_on(&busy(1), &args), 0);
    assert!(lab.read(LOCK).contains("example.com/t/x"));

    std::fs::remove_file(lab.path(LOCK)).unwrap();
    let outcome = lab.run_on(&busy(9), &args).exits(2);
    assert!(
        lab.read(LOCK).contains("written by somebody else"),
        "nothing of theirs is lost"
    );
    outcome.stderr_has("keeps changing");
}

#[cfg(unix)]
#[test]
fn a_link_that_leads_nowhere_creates_nothing() {
    let lab = simple();
    std::os::unix::fs::symlink("../outside", lab.path(LOCK)).unwrap();
    let outcome = lock(&lab, BOTH).exits(2);
    outcome.stderr_has("is a link that leads nowhere");
    assert!(!lab.path("../outside").exists());
}
