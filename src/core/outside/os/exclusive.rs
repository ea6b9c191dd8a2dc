//! The right to replace the files of a directory: an advisory lock, which the system releases when the
//! process ends, however it ends.
//!
//! No file is made in the directory for that. Unix locks the directory itself. Windows locks no
//! directories, so there an empty file in the user's directory for temporary files is locked, whose
//! name is derived from the directory; two users of one directory do not keep each other out.
//!
//! Some network file systems have no such locks (NFS on Linux has none for directories). There
//! the comparison before the step is all that is left, and a look at the file after it: of two
//! processes that do both at the same moment one may still lose what it wrote.

use std::ffi::OsStr;
use std::fs::{File, TryLockError};
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::world::Exclusive;

/// Time limit for another process to give up the right: one that starts over keeps it while it
/// works.
const MAX_WAIT: Duration = Duration::from_secs(300);

/// Pause between two attempts.
const POLL: Duration = Duration::from_millis(10);

/// The beginning of the names of temporary files.
pub(super) const TEMPORARY_PREFIX: &str = ".lockctl-";

/// Number of letters and digits behind the prefix; `tempfile` chooses them.
pub(super) const TEMPORARY_LETTERS: usize = 6;

/// Waits for the right to write in a directory.
///
/// # Errors
/// If the directory is missing, or another process keeps the right.
pub(super) fn of_directory(dir: &Path) -> io::Result<Exclusive> {
    of_handle(handle(dir))
}

/// Waits for the lock of an open directory, or of the file that replaces it.
pub(super) fn of_handle(handle: io::Result<File>) -> io::Result<Exclusive> {
    match handle {
        Ok(handle) => wait(handle, MAX_WAIT),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(error),
        // A directory may permit new files and yet not be readable.
        Err(_) => Ok(Exclusive::unsupported()),
    }
}

fn wait(handle: File, limit: Duration) -> io::Result<Exclusive> {
    let start = Instant::now();
    loop {
        match handle.try_lock() {
            Ok(()) => return Ok(Exclusive::held_by(handle)),
            // Some file systems, such as network shares, have no locks.
            Err(TryLockError::Error(_)) => return Ok(Exclusive::unsupported()),
            Err(TryLockError::WouldBlock) if start.elapsed() < limit => std::thread::sleep(POLL),
            Err(TryLockError::WouldBlock) => {
                let text = format!(
                    "another process has been writing in this directory for more than {} s",
                    limit.as_secs()
                );
                return Err(io::Error::new(io::ErrorKind::TimedOut, text));
            }
        }
    }
}

#[cfg(unix)]
fn handle(dir: &Path) -> io::Result<File> {
    File::open(dir)
}

#[cfg(not(unix))]
fn handle(dir: &Path) -> io::Result<File> {
    let dir = std::fs::canonicalize(dir)?;
    // FNV-1a; the only effect of equal hashes is that unrelated paths wait for each other.
    let hash = dir
        .as_os_str()
        .as_encoded_bytes()
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
        });
    let name = format!("lockctl-{hash:016x}.lock");
    let mut options = File::options();
    options.create(true).truncate(false).write(true);
    options.open(std::env::temp_dir().join(name))
}

/// Returns true if somebody has the right to write in a directory.
#[cfg(all(test, windows))]
pub(super) fn is_taken(dir: &Path) -> bool {
    wait(handle(dir).expect("there"), Duration::ZERO).is_err()
}

/// Returns true if a file is a temporary one of a process that has ended: each keeps its own locked.
///
/// Only for who has the right to write in its directory; without it the file may be so new that it is
/// not locked yet.
pub(super) fn is_orphan(file: &File) -> bool {
    file.try_lock().is_ok()
}

/// Returns true if a name is that of a temporary file.
pub(super) fn is_temporary(name: &OsStr) -> bool {
    name.to_str()
        .and_then(|name| name.strip_prefix(TEMPORARY_PREFIX))
        .is_some_and(|letters| {
            letters.len() == TEMPORARY_LETTERS && letters.bytes().all(|b| b.is_ascii_alphanumeric())
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_waits_too_long_is_refused() {
        let dir = tempfile::tempdir().expect("made");
        let held = of_directory(dir.path()).expect("free");
        assert!(held.is_held(), "the file system of the tests has locks");
        let again = || wait(handle(dir.path()).expect("there"), Duration::ZERO);
        let error = again().expect_err("it is taken");
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        drop(held);
        assert!(again().expect("free").is_held());
        let names = std::fs::read_dir(dir.path()).expect("listed");
        assert_eq!(names.count(), 0, "nothing is left in the directory");
    }

    #[test]
    fn only_names_that_this_program_chooses_are_temporary() {
        for (name, expected) in [
            (".lockctl-a1B2c3", true),
            (".lockctl-a1B2c", false),
            (".lockctl-a1B2c3d", false),
            (".lockctl-a1B2c.", false),
            (".lockctl.hcl", false),
            ("lockctl-a1B2c3", false),
        ] {
            assert_eq!(is_temporary(OsStr::new(name)), expected, "{name}");
        }
    }
}
