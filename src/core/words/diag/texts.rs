//! The table of source texts that spans point into.

use std::collections::BTreeMap;
use std::mem;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// One text of a [`Texts`] table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FileId {
    part: u32,
    at: u32,
}

/// A place as people and editors count it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// Line, from 1; only a line feed ends a line.
    pub line: usize,
    /// Column, from 1, in characters; a byte that is no UTF-8 counts as one.
    pub column: usize,
}

/// All texts that were read in a run, with the names to show for them.
///
/// Several threads read texts side by side, each into a table of its own that [continues](Self::after)
/// the one of the run and is [appended](Self::append) to it in the end. Ids are the same, and in the
/// same order, as if the texts had been read one after the other.
#[derive(Clone, Debug)]
pub struct Texts {
    /// The number of the first part; those of a table that is continued come before it.
    first: u32,
    // Invariant: at least one; texts are added to the last one.
    parts: Vec<Vec<TableText>>,
    /// The texts that other tables have, too, by the number of their part.
    shared: BTreeMap<u32, MountedTexts>,
}

impl Default for Texts {
    fn default() -> Self {
        Self {
            first: 0,
            parts: vec![Vec::new()],
            shared: BTreeMap::new(),
        }
    }
}

/// The number of the first part whose texts several tables share.
const FIRST_SHARED: u32 = 1 << 31;

/// The texts of one directory, which several tables share without a copy.
#[derive(Clone, Debug)]
pub struct SharedTexts {
    part: u32,
    texts: Arc<[TableText]>,
}

/// Shared texts in one table.
#[derive(Clone, Debug)]
struct MountedTexts {
    texts: Arc<[TableText]>,
    /// The names in the table, if they differ from those of the shared part.
    names: Option<Arc<[String]>>,
    /// The own text of the table before which they were read.
    before: FileId,
    /// Number of other shared parts that were read before.
    order: usize,
}

impl SharedTexts {
    /// Returns the names of the texts in the order of their ids.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.texts.iter().map(|text| &*text.name)
    }
}

#[derive(Clone, Debug)]
struct TableText {
    name: String,
    bytes: Arc<[u8]>,
    /// The offset of the start of each line, computed on the first query of a position.
    lines: OnceLock<Vec<usize>>,
}

/// The part of a line whose characters are counted; each byte behind it is a column, since a line may have
/// megabytes and many problems.
const COUNTED_BYTES: usize = 1 << 16;

impl FileId {
    /// The id of the only text of a reader without a table; in a table that of the first.
    pub const ALONE: Self = Self { part: 0, at: 0 };
}

impl Texts {
    /// Adds a text and returns its id.
    ///
    /// # Panics
    /// After four thousand million texts.
    pub fn add(&mut self, name: impl Into<String>, bytes: impl Into<Arc<[u8]>>) -> FileId {
        let part = self.last();
        let texts = self.parts.last_mut().expect("there is a part");
        let at = u32::try_from(texts.len()).expect("fewer texts than u32::MAX");
        texts.push(TableText {
            name: name.into(),
            bytes: bytes.into(),
            lines: OnceLock::new(),
        });
        FileId { part, at }
    }

    /// Starts a table whose texts others may share; `number` is below 2^31, and no other shared table has it.
    #[must_use]
    pub fn to_share(number: u32) -> Self {
        Self {
            first: FIRST_SHARED | number,
            ..Self::default()
        }
    }

    /// Ends a table whose texts others may share.
    #[must_use]
    pub fn into_shared(mut self) -> SharedTexts {
        SharedTexts {
            part: self.first,
            texts: self.parts.swap_remove(0).into(),
        }
    }

    /// Adds texts that other tables have, too, under names of this table.
    pub fn mount(&mut self, shared: &SharedTexts, names: Option<Vec<String>>) {
        let part = self.last();
        let own = self.parts.last().map_or(0, Vec::len);
        let before = FileId {
            part,
            at: u32::try_from(own).unwrap_or(u32::MAX),
        };
        let mounted = MountedTexts {
            texts: Arc::clone(&shared.texts),
            names: names.map(Into::into),
            before,
            order: self.shared.len(),
        };
        self.shared.insert(shared.part, mounted);
    }

    /// Returns a key that sorts texts in the order they were read into this table.
    #[must_use]
    pub fn order(&self, file: FileId) -> impl Ord + use<> {
        match self.shared.get(&file.part) {
            Some(mounted) => (mounted.before, false, mounted.order, file.at),
            None => (file, true, 0, 0),
        }
    }

    /// Starts the table that comes so many places after this one, `0` being the next.
    ///
    /// # Panics
    /// After four thousand million tables.
    #[must_use]
    pub fn after(&self, places: usize) -> Self {
        let places = u32::try_from(places).ok();
        let first = places.and_then(|places| self.last().checked_add(1)?.checked_add(places));
        Self {
            first: first.expect("fewer tables than u32::MAX"),
            ..Self::default()
        }
    }

    /// Appends the next table; what is added from now on comes behind it.
    ///
    /// # Panics
    /// If `next` is another one than the next table.
    pub fn append(&mut self, mut next: Self) {
        assert_eq!(next.first, self.last() + 1, "tables are appended in order");
        self.parts.append(&mut next.parts);
        for (part, mounted) in next.shared {
            self.shared.entry(part).or_insert(mounted);
        }
    }

    /// Returns the number of the part that texts are added to.
    fn last(&self) -> u32 {
        let parts = u32::try_from(self.parts.len()).expect("fewer parts than u32::MAX");
        self.first + parts - 1
    }

    fn text(&self, file: FileId) -> &TableText {
        match self.shared.get(&file.part) {
            Some(mounted) => &mounted.texts[file.at as usize],
            None => &self.parts[(file.part - self.first) as usize][file.at as usize],
        }
    }

