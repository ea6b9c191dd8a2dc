//! The table of source texts that spans point into.

use std::sync::OnceLock;

/// One text of a [`Texts`] table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FileId(u32);

/// A place as people and editors count it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// Line, from 1; only a line feed ends a line.
    pub line: usize,
    /// Column, from 1, in characters; a byte that is no UTF-8 counts as one.
    pub column: usize,
}

/// All texts that were read in a run, with the names to show for them.
#[derive(Clone, Debug, Default)]
pub struct Texts {
    texts: Vec<Text>,
}

#[derive(Clone, Debug)]
struct Text {
    name: String,
    bytes: Vec<u8>,
    /// Where each line starts, found when the first position is asked for.
    lines: OnceLock<Vec<usize>>,
}

impl Texts {
    /// Adds a text and returns its id.
    ///
    /// # Panics
    /// After four thousand million texts.
    pub fn add(&mut self, name: impl Into<String>, bytes: Vec<u8>) -> FileId {
        let id = u32::try_from(self.texts.len()).expect("fewer texts than u32::MAX");
        self.texts.push(Text {
            name: name.into(),
            bytes,
            lines: OnceLock::new(),
        });
        FileId(id)
    }

    /// Returns the name to show, usually a path as the user would type it.
    #[must_use]
    pub fn name(&self, file: FileId) -> &str {
        &self.texts[file.0 as usize].name
    }

    /// Returns the bytes; they need not be UTF-8.
    #[must_use]
    pub fn bytes(&self, file: FileId) -> &[u8] {
        &self.texts[file.0 as usize].bytes
    }

    /// Returns line and column of a byte offset; an offset behind the end counts as the end.
    #[must_use]
    pub fn position(&self, file: FileId, offset: usize) -> Position {
        let bytes = self.bytes(file);
        let offset = offset.min(bytes.len());
        let starts = self.texts[file.0 as usize]
            .lines
            .get_or_init(|| line_starts(bytes));
        let line = starts.partition_point(|start| *start <= offset);
        let start = starts[line - 1];
        let column = String::from_utf8_lossy(&bytes[start..offset])
            .chars()
            .count()
            + 1;
        let has_mark = start == 0 && bytes[..offset].starts_with(b"\xEF\xBB\xBF");
        Position {
            line,
            column: column - usize::from(has_mark),
        }
    }
}

/// Finds where each line starts; the first one does so at 0.
fn line_starts(bytes: &[u8]) -> Vec<usize> {
    let behind = |(at, byte): (usize, &u8)| (*byte == b'\n').then_some(at + 1);
    std::iter::once(0)
        .chain(bytes.iter().enumerate().filter_map(behind))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_lines_and_characters_from_one() {
        let mut texts = Texts::default();
        let file = texts.add("a", "é = 1\nb\n".as_bytes().to_vec());
        let at = |offset| texts.position(file, offset);
        assert_eq!(at(0), Position { line: 1, column: 1 });
        assert_eq!(at(2), Position { line: 1, column: 2 });
        assert_eq!(at(7), Position { line: 2, column: 1 });
        assert_eq!(at(999), Position { line: 3, column: 1 });
    }

    #[test]
    fn a_byte_order_mark_takes_no_column() {
        let mut texts = Texts::default();
        let file = texts.add("a", b"\xEF\xBB\xBFx = 1".to_vec());
        assert_eq!(texts.position(file, 3), Position { line: 1, column: 1 });
    }
}
