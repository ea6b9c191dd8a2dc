//! The place of a panic, on standard error.

use std::io::Write;

use crate::parallel::panic_message;

/// From now on a panic says that it is a bug, where, and how it begins, in a single line.
pub fn announce_panics() {
    // The message of a panic may quote a file: its control characters would steer the terminal, and a log would
    // take some of its lines for commands (`::error::`).
    std::panic::set_hook(Box::new(|panic| {
        let message = panic_message(panic.payload());
        let place = panic.location().map(ToString::to_string);
        let place = place.unwrap_or_else(|| "an unknown place".to_owned());
        // If standard error is gone, there is nowhere left to say it.
        let _ = writeln!(
            std::io::stderr(),
            "lockctl: this is a bug at {place}: {message:?}"
        );
    }));
}
