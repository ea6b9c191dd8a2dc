//! The header of a lock file: the comment lines that a program writes at the top.

use crate::flavor::{Flavor, Program};

/// Returns the program whose header a lock file begins with, if any.
#[must_use]
pub fn header_of(bytes: &[u8]) -> Option<Program> {
    // Editors put a byte-order mark first, and a checkout on Windows has carriage returns.
    let text = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    let first = text.split(|byte| *byte == b'\n').next()?.trim_ascii_end();
    [Program::Terraform, Program::OpenTofu]
        .into_iter()
        .find(|program| {
            let header = Flavor::newest(*program).header();
            header.lines().next().map(str::as_bytes) == Some(first)
        })
}
