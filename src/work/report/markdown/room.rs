//! The room that is left in a text of limited size.

/// The size that a text may still grow by.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    pub(super) bytes: usize,
    pub(super) lines: usize,
}

impl Room {
    /// Returns true if there is room for a text.
    pub(super) fn has(&self, text: &str) -> bool {
        text.len() <= self.bytes && height(text) <= self.lines
    }

    /// Takes the room of a text; of one that is too large, all that is left.
    pub(super) fn take(&mut self, text: &str) {
        self.bytes = self.bytes.saturating_sub(text.len());
        self.lines = self.lines.saturating_sub(height(text));
    }

    /// Takes the room of a text if there is enough, and returns true then.
    pub(super) fn try_take(&mut self, text: &str) -> bool {
        let fits = self.has(text);
        if fits {
            self.take(text);
        }
        fits
    }
}

/// Returns the number of lines of a text.
pub(super) fn height(text: &str) -> usize {
    text.bytes().filter(|byte| *byte == b'\n').count()
}
