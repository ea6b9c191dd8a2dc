//! Temporary directories of tests, in memory where there is room for them.
//!
//! Tests make and remove a hundred thousand small files. On ext4 without a journal each new file
//! passes over the inodes of all that were removed in the last five seconds: laying out all recorded
//! scenarios took 44 s there, and 4 s in memory.

use std::sync::Once;

/// A file system in memory that every Linux has; in containers it may be small.
#[cfg(target_os = "linux")]
const MEMORY: &str = "/dev/shm";

/// Minimum of free memory, in bytes; a run of all tests needs a tenth of it.
#[cfg(target_os = "linux")]
const MIN_FREE_BYTES: u64 = 2 << 30;

/// Makes a directory that is removed with everything in it when the value is dropped.
#[track_caller]
pub(crate) fn dir() -> tempfile::TempDir {
    static CHOICE: Once = Once::new();
    CHOICE.call_once(choose);
    tempfile::tempdir().expect("a temporary directory")
}

/// Makes temporary files of this process, those of lockctl too, files in memory.
#[cfg(target_os = "linux")]
fn choose() {
    use rustix::fs::{StatVfsMountFlags, statvfs};
    let is_chosen = std::env::var_os("TMPDIR").is_some();
    let Ok(memory) = statvfs(MEMORY) else {
        return;
    };
    let free = memory.f_bavail.saturating_mul(memory.f_frsize);
    // Scripts that stand for git or for a credentials helper are run there.
    let runs_programs = !memory.f_flag.contains(StatVfsMountFlags::NOEXEC);
    if !is_chosen && runs_programs && free >= MIN_FREE_BYTES {
        tempfile::env::override_temp_dir(MEMORY.as_ref()).ok();
    }
}

#[cfg(not(target_os = "linux"))]
fn choose() {}
