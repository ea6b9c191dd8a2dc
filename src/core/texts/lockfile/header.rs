//! The header of a lock file: the comment lines that a program writes at the top.

use crate::flavor::{Flavor, Program};

/// Returns the program whose header a lock file begins with, if any.
#[must_use]
pub fn header_of(bytes: &[u8]) -> Option<Program> {
    let first = lines(bytes).next()?;
    [Program::Terraform, Program::OpenTofu]
        .into_iter()
        .find(|program| {
            let header = Flavor::newest(*program).header();
            header.lines().next().map(str::as_bytes) == Some(first)
        })
}

/// Counts the lines at the top that belong to the header of either program.
pub(super) fn header_lines(bytes: &[u8]) -> usize {
    let Some(program) = header_of(bytes) else {
        return 0;
    };
    lines(bytes)
        .zip(Flavor::newest(program).header().lines())
        .take_while(|(line, header)| *line == header.as_bytes())
        .count()
}

/// Iterates over the lines without the byte-order mark that editors put first, and without the carriage
/// returns of a checkout on Windows.
fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes
        .strip_prefix(b"\xEF\xBB\xBF")
        .unwrap_or(bytes)
        .split(|byte| *byte == b'\n')
        .map(<[u8]>::trim_ascii_end)
}
