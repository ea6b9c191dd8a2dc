//! Work that contains a panic: other work goes on.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Maximum length of the message of a panic that is kept, in characters: it may quote a whole file.
const MAX_MESSAGE_CHARS: usize = 300;

/// Does some work, and returns instead of unwinding if that panics.
///
/// One directory of a pull request that makes lockctl panic must not hide what is found in the others.
///
/// # Errors
/// If the work panics: the beginning of its message.
pub fn contained<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    // What the work changed is not looked at again: callers report a failure instead of its result, and
    // the locks that threads share are used as they are after a panic.
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| panic_message(&*panic))
}

/// Returns the beginning of the message of a panic.
#[must_use]
pub fn panic_message(panic: &(dyn Any + Send)) -> String {
    let literal = panic.downcast_ref::<&str>().copied();
    literal
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message")
        .chars()
        .take(MAX_MESSAGE_CHARS)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_error_with_its_message() {
        assert_eq!(contained(|| 3), Ok(3));
        let nothing: Vec<u8> = Vec::new();
        assert_eq!(
            contained(|| nothing[7]),
            Err("index out of bounds: the len is 0 but the index is 7".to_owned())
        );
        let long = contained(|| assert!(nothing.len() > 7, "{}", "\u{e9}".repeat(1000)));
        let message = long.expect_err("it panics");
        assert_eq!(message.chars().count(), MAX_MESSAGE_CHARS);
    }
}
