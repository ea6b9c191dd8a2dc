//! The part of a program that may hold build information, by the headers at its beginning (rules 1.2).

/// Number of bytes at the beginning of a program that are searched for its headers. The headers of Go programs
/// end within the first 4 KiB; in a Mach-O file for several machines the first program begins at 16 KiB.
pub(super) const HEAD_BYTES: usize = 64 * 1024;

/// Maximum number of segments that are looked at; real programs have one or two with data.
const MAX_RANGES: usize = 16;

/// Alignment of the build information, in bytes of address.
const ALIGNMENT: u64 = 16;

/// Offsets in the file between which build information is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DataRange {
    /// The first offset whose address is aligned.
    pub(super) start: u64,
    /// The offset behind the last byte where it may begin.
    pub(super) search_end: u64,
    /// The offset behind the last byte that belongs to it.
    pub(super) end: u64,
}

/// A part of the file that is loaded to an address, with offset and length in bytes.
struct LoadedPart {
    offset: u64,
    bytes: u64,
    address: u64,
}

impl LoadedPart {
    /// The range of all bytes of the part.
    fn all(&self) -> Option<DataRange> {
        self.part(self.address, self.bytes)
    }

    /// The part that begins at an address and is as long as stated.
    fn part(&self, address: u64, bytes: u64) -> Option<DataRange> {
        let aligned = address.checked_next_multiple_of(ALIGNMENT)?;
        let skipped = address.checked_sub(self.address)?;
        let start = self.offset.checked_add(skipped)?;
        let end = self.offset.checked_add(self.bytes)?;
        Some(DataRange {
            start: start.checked_add(aligned - address)?,
            search_end: start.checked_add(bytes)?.min(end),
            end,
        })
    }
}

/// Finds the data of a program by its first bytes: all of it, or [`HEAD_BYTES`]. Ranges are in the order of the file, and
/// share no place.
pub(super) fn data_ranges(head: &[u8]) -> Vec<DataRange> {
    let single = match head.get(..4) {
        Some([0x7f, b'E', b'L', b'F']) => {
            let mut ranges = Vec::new();
            // A table that is cut off has the rows before the cut.
            elf(head, &mut ranges);
            ranges.sort_by_key(|range| (range.start, range.search_end));
            let mut taken = 0;
            ranges.retain(|range| {
                let is_free = range.start >= taken;
                taken = taken.max(range.search_end);
                is_free
            });
            return ranges;
        }
        Some([b'M', b'Z', ..]) => pe(head),
        Some([0xca, 0xfe, 0xba, 0xbe]) => fat(head),
        _ => mach_o(head),
    };
    single.into_iter().collect()
}

/// Numbers in a byte order.
#[derive(Clone, Copy)]
struct Numbers<'h> {
    bytes: &'h [u8],
    is_big_endian: bool,
}

impl Numbers<'_> {
    /// Reads a number of up to 8 bytes.
    fn at(self, offset: u64, length: usize) -> Option<u64> {
        let offset = usize::try_from(offset).ok()?;
        let bytes = self.bytes.get(offset..offset.checked_add(length)?)?;
        let add = |value: u64, byte: &u8| value << 8 | u64::from(*byte);
        Some(if self.is_big_endian {
            bytes.iter().fold(0, add)
        } else {
            bytes.iter().rev().fold(0, add)
        })
    }
}

/// System V ABI, chapter 5: the loaded segments that are writable and not executable.
fn elf(head: &[u8], ranges: &mut Vec<DataRange>) -> Option<()> {
    const LOADED: u64 = 1;
    const EXECUTABLE_OR_WRITABLE: u64 = 3;
    const WRITABLE: u64 = 2;
    let is_big_endian = match head.get(5)? {
        1 => false,
        2 => true,
        _ => return None,
    };
    let numbers = Numbers {
        bytes: head,
        is_big_endian,
    };
    // Offsets of the table, of the size and number of its rows, and of flags, offset, address, length in a row.
    let (word, table, sizes, fields) = match head.get(4)? {
        1 => (4, 28, 42, [24, 4, 8, 16]),
        2 => (8, 32, 54, [4, 8, 16, 32]),
        _ => return None,
    };
    let table = numbers.at(table, word)?;
    let row_bytes = numbers.at(sizes, 2)?;
    for row in 0..numbers.at(sizes + 2, 2)? {
        let row = table.checked_add(row * row_bytes)?;
        let field = |index: usize, length: usize| {
            let offset: u64 = fields[index];
            numbers.at(row.checked_add(offset)?, length)
        };
        let is_data = field(0, 4)? & EXECUTABLE_OR_WRITABLE == WRITABLE;
        if numbers.at(row, 4)? == LOADED && is_data {
            let segment = LoadedPart {
                offset: field(1, word)?,
                address: field(2, word)?,
                bytes: field(3, word)?,
            };
            ranges.extend(segment.all());
            // A header may state thousands of segments; a program of Go has one that matters.
            if ranges.len() == MAX_RANGES {
                break;
            }
        }
    }
    Some(())
}

