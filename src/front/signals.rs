//! Signals that end the program: what it leaves unfinished is undone first.
#![allow(
    clippy::disallowed_methods,
    reason = "the signals that are ignored are listed in a file of the system"
)]

use std::fs;
use std::io::{self, IsTerminal as _, Write as _};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use signal_hook::consts::{
    SIGALRM, SIGHUP, SIGINT, SIGPROF, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGVTALRM, SIGXCPU,
    SIGXFSZ,
};
use signal_hook::iterator::Signals;

use crate::os;

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

/// The file that lists the signals that a process ignores or handles; Linux has it.
const STATUS: &str = "/proc/self/status";

static WATCH: Once = Once::new();

/// A run that is interrupted says so.
static IS_ANNOUNCED: AtomicBool = AtomicBool::new(false);

/// Handles signals from the first temporary file or other change that must be undone.
pub fn handle() {
    os::watch_with(|| WATCH.call_once(watch));
}

/// Has a run that locks say, if a signal ends it, that it can be resumed.
pub fn announce_interruption() {
    IS_ANNOUNCED.store(true, Ordering::Relaxed);
    WATCH.call_once(watch);
}

fn watch() {
    let status = fs::read_to_string(STATUS).unwrap_or_default();
    let mask = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        u64::from_str_radix(line.trim(), 16).ok()
    };
    // Only signals whose action is the default.
    let handled: Vec<i32> = match (mask("SigIgn:"), mask("SigCgt:")) {
        // A shell starts programs in the background so that they ignore Ctrl-C; a handler would end them.
        (Some(ignored), Some(caught)) => ENDING
            .into_iter()
            .filter(|signal| (ignored | caught) >> (signal - 1) & 1 == 0)
            .collect(),
        _ => ALWAYS_HANDLED.into(),
    };
    // Without a handler the next process removes what is left.
    if let Ok(mut signals) = Signals::new(handled) {
        thread::spawn(move || {
            for signal in signals.forever() {
                os::undo(|replaced| {
                    if IS_ANNOUNCED.load(Ordering::Relaxed) {
                        let text = interrupted(replaced);
                        // Behind `^C` of the terminal, or behind the progress bar.
                        let start = if io::stderr().is_terminal() { "\n" } else { "" };
                        writeln!(io::stderr(), "{start}{text}").ok();
                    }
                    // The process ends as if there had been no handler.
                    signal_hook::low_level::emulate_default_handler(signal).ok();
                });
            }
        });
    }
}

/// Says what an interrupted run leaves behind.
fn interrupted(replaced: usize) -> String {
    // Packages are kept as facts when they are hashed; a lock file is replaced in one step.
    let written = match replaced {
        0 => "nothing was written".to_owned(),
        1 => "1 lock file was written completely, and no other was changed".to_owned(),
        n => format!("{n} lock files were written completely, and no other was changed"),
    };
    format!("interrupted: {written}; run the same command again to resume")
}
