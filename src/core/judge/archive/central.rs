//! The list of entries of a zip (its central directory), through the `zip` crate.
//!
//! The crate reads the records and the 64-bit fields in them. Three things are taken from the raw
//! records instead, because the crate gives them only in a changed form: the name (it puts the name
//! of a Unicode extra field in its place, which the programs do not), the method, and the system
//! that made the entry.

use std::io::{self, Read, Seek, SeekFrom};

use ::zip::read::{ArchiveOffset, Config};
use ::zip::unstable::read::ZipIterable;

use super::end_record::{End, RECORD_SIGNATURE, find_end, u16_at};
use super::{ArchiveError, Limits};

/// Length of a record of the list without name, extra fields and comment, in bytes.
const RECORD_BYTES: usize = 46;

/// The type of file that an entry becomes when it is unpacked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EntryKind {
    File,
    /// Unpacked as a regular file that holds the target.
    Symlink,
    Directory,
}

/// One entry, as the list describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ZipEntry {
    /// The raw name, which need not be UTF-8.
    pub(super) name: Box<[u8]>,
    pub(super) kind: EntryKind,
    pub(super) method: u16,
    pub(super) flags: u16,
    pub(super) crc: u32,
    /// Length in the zip, in bytes.
    pub(super) packed: u64,
    /// Length of the content, in bytes.
    pub(super) size: u64,
    /// Offset of the entry's own header in the file.
    pub(super) header_start: u64,
    /// The bits of a mode that make a file executable for its owner, its group and others.
    pub(super) executable: u32,
}

/// All entries, with the part of the file that lists them.
#[derive(Debug)]
pub(super) struct EntryList {
    pub(super) entries: Vec<ZipEntry>,
    pub(super) start: u64,
    pub(super) end: u64,
    /// Length of the file up to the end of the zip, in bytes.
    pub(super) archive_bytes: u64,
}

impl ZipEntry {
    /// Returns true if the name alone makes it a directory; then its content is never read.
    pub(super) fn is_named_directory(&self) -> bool {
        self.name.ends_with(b"/")
    }

    /// Returns whether the entry claims to be encrypted.
    pub(super) fn is_flagged_encrypted(&self) -> bool {
        self.flags & 1 != 0
    }

    /// Returns whether size and checksum follow the content.
    pub(super) fn has_descriptor(&self) -> bool {
        self.flags & 8 != 0
    }
}

/// Reads the list of entries, without looking at the entries themselves.
pub(super) fn read_list(
    reader: &mut (impl Read + Seek),
    limits: &Limits,
) -> Result<EntryList, ArchiveError> {
    let end = find_end(reader)?;
    // This is only what the zip states, but it is checked before anything is reserved for it; that as
    // many entries really follow is checked at the end.
    if end.entries > limits.entries {
        return Err(ArchiveError::TooManyEntries {
            limit: limits.entries,
        });
    }
    let bytes = read_end(reader, &end, limits)?;
    let window = Window {
        bytes: &bytes,
        start: end.list_start,
        at: 0,
    };
    // Left alone, the crate looks for the start of the zip by itself, and may find another one than the
    // programs do (rules 5.5).
    let config = Config {
        archive_offset: ArchiveOffset::Known(end.base),
    };
    let mut archive = ZipIterable::try_new(window, config).map_err(broken)?;
    let mut entries = Vec::new();
    let mut at = end.list_start;
    for found in archive.files().map_err(broken)? {
        let found = found.map_err(broken)?;
        // The crate may prefer another end record than the programs; then it starts elsewhere.
        if found.central_header_start() != at {
            return Err(ambiguous());
        }
        let record = window.from(at).ok_or(ambiguous())?;
        let (entry, length) = read_entry(record, &found)?;
        entries.push(entry);
        at += length;
    }
    // The programs read on while records follow, and then compare the numbers.
    let more_follow = window
        .from(at)
        .is_some_and(|rest| rest.starts_with(RECORD_SIGNATURE));
    if entries.len() as u64 != end.entries || more_follow {
        return Err(ambiguous());
    }
    Ok(EntryList {
        entries,
        start: end.list_start,
        end: at,
        archive_bytes: end.archive_end,
    })
}

