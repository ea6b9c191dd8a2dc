//! Build information in bytes that pass by once (rules 1 and 2).

use super::executable::{DataRange, HEAD_BYTES, data_ranges};
use super::{BuildInfo, ProgramContents};

/// Maximum length of build information, in bytes. Programs with a thousand modules have some 150 KB.
pub const MAX_TEXT_BYTES: usize = 4 * 1024 * 1024;

const MAGIC: &[u8; 14] = b"\xff Go buildinf:";

const ALIGNMENT: usize = 16;

/// Length of the header that begins with the magic, in bytes.
const HEADER_BYTES: usize = 32;

/// Offset of the flags in the header, and the flag for strings that follow it.
const FLAGS: usize = 15;
const INLINE: u8 = 2;

/// Length of the marks around the text, in bytes.
const MARK_BYTES: usize = 16;

/// A reader of build information that is handed the bytes of a program in order, in pieces of any size.
///
/// It keeps at most the beginning of the program and the build information itself. After the data of the program has
/// passed by, further pieces cost nothing.
///
/// ```
/// use lockctl_core::contents::{ProgramContents, ProgramScanner};
///
/// let mut scanner = ProgramScanner::new();
/// scanner.push(b"#!/bin/sh\n");
/// scanner.push(b"exec true\n");
/// assert_eq!(scanner.finish(), ProgramContents::Unknown);
/// ```
#[derive(Clone, Debug)]
pub struct ProgramScanner {
    /// Offset of the next byte in the program.
    position: u64,
    state: State,
}

#[derive(Clone, Debug)]
enum State {
    /// Collects the headers of the program.
    Head(Vec<u8>),
    Search(Search),
    InfoBlock(InfoBlock),
    Done(ProgramContents),
}

/// The search for the magic at aligned places.
#[derive(Clone, Debug)]
struct Search {
    range: DataRange,
    /// The ranges that follow in the file.
    others: std::vec::IntoIter<DataRange>,
    /// The offset that is looked at.
    place: u64,
    /// The number of bytes of the magic that have been seen there.
    seen: usize,
}

/// Build information that is being collected.
#[derive(Clone, Debug)]
struct InfoBlock {
    bytes: Vec<u8>,
    /// The number of bytes to read before the next decision.
    wanted: usize,
    /// Maximum length: up to the end of its segment.
    available: u64,
}

/// The progress of reading a block.
enum BlockProgress {
    /// The block has at least so many bytes.
    Needs(usize),
    Read(ProgramContents),
}

impl Default for ProgramScanner {
    fn default() -> Self {
        Self::new()
    }
}

impl ProgramScanner {
    /// Begins with nothing read.
    #[must_use]
    pub fn new() -> Self {
        Self {
            position: 0,
            state: State::Head(Vec::new()),
        }
    }

    /// Takes the next bytes of the program.
    pub fn push(&mut self, bytes: &[u8]) {
        match &mut self.state {
            State::Head(head) => {
                let (first, rest) = bytes.split_at(bytes.len().min(HEAD_BYTES - head.len()));
                head.extend_from_slice(first);
                if head.len() == HEAD_BYTES {
                    self.read_head();
                    self.search(rest);
                }
            }
            State::Search(_) | State::InfoBlock(_) => self.search(bytes),
            State::Done(_) => {}
        }
    }

    /// Returns what was read, once the program has ended.
    #[must_use]
    pub fn finish(mut self) -> ProgramContents {
        if matches!(self.state, State::Head(_)) {
            self.read_head();
        }
        match self.state {
            State::Done(contents) => contents,
            State::Head(_) | State::Search(_) | State::InfoBlock(_) => ProgramContents::Unknown,
        }
    }

    /// Finds the data by the beginning.
    fn read_head(&mut self) {
        let State::Head(head) =
            std::mem::replace(&mut self.state, State::Done(ProgramContents::Unknown))
        else {
            return;
        };
        let mut others = data_ranges(&head).into_iter();
        if let Some(range) = others.next() {
            self.state = State::Search(Search {
                range,
                others,
                place: range.start,
                seen: 0,
            });
            // The first bytes may belong to the data already.
            self.search(&head);
        }
    }

    /// Searches and collects in the bytes that follow what has been seen.
    fn search(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        let start = self.position;
        self.position = start.saturating_add(bytes.len() as u64);
        if let State::Search(search) = &mut self.state {
            let Some(found) = search.pass(start, bytes) else {
                return;
            };
            self.state = match found {
                Found::Nothing => State::Done(ProgramContents::Unknown),
                Found::Magic { rest: behind } => {
                    rest = behind;
                    State::InfoBlock(InfoBlock {
                        // The block begins with the mark that was just found, which may have come in two pieces.
                        bytes: MAGIC.to_vec(),
                        wanted: HEADER_BYTES,
                        available: search.range.end.saturating_sub(search.place),
                    })
                }
            };
        }
        if let State::InfoBlock(block) = &mut self.state
            && let Some(contents) = block.take(rest)
        {
            self.state = State::Done(contents);
        }
    }
}

