//! A fault of lockctl itself, reported as the failure of the work that it interrupted.

use crate::parallel;
use crate::report::Failure;

/// Does some work; a panic in there is a failure of this work, and of nothing else.
///
/// # Errors
/// If the work panics, or fails.
pub(crate) fn contained<T>(work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    parallel::contained(work).unwrap_or_else(|message| {
        Err(
            Failure::new("lockctl stopped in the middle of its work; this is a bug")
                .because(message)
                .help("report it, with the files if they may be shown"),
        )
    })
}