/// PE and COFF specification, *Section Table*: the first section of initialized data that may be read and written.
fn pe(head: &[u8]) -> Option<DataRange> {
    const INITIALIZED_READ_WRITE: u64 = 0xc000_0040;
    const ALIGN_32_BYTES: u64 = 0x0060_0000;
    const ROW_BYTES: u64 = 40;
    let numbers = Numbers {
        bytes: head,
        is_big_endian: false,
    };
    let header = numbers.at(0x3c, 4)?;
    if numbers.at(header, 4)? != u64::from(u32::from_le_bytes(*b"PE\0\0")) {
        return None;
    }
    let table = header + 24 + numbers.at(header + 20, 2)?;
    for row in 0..numbers.at(header + 6, 2)? {
        let row = table + row * ROW_BYTES;
        let field = |offset: u64| numbers.at(row + offset, 4);
        let (address, bytes) = (field(12)?, field(16)?);
        let is_data = field(36)? & !ALIGN_32_BYTES == INITIALIZED_READ_WRITE;
        // A section without an address or bytes is in the file only, and is never loaded.
        if is_data && address != 0 && bytes != 0 {
            let section = LoadedPart {
                offset: field(20)?,
                address,
                bytes,
            };
            // Addresses count from the base of the image, which is a multiple of 64 KiB.
            return section.part(address, field(8)?);
        }
    }
    None
}

/// Mach-O for several machines: the first program.
fn fat(head: &[u8]) -> Option<DataRange> {
    let numbers = Numbers {
        bytes: head,
        is_big_endian: true,
    };
    if numbers.at(4, 4)? == 0 {
        return None;
    }
    // The first row follows the number of rows; the offset is its third field.
    let offset = numbers.at(16, 4)?;
    let program = head.get(usize::try_from(offset).ok()?..)?;
    let range = mach_o(program)?;
    Some(DataRange {
        start: range.start.checked_add(offset)?,
        search_end: range.search_end.checked_add(offset)?,
        end: range.end.checked_add(offset)?,
    })
}

/// `mach-o/loader.h`: the section `__go_buildinfo`, else the first segment that may be read and written.
fn mach_o(head: &[u8]) -> Option<DataRange> {
    const READ_WRITE: u64 = 3;
    const SECTION: &[u8; 16] = b"__go_buildinfo\0\0";
    let (is_big_endian, word) = match *head.get(..4)? {
        [0xce, 0xfa, 0xed, 0xfe] => (false, 4),
        [0xcf, 0xfa, 0xed, 0xfe] => (false, 8),
        [0xfe, 0xed, 0xfa, 0xce] => (true, 4),
        [0xfe, 0xed, 0xfa, 0xcf] => (true, 8),
        _ => return None,
    };
    let numbers = Numbers {
        bytes: head,
        is_big_endian,
    };
    let wide = word == 8;
    // Length of the file's header, kind of a segment, lengths of a segment and of a section in it.
    let (mut command, segment_kind, segment_bytes, section_bytes) = if wide {
        (32, 0x19, 72, 80)
    } else {
        (28, 1, 56, 68)
    };
    let mut data = None;
    for _ in 0..numbers.at(16, 4)? {
        let (kind, length) = (numbers.at(command, 4)?, numbers.at(command + 4, 4)?);
        // A command of no length would be read again and again.
        if length < 8 {
            return None;
        }
        if kind == segment_kind {
            // Behind kind, length and name of 16 bytes: address, size, offset, size in the file, both protections.
            let field = |index: u64| numbers.at(command + 24 + index * word as u64, word);
            let small = |index: u64| numbers.at(command + 24 + 4 * word as u64 + index * 4, 4);
            let segment = LoadedPart {
                address: field(0)?,
                offset: field(2)?,
                bytes: field(3)?,
            };
            let is_data = segment.address != 0
                && segment.bytes != 0
                && [small(0)?, small(1)?] == [READ_WRITE; 2];
            for section in 0..small(2)? {
                let section = command + segment_bytes + section * section_bytes;
                let name = usize::try_from(section).ok()?;
                if head.get(name..)?.starts_with(SECTION) {
                    let address = numbers.at(section + 32, word)?;
                    let bytes = numbers.at(section + 32 + word as u64, word)?;
                    return segment.part(address, bytes);
                }
            }
            if is_data && data.is_none() {
                data = segment.all();
            }
        }
        command += length;
    }
    data
}