/// The end of a search.
enum Found<'b> {
    /// The data has no build information.
    Nothing,
    Magic {
        /// The bytes behind the magic.
        rest: &'b [u8],
    },
}

impl Search {
    /// Searches a piece that begins at an offset; `None` if the search goes on.
    fn pass<'b>(&mut self, start: u64, bytes: &'b [u8]) -> Option<Found<'b>> {
        loop {
            if self.place.saturating_add(HEADER_BYTES as u64) > self.range.search_end {
                let Some(range) = self.others.next() else {
                    return Some(Found::Nothing);
                };
                (self.range, self.place) = (range, range.start);
                continue;
            }
            // What has been seen of the magic ends where this piece begins, so this is never before it.
            let at = self
                .place
                .checked_add(self.seen as u64)?
                .checked_sub(start)?;
            let rest = bytes.get(usize::try_from(at).ok()?..)?;
            if rest.is_empty() {
                return None;
            }
            let count = rest.len().min(MAGIC.len() - self.seen);
            if rest[..count] == MAGIC[self.seen..][..count] {
                self.seen += count;
                if self.seen == MAGIC.len() {
                    return Some(Found::Magic {
                        rest: &rest[count..],
                    });
                }
                return None;
            }
            self.seen = 0;
            self.place += ALIGNMENT as u64;
            // Most places differ in the first byte.
            let left = self.range.search_end.saturating_sub(self.place);
            let next = usize::try_from(self.place - start).ok()?;
            let skipped = bytes
                .get(next..)
                .unwrap_or_default()
                .iter()
                .take(usize::try_from(left).unwrap_or(usize::MAX))
                .step_by(ALIGNMENT)
                .take_while(|byte| **byte != MAGIC[0])
                .count();
            self.place += (skipped * ALIGNMENT) as u64;
        }
    }
}

impl InfoBlock {
    /// Takes what it needs of the following bytes; returns what was read, at its end.
    fn take(&mut self, mut rest: &[u8]) -> Option<ProgramContents> {
        loop {
            let count = rest.len().min(self.wanted - self.bytes.len());
            self.bytes.extend_from_slice(&rest[..count]);
            rest = &rest[count..];
            if self.bytes.len() < self.wanted {
                return None;
            }
            match read_block(&self.bytes) {
                Some(BlockProgress::Read(contents)) => return Some(contents),
                // A wrong length is found before anything is collected for it (rules 2.2).
                Some(BlockProgress::Needs(wanted))
                    if wanted <= HEADER_BYTES + MAX_TEXT_BYTES
                        && wanted as u64 <= self.available =>
                {
                    self.wanted = wanted;
                }
                Some(BlockProgress::Needs(_)) | None => return Some(ProgramContents::Unknown),
            }
        }
    }
}

/// Reads a block as far as it goes; `None` if it is void.
fn read_block(block: &[u8]) -> Option<BlockProgress> {
    if block.get(FLAGS)? & INLINE == 0 {
        return None;
    }
    let mut at = HEADER_BYTES;
    let mut strings = [&block[..0]; 2];
    for string in &mut strings {
        let Some((length, digits)) = number(&block[at..])? else {
            return Some(BlockProgress::Needs(block.len() + 1));
        };
        let end = (at + digits).checked_add(usize::try_from(length).ok()?)?;
        let Some(bytes) = block.get(at + digits..end) else {
            return Some(BlockProgress::Needs(end));
        };
        *string = bytes;
        at = end;
    }
    let [version, framed] = strings;
    let version = std::str::from_utf8(version).ok()?;
    // The text is between two marks, and ends with a line feed (rules 2.3).
    let text = framed
        .get(MARK_BYTES..framed.len().saturating_sub(MARK_BYTES))
        .filter(|text| text.ends_with(b"\n"))
        .unwrap_or_default();
    let text = std::str::from_utf8(text).ok()?;
    let info = BuildInfo::parse(version, text)?;
    Some(BlockProgress::Read(ProgramContents::Go(Box::new(info))))
}

/// Reads a number of 7 bits in each byte, and its length in bytes; nothing if it is not complete, `None` if it is too
/// large.
fn number(bytes: &[u8]) -> Option<Option<(u64, usize)>> {
    /// Bytes of the largest number with 64 bits.
    const LONGEST: usize = 10;
    let mut value = 0;
    for (index, byte) in bytes.iter().take(LONGEST).enumerate() {
        // The last byte has one bit left.
        if index + 1 == LONGEST && *byte > 1 {
            return None;
        }
        value |= u64::from(byte & 0x7f) << (7 * index);
        if byte & 0x80 == 0 {
            return Some(Some((value, index + 1)));
        }
    }
    Some(None)
}
