//! Work that is undone when a signal ends this process: temporary files and directories are removed, programs
//! are ended.
//!
//! A process without anything of that kind handles no signal, nor does one without the feature `fetch`:
//! the handlers of a program that only reads lock files are its own.

#[cfg(not(all(unix, feature = "fetch")))]
use std::io;
#[cfg(not(all(unix, feature = "fetch")))]
use std::path::PathBuf;

#[cfg(all(unix, feature = "fetch"))]
pub(super) use on_unix::{TemporaryMark, make, remove_group, replace, start_group};

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

/// Elsewhere the next process removes what this one leaves behind.
#[cfg(not(all(unix, feature = "fetch")))]
pub(super) struct TemporaryMark;

/// Makes a temporary file or directory.
#[cfg(not(all(unix, feature = "fetch")))]
pub(super) fn make<T>(
    make: impl FnOnce() -> io::Result<(PathBuf, T)>,
) -> io::Result<(TemporaryMark, T)> {
    make().map(|(_, made)| (TemporaryMark, made))
}

/// Replaces a file, uncounted: no signal is handled in this build.
#[cfg(not(all(unix, feature = "fetch")))]
pub(super) fn replace<T, E>(rename: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
    rename()
}

#[cfg(all(unix, feature = "fetch"))]
mod on_unix {
    use std::collections::BTreeSet;
    use std::fs;
    use std::io::{self, IsTerminal as _, Write as _};
    use std::path::PathBuf;
    use std::process::Child;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::{Mutex, MutexGuard, Once, PoisonError};
    use std::thread;
    use std::time::Duration;

    use rustix::process::{Pid, Signal, kill_process_group};
    use signal_hook::consts::{
        SIGALRM, SIGHUP, SIGINT, SIGPROF, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGVTALRM, SIGXCPU,
        SIGXFSZ,
    };
    use signal_hook::iterator::Signals;

    use super::interrupted;

    /// Signals that end a process which does not handle them (signal(7)), but for those of a fault in the process
    /// itself, for `SIGPIPE`, which Rust has every process ignore, and for the few that macOS does not end a
    /// process with.
    const ENDING: [i32; 11] = [
        SIGALRM, SIGHUP, SIGINT, SIGPROF, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGVTALRM, SIGXCPU,
        SIGXFSZ,
    ];

    /// Those that are handled where no system lists what was ignored from the start: `nohup` has a process
    /// ignore `SIGHUP`, and a handler would end it all the same.
    const ALWAYS_HANDLED: [i32; 2] = [SIGINT, SIGTERM];

    /// Attempts to remove a directory: a program that was ended may still write for a moment.
    const ATTEMPTS: usize = 20;

    /// Pause between two attempts.
    const PAUSE: Duration = Duration::from_millis(10);

    /// The file in which Linux lists the signals that a process ignores or handles.
    const STATUS: &str = "/proc/self/status";

    struct Unfinished {
        /// Temporary files and directories.
        paths: BTreeSet<PathBuf>,
        groups: BTreeSet<i32>,
        /// Number of files that this process has replaced.
        replaced: usize,
    }

    static UNFINISHED: Mutex<Unfinished> = Mutex::new(Unfinished {
        paths: BTreeSet::new(),
        groups: BTreeSet::new(),
        replaced: 0,
    });

    /// A note on a temporary file or directory: a signal removes it as long as this exists.
    pub(in crate::os) struct TemporaryMark(PathBuf);

    impl Drop for TemporaryMark {
        fn drop(&mut self) {
            unfinished().paths.remove(&self.0);
        }
    }

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

    /// Makes a temporary file or directory, whose path is returned with it; no signal finds it made and not noted.
    pub(in crate::os) fn make<T>(
        make: impl FnOnce() -> io::Result<(PathBuf, T)>,
    ) -> io::Result<(TemporaryMark, T)> {
        WATCH.call_once(watch);
        let mut unfinished = unfinished();
        let (path, made) = make()?;
        unfinished.paths.insert(path.clone());
        Ok((TemporaryMark(path), made))
    }

    /// Replaces a file; no signal finds it replaced and not counted.
    pub(in crate::os) fn replace<T, E>(rename: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
        let mut unfinished = unfinished();
        let renamed = rename()?;
        unfinished.replaced += 1;
        Ok(renamed)
    }

    /// Starts a program that leads a group of processes; no signal finds it started and not noted.
    pub(in crate::os) fn start_group(
        start: impl FnOnce() -> io::Result<Child>,
    ) -> io::Result<Child> {
        WATCH.call_once(watch);
        let mut unfinished = unfinished();
        let child = start()?;
        let group = Pid::from_child(&child);
        unfinished.groups.insert(group.as_raw_nonzero().get());
        Ok(child)
    }

    /// Forgets a group of processes, which has ended.
    pub(in crate::os) fn remove_group(group: Pid) {
        unfinished().groups.remove(&group.as_raw_nonzero().get());
    }

    fn watch() {
        // Without a handler the next process removes what is left.
        if let Ok(mut signals) = Signals::new(handled()) {
            thread::spawn(move || {
                for signal in signals.forever() {
                    // Kept until the process ends, so that no thread makes or replaces a file behind this.
                    let unfinished = unfinished();
                    undo(&unfinished);
                    if IS_ANNOUNCED.load(Ordering::Relaxed) {
                        let text = interrupted(unfinished.replaced);
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

    /// Returns the signals whose action is the default: a handler for one that the process was started to ignore,
    /// as a shell does with Ctrl-C for programs in the background, would end it, and one that the program around
    /// this library handles is its own.
    fn handled() -> Vec<i32> {
        let status = fs::read_to_string(STATUS).unwrap_or_default();
        let mask = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name))?;
            u64::from_str_radix(line.trim(), 16).ok()
        };
        match (mask("SigIgn:"), mask("SigCgt:")) {
            (Some(ignored), Some(caught)) => ENDING
                .into_iter()
                .filter(|signal| (ignored | caught) >> (signal - 1) & 1 == 0)
                .collect(),
            _ => ALWAYS_HANDLED.into(),
        }
    }

    fn undo(unfinished: &Unfinished) {
        for group in unfinished
            .groups
            .iter()
            .filter_map(|group| Pid::from_raw(*group))
        {
            // It may have ended this moment.
            kill_process_group(group, Signal::KILL).ok();
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
    }
}
