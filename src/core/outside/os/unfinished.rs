//! Work that is undone when this process ends early: temporary files and directories are removed, programs are
//! ended.
//!
//! Signal handlers belong to the program, which names them with [`watch_with`]; they are started when there is
//! something to undo for the first time, so a process that only reads handles no signal.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;

/// Attempts to remove a directory: a program that was ended may still write for a moment.
const ATTEMPTS: usize = 20;

/// Pause between two attempts.
const PAUSE: Duration = Duration::from_millis(10);

struct UnfinishedWork {
    /// Temporary files and directories.
    paths: BTreeSet<PathBuf>,
    /// Groups of processes, by the process that leads each.
    groups: BTreeSet<i32>,
    /// Number of files that this process has replaced.
    replaced: usize,
}

static UNFINISHED: Mutex<UnfinishedWork> = Mutex::new(UnfinishedWork {
    paths: BTreeSet::new(),
    groups: BTreeSet::new(),
    replaced: 0,
});

static WATCH: OnceLock<fn()> = OnceLock::new();

/// Has `watch` called whenever this process is about to make something that [`undo`] would remove.
pub fn watch_with(watch: fn()) {
    WATCH.get_or_init(|| watch);
}

/// Removes what is unfinished, then calls `end` with the number of files that were replaced. Until `end` returns, no
/// thread makes or replaces a file.
pub fn undo(end: impl FnOnce(usize)) {
    let unfinished = unfinished();
    #[cfg(unix)]
    for group in &unfinished.groups {
        if let Some(group) = rustix::process::Pid::from_raw(*group) {
            // It may have ended this moment.
            rustix::process::kill_process_group(group, rustix::process::Signal::KILL).ok();
        }
    }
    for path in &unfinished.paths {
        let mut attempts = 0;
        // Programs that are ended may write until the system has removed them.
        let removed = || fs::remove_file(path).or_else(|_| fs::remove_dir_all(path));
        while removed().is_err() && path.exists() && attempts < ATTEMPTS {
            attempts += 1;
            thread::sleep(PAUSE);
        }
    }
    end(unfinished.replaced);
}

/// A note on a temporary file or directory: [`undo`] removes it as long as this exists.
pub(super) struct TemporaryMark(PathBuf);

impl Drop for TemporaryMark {
    fn drop(&mut self) {
        unfinished().paths.remove(&self.0);
    }
}

/// Makes a temporary file or directory, whose path is returned with it; no signal finds it made and not noted.
pub(super) fn make<T>(
    make: impl FnOnce() -> io::Result<(PathBuf, T)>,
) -> io::Result<(TemporaryMark, T)> {
    let mut unfinished = watched();
    let (path, made) = make()?;
    unfinished.paths.insert(path.clone());
    Ok((TemporaryMark(path), made))
}

/// Replaces a file; no signal finds it replaced and not counted.
pub(super) fn replace<T, E>(rename: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
    let mut unfinished = unfinished();
    let renamed = rename()?;
    unfinished.replaced += 1;
    Ok(renamed)
}

/// Starts a program that leads a group of processes; no signal finds it started and not noted.
#[cfg(unix)]
pub(super) fn start_group(
    start: impl FnOnce() -> io::Result<std::process::Child>,
) -> io::Result<std::process::Child> {
    let mut unfinished = watched();
    let child = start()?;
    let group = rustix::process::Pid::from_child(&child);
    unfinished.groups.insert(group.as_raw_nonzero().get());
    Ok(child)
}

/// Forgets a group of processes, which has ended.
#[cfg(unix)]
pub(super) fn remove_group(group: rustix::process::Pid) {
    unfinished().groups.remove(&group.as_raw_nonzero().get());
}

fn unfinished() -> MutexGuard<'static, UnfinishedWork> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns what is unfinished, once the handler of the program is there.
fn watched() -> MutexGuard<'static, UnfinishedWork> {
    if let Some(watch) = WATCH.get() {
        watch();
    }
    unfinished()
}