/// Reads the file from the list of entries up to the end of the zip.
fn read_end(
    reader: &mut (impl Read + Seek),
    end: &End,
    limits: &Limits,
) -> Result<Vec<u8>, ArchiveError> {
    // All of it is read at once: list and end record together are short in every real zip.
    let length = end.archive_end.checked_sub(end.list_start);
    let length = length.ok_or(ambiguous())?;
    if length > limits.list_bytes {
        return Err(ArchiveError::ListTooLong {
            bytes: length,
            limit: limits.list_bytes,
        });
    }
    let mut bytes = Vec::new();
    reader.seek(SeekFrom::Start(end.list_start))?;
    reader.take(length).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn broken(cause: ::zip::result::ZipError) -> ArchiveError {
    ArchiveError::BrokenList(cause.into())
}

fn ambiguous() -> ArchiveError {
    ArchiveError::NotAZip {
        reason: "its list of entries is not the one that its end record states",
    }
}

/// Puts an entry together; also returns the length of its record in bytes.
fn read_entry(
    record: &[u8],
    found: &::zip::read::ZipFileEntry<'_>,
) -> Result<(ZipEntry, u64), ArchiveError> {
    // Fields of a record, by their offsets: 5 the system that made the entry, 8 flags, 10 method; 28, 30
    // and 32 the lengths of name, extra fields and comment, which follow the record in this order.
    if record.len() < RECORD_BYTES {
        return Err(ambiguous());
    }
    let lengths = [28, 30, 32].map(|at| usize::from(u16_at(record, at)));
    // Names are raw bytes: neither CP437 nor the Unicode extra field counts (rules 3.5).
    let name = record.get(RECORD_BYTES..RECORD_BYTES + lengths[0]);
    let name = name.ok_or(ambiguous())?;
    let entry = ZipEntry {
        name: name.into(),
        kind: kind(record[5], found.external_attributes(), name),
        method: u16_at(record, 10),
        flags: u16_at(record, 8),
        crc: found.crc32(),
        packed: found.compressed_size(),
        size: found.size(),
        header_start: found.header_start(),
        executable: executable(record[5], found.external_attributes()),
    };
    let length = RECORD_BYTES + lengths.iter().sum::<usize>();
    Ok((entry, length as u64))
}

/// Reads which bits of a mode make a file executable; zips of other systems than Unix and macOS have none (rules 5.6).
fn executable(system: u8, attributes: u32) -> u32 {
    match system {
        3 | 19 => (attributes >> 16) & 0o111,
        _ => 0,
    }
}

/// Reads the kind from the attributes, which mean different things on different systems; those that
/// the programs do not know have no directories but by name.
fn kind(system: u8, attributes: u32, name: &[u8]) -> EntryKind {
    // Systems: 3 is Unix, 19 macOS; 0 is FAT, 11 NTFS, 14 VFAT, whose bit 0x10 marks a directory (rules
    // 5.6). Unix puts the mode of the file into the upper half.
    let unix_type = (attributes >> 16) & 0o170_000;
    let by_attributes = match system {
        3 | 19 if unix_type == 0o040_000 => EntryKind::Directory,
        3 | 19 if unix_type == 0o120_000 => EntryKind::Symlink,
        0 | 11 | 14 if attributes & 0x10 != 0 => EntryKind::Directory,
        _ => EntryKind::File,
    };
    // The name is stronger than the attributes: nothing can be unpacked into a file of such a name.
    if name.ends_with(b"/") {
        return EntryKind::Directory;
    }
    by_attributes
}

/// The end of a zip from its list on, as a reader with nothing but zeros before it.
///
/// So the crate finds no other list, and no long file is searched for one.
#[derive(Clone, Copy, Debug)]
struct Window<'a> {
    bytes: &'a [u8],
    start: u64,
    at: u64,
}

impl<'a> Window<'a> {
    /// Returns all bytes from an offset of the file on.
    fn from(&self, offset: u64) -> Option<&'a [u8]> {
        let at = usize::try_from(offset.checked_sub(self.start)?).ok()?;
        self.bytes.get(at..)
    }
}

impl Read for Window<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let zeros = self.start.saturating_sub(self.at);
        let count = if zeros > 0 {
            let count = usize::try_from(zeros).map_or(buffer.len(), |n| n.min(buffer.len()));
            buffer[..count].fill(0);
            count
        } else {
            let rest = self.from(self.at).unwrap_or_default();
            let count = rest.len().min(buffer.len());
            buffer[..count].copy_from_slice(&rest[..count]);
            count
        };
        self.at += count as u64;
        Ok(count)
    }
}

impl Seek for Window<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let end = self.start + self.bytes.len() as u64;
        let target = match to {
            SeekFrom::Start(offset) => Some(offset),
            SeekFrom::End(delta) => end.checked_add_signed(delta),
            SeekFrom::Current(delta) => self.at.checked_add_signed(delta),
        };
        self.at = target.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.at)
    }
}