    /// Returns the name to show, usually a path as the user would type it.
    #[must_use]
    pub fn name(&self, file: FileId) -> &str {
        let mounted = self.shared.get(&file.part);
        match mounted.and_then(|mounted| mounted.names.as_ref()) {
            Some(names) => &names[file.at as usize],
            None => &self.text(file).name,
        }
    }

    /// Returns the bytes; they need not be UTF-8.
    #[must_use]
    pub fn bytes(&self, file: FileId) -> &[u8] {
        &self.text(file).bytes
    }

    /// Returns the bytes of the line around an offset, without the line end; an offset behind the end
    /// counts as the end.
    #[must_use]
    pub fn line(&self, file: FileId, offset: usize) -> Range<usize> {
        let bytes = self.bytes(file);
        let starts = self.starts(file);
        let line = starts.partition_point(|start| *start <= offset.min(bytes.len()));
        let start = starts[line - 1];
        let end = starts.get(line).map_or(bytes.len(), |next| next - 1);
        if bytes[start..end].ends_with(b"\r") {
            start..end - 1
        } else {
            start..end
        }
    }

    /// Returns the offset of the start of each line; the first one is 0.
    fn starts(&self, file: FileId) -> &[usize] {
        let text = self.text(file);
        text.lines.get_or_init(|| {
            // Behind the last line feed a line begins, too, even if it is empty.
            text.bytes
                .split(|byte| *byte == b'\n')
                .scan(0, |next, line| {
                    Some(mem::replace(next, *next + line.len() + 1))
                })
                .collect()
        })
    }

    /// Returns line and column of a byte offset; an offset behind the end counts as the end.
    #[must_use]
    pub fn position(&self, file: FileId, offset: usize) -> Position {
        let bytes = self.bytes(file);
        let offset = offset.min(bytes.len());
        let starts = self.starts(file);
        let line = starts.partition_point(|start| *start <= offset);
        let start = starts[line - 1];
        let counted = &bytes[start..offset.min(start + COUNTED_BYTES)];
        // Bytes that are no UTF-8 count as they would be shown.
        let characters: usize = counted
            .utf8_chunks()
            .map(|chunk| chunk.valid().chars().count() + usize::from(!chunk.invalid().is_empty()))
            .sum();
        let column = characters + (offset - start - counted.len()) + 1;
        // Editors do not show a byte order mark, and count columns without it.
        let has_mark = start == 0 && bytes[..offset].starts_with(b"\xEF\xBB\xBF");
        Position {
            line,
            column: column - usize::from(has_mark),
        }
    }
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
        let long = texts.add("long", [b"\xFF".repeat(COUNTED_BYTES), "é".into()].concat());
        let column = texts.position(long, COUNTED_BYTES + 2).column;
        assert_eq!(column, COUNTED_BYTES + 3);
    }

    #[test]
    fn tables_that_are_filled_side_by_side_are_one_in_the_end() {
        let mut texts = Texts::default();
        let shared = texts.add("shared", Vec::new());
        let mut parts: Vec<Texts> = (0..3).map(|place| texts.after(place)).collect();
        let mut ids: Vec<FileId> = vec![shared];
        // The last one is ready first, and the one between stays empty.
        let third = parts[2].add("third", b"3".to_vec());
        ids.push(parts[0].add("first", b"1".to_vec()));
        ids.push(parts[0].add("first again", b"1".to_vec()));
        assert_eq!(parts[2].bytes(third), b"3");
        for part in parts {
            texts.append(part);
        }
        ids.push(third);
        ids.push(texts.add("last", Vec::new()));
        let names: Vec<&str> = ids.iter().map(|id| texts.name(*id)).collect();
        assert_eq!(names, ["shared", "first", "first again", "third", "last"]);
        assert!(ids.is_sorted());
    }

    #[test]
    fn shared_texts_have_one_id_and_a_name_and_a_place_in_each_table() {
        let mut apart = Texts::to_share(7);
        let shared = ["m/a", "m/b"].map(|name| apart.add(name, name.as_bytes().to_vec()));
        let texts = apart.into_shared();
        let mut run = Texts::default();
        let mut tables: Vec<Texts> = (0..2).map(|place| run.after(place)).collect();
        let first = tables[0].add("first", Vec::new());
        tables[0].mount(&texts, None);
        let last = tables[0].add("last", Vec::new());
        tables[1].mount(&texts, Some(vec!["../a".to_owned(), "../b".to_owned()]));
        let mut ids = [last, shared[1], first, shared[0]];
        ids.sort_by_key(|id| tables[0].order(*id));
        assert_eq!(
            ids.map(|id| tables[0].name(id)),
            ["first", "m/a", "m/b", "last"]
        );
        assert_eq!(tables[1].name(shared[1]), "../b");
        assert_eq!(tables[1].bytes(shared[1]), b"m/b");
        for table in tables {
            run.append(table);
        }
        assert_eq!(ids.map(|id| run.name(id)), ["first", "m/a", "m/b", "last"]);
    }

    #[test]
    fn a_line_is_without_its_end() {
        let mut texts = Texts::default();
        let file = texts.add("a", b"one\r\n\ntwo".to_vec());
        let lines = [0, 3, 4, 5, 6, 9, 99].map(|at| texts.line(file, at));
        assert_eq!(lines, [0..3, 0..3, 0..3, 5..5, 6..9, 6..9, 6..9]);
    }

    #[test]
    fn a_byte_order_mark_takes_no_column() {
        let mut texts = Texts::default();
        let file = texts.add("a", b"\xEF\xBB\xBFx = 1".to_vec());
        assert_eq!(texts.position(file, 3), Position { line: 1, column: 1 });
    }
}
