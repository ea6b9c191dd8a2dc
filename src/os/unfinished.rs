//! Work that is undone when a signal ends this process: directories are removed, programs are ended.
//!
//! A process without anything of that kind handles no signal, nor does one without the feature `fetch`:
//! the handlers of a program that only reads lock files are its own.

#[cfg(not(all(unix, feature = "fetch")))]
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

#[cfg(all(unix, feature = "fetch"))]
pub(super) use on_unix::{add_directory, add_group, remove_directory, remove_group};

/// Number of files that this process has replaced.
static REPLACED: AtomicUsize = AtomicUsize::new(0);

/// Notes a file that was replaced, which an interrupted run mentions.
pub(super) fn count_replaced() {
    REPLACED.fetch_add(1, Ordering::Relaxed);
}

/// Has a run that locks say, if a signal ends it, that it can be resumed.
pub fn announce_interruption() {
    #[cfg(all(unix, feature = "fetch"))]
    on_unix::announce();
}

/// Says what an interrupted run leaves behind.
#[cfg(all(unix, feature = "fetch"))]
fn interrupted(replaced: usize) -> String {
    // Packages are kept as facts when they are hashed; a lock file is replaced in one step.
    let written = match replaced {
        0 => "nothing was written".to_owned(),
        1 => "1 lock file was written completely, and no other was changed".to_owned(),
        n => format!("{n} lock files were written completely, and no other was changed"),
    };
    format!("interrupted: {written}; run the same command again to resume")
}

/// Elsewhere the next process removes the directory.
#[cfg(not(all(unix, feature = "fetch")))]
pub(super) fn add_directory(path: &Path) {
    let _ = path;
}

/// Elsewhere nothing was noted.
#[cfg(not(all(unix, feature = "fetch")))]
pub(super) fn remove_directory(path: &Path) {
    let _ = path;
}

#[cfg(all(unix, feature = "fetch"))]
mod on_unix {
    use std::collections::BTreeSet;
    use std::fs;
    use std::io::{self, IsTerminal as _, Write as _};
    use std::path::{Path, PathBuf};
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::{Mutex, MutexGuard, Once, PoisonError};
    use std::thread;
    use std::time::Duration;

    use rustix::process::{Pid, Signal, kill_process_group};
    use signal_hook::consts::{SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;

    use super::{REPLACED, interrupted};

    /// Attempts to remove a directory: a program that was ended may still write for a moment.
    const ATTEMPTS: usize = 20;

    /// Pause between two attempts.
    const PAUSE: Duration = Duration::from_millis(10);

    /// The file in which Linux lists the signals that a process ignores.
    const STATUS: &str = "/proc/self/status";

    struct Unfinished {
        directories: BTreeSet<PathBuf>,
        groups: BTreeSet<i32>,
    }

    static UNFINISHED: Mutex<Unfinished> = Mutex::new(Unfinished {
        directories: BTreeSet::new(),
        groups: BTreeSet::new(),
    });

    static WATCH: Once = Once::new();

    /// A run that is interrupted says so.
    static IS_ANNOUNCED: AtomicBool = AtomicBool::new(false);

    /// Has a run that is interrupted say so.
    pub(super) fn announce() {
        IS_ANNOUNCED.store(true, Ordering::Relaxed);
        WATCH.call_once(watch);
    }

    fn unfinished() -> MutexGuard<'static, Unfinished> {
        UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes a directory that is to be removed.
    pub(in crate::os) fn add_directory(path: &Path) {
        WATCH.call_once(watch);
        unfinished().directories.insert(path.to_owned());
    }

    /// Forgets a directory, which is gone.
    pub(in crate::os) fn remove_directory(path: &Path) {
        unfinished().directories.remove(path);
    }

    /// Notes a group of processes that is to be ended.
    pub(in crate::os) fn add_group(group: Pid) {
        WATCH.call_once(watch);
        unfinished().groups.insert(group.as_raw_nonzero().get());
    }

    /// Forgets a group of processes, which has ended.
    pub(in crate::os) fn remove_group(group: Pid) {
        unfinished().groups.remove(&group.as_raw_nonzero().get());
    }

    fn watch() {
        // A handler for a signal that the process was started to ignore would end it.
        let handled = [SIGINT, SIGTERM]
            .into_iter()
            .filter(|signal| !is_ignored(*signal));
        // Without a handler the next process removes what is left.
        if let Ok(mut signals) = Signals::new(handled) {
            thread::spawn(move || {
                for signal in signals.forever() {
                    undo();
                    if IS_ANNOUNCED.load(Ordering::Relaxed) {
                        let text = interrupted(REPLACED.load(Ordering::Relaxed));
                        // Behind `^C` of the terminal, or behind the progress bar.
                        let start = if io::stderr().is_terminal() { "\n" } else { "" };
                        writeln!(io::stderr(), "{start}{text}").ok();
                    }
                    // The process ends as if there had been no handler.
                    signal_hook::low_level::emulate_default_handler(signal).ok();
                }
            });
        }
    }

    /// Returns true if this process was started so that it ignores a signal, as a shell does with
    /// Ctrl-C for programs in the background.
    fn is_ignored(signal: i32) -> bool {
        fs::read_to_string(STATUS)
            .unwrap_or_default()
            .lines()
            .find_map(|line| line.strip_prefix("SigIgn:"))
            .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
            .is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
    }

    fn undo() {
        let unfinished = unfinished();
        for group in unfinished
            .groups
            .iter()
            .filter_map(|group| Pid::from_raw(*group))
        {
            // It may have ended this moment.
            kill_process_group(group, Signal::KILL).ok();
        }
        for directory in &unfinished.directories {
            let mut attempts = 0;
            // Programs that are ended may write until the system has removed them.
            while fs::remove_dir_all(directory).is_err()
                && directory.exists()
                && attempts < ATTEMPTS
            {
                attempts += 1;
                thread::sleep(PAUSE);
            }
        }
    }
}
