//! A writer that counts lines.

use std::io::{self, Write};

/// Passes on what is written, and counts its lines.
pub struct CountedLines<'a> {
    out: &'a mut (dyn Write + Send),
    count: usize,
}

impl<'a> CountedLines<'a> {
    /// Makes a writer with a count of zero.
    pub fn new(out: &'a mut (dyn Write + Send)) -> Self {
        Self { out, count: 0 }
    }

    /// Returns the number of lines so far.
    #[must_use]
    pub fn count(&self) -> usize {
        self.count
    }
}

impl Write for CountedLines<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        let lines = bytes[..written].iter().filter(|byte| **byte == b'\n');
        self.count += lines.count();
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
