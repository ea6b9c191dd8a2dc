//! Finds the list of entries of a zip as the programs find it.
//!
//! A file can be built so that it holds two lists, and readers choose differently. The programs use the zip
//! reader of the Go library, so its choice is made here first: the last end record, and offsets counted from
//! the start of the file if they lead to a list. The `zip` crate, which reads the list itself, then sees only
//! this one.

use std::io::{self, Read, Seek, SeekFrom};

use super::ArchiveError;

/// Length of the end record without its comment, in bytes.
const END_BYTES: usize = 22;

/// Maximum distance of the end record from the end of the file, in bytes: a comment of at most 64 KiB
/// follows it.
const MAX_TAIL_BYTES: u64 = END_BYTES as u64 + u16::MAX as u64;

/// Length of the record that points to the 64-bit end record, in bytes.
const LOCATOR_BYTES: usize = 20;

/// Length of the 64-bit end record, in bytes.
const END64_BYTES: usize = 56;

const END_SIGNATURE: &[u8; 4] = b"PK\x05\x06";
const LOCATOR_SIGNATURE: &[u8; 4] = b"PK\x06\x07";
const END64_SIGNATURE: &[u8; 4] = b"PK\x06\x06";

/// Signature of every record of the list.
pub(super) const RECORD_SIGNATURE: &[u8; 4] = b"PK\x01\x02";

/// The list of entries, as the end record states it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct End {
    /// The stated number of entries.
    pub(super) entries: u64,
    /// The number to add to every offset in the zip, because other bytes come before it.
    pub(super) base: u64,
    /// Offset of the list in the file.
    pub(super) list_start: u64,
    /// Offset behind the end record and its comment, where the file ends for a reader of the zip.
    pub(super) archive_end: u64,
}

/// The fields of an end record of either kind.
struct Fields {
    entries: u64,
    list_bytes: u64,
    list_offset: u64,
}

const fn not_a_zip(reason: &'static str) -> ArchiveError {
    ArchiveError::NotAZip { reason }
}

/// Finds the last end record and what it says.
pub(super) fn find_end(reader: &mut (impl Read + Seek)) -> Result<End, ArchiveError> {
    let file_bytes = reader.seek(SeekFrom::End(0))?;
    let tail_start = file_bytes.saturating_sub(MAX_TAIL_BYTES);
    let mut tail = Vec::new();
    reader.seek(SeekFrom::Start(tail_start))?;
    reader.take(MAX_TAIL_BYTES).read_to_end(&mut tail)?;
    let at = tail
        .windows(END_BYTES)
        // The last one, as the Go library takes it (rules 5.5).
        .rposition(|window| window.starts_with(END_SIGNATURE))
        .ok_or(not_a_zip("it has no end record"))?;
    let record = &tail[at..];
    let archive_end = tail_start + (at + END_BYTES) as u64 + u64::from(u16_at(record, 20));
    if archive_end > tail_start + tail.len() as u64 {
        return Err(not_a_zip("the comment of its end record is cut off"));
    }
    let mut fields = Fields {
        entries: u16_at(record, 10).into(),
        list_bytes: u32_at(record, 12).into(),
        list_offset: u32_at(record, 16).into(),
    };
    let mut end_start = tail_start + at as u64;
    // The second number is no slip of this code: the programs compare the size with 16 bits.
    let may_be_64_bit = fields.entries == 0xffff
        || fields.list_bytes == 0xffff
        || fields.list_offset == 0xffff_ffff;
    if may_be_64_bit && let Some((start, fields64)) = find_end64(reader, end_start)? {
        fields = fields64;
        end_start = start;
    }
    let mut base = end_start
        .checked_sub(fields.list_bytes)
        .and_then(|start| start.checked_sub(fields.list_offset))
        .ok_or(not_a_zip("its list of entries is not where it should be"))?;
    if base != 0 {
        // Self-extracting zips have a program before them. Their offsets may count from the start of the file
        // all the same; that wins if a record is there (rules 5.5).
        let unshifted: [u8; 4] = read_at(reader, fields.list_offset)?;
        if unshifted == *RECORD_SIGNATURE {
            base = 0;
        }
    }
    Ok(End {
        entries: fields.entries,
        base,
        list_start: fields.list_offset + base,
        archive_end,
    })
}

/// Finds the 64-bit end record through the locator before the end record; returns it with its offset.
fn find_end64(
    reader: &mut (impl Read + Seek),
    end: u64,
) -> Result<Option<(u64, Fields)>, ArchiveError> {
    let Some(start) = end.checked_sub(LOCATOR_BYTES as u64) else {
        return Ok(None);
    };
    let locator: [u8; LOCATOR_BYTES] = read_at(reader, start)?;
    // As in the Go library, the locator of an archive on several disks does not count.
    let on_one_disk = u32_at(&locator, 4) == 0 && u32_at(&locator, 16) == 1;
    if !locator.starts_with(LOCATOR_SIGNATURE) || !on_one_disk {
        return Ok(None);
    }
    let start = u64_at(&locator, 8);
    let record: [u8; END64_BYTES] = read_at(reader, start)?;
    if !record.starts_with(END64_SIGNATURE) {
        return Err(not_a_zip("its 64-bit end record is missing"));
    }
    let fields = Fields {
        entries: u64_at(&record, 32),
        list_bytes: u64_at(&record, 40),
        list_offset: u64_at(&record, 48),
    };
    Ok(Some((start, fields)))
}

/// Reads a record of fixed length that must lie inside the file.
pub(super) fn read_at<const N: usize>(
    reader: &mut (impl Read + Seek),
    start: u64,
) -> Result<[u8; N], ArchiveError> {
    let mut bytes = [0; N];
    reader.seek(SeekFrom::Start(start))?;
    match reader.read_exact(&mut bytes) {
        Ok(()) => Ok(bytes),
        Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => Err(not_a_zip("it is cut off")),
        Err(e) => Err(e.into()),
    }
}

/// Reads a little-endian number inside a record; the caller knows that it is long enough.
pub(super) fn u16_at(record: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([record[at], record[at + 1]])
}

/// Reads a little-endian number inside a record; the caller knows that it is long enough.
pub(super) fn u32_at(record: &[u8], at: usize) -> u32 {
    u32::from(u16_at(record, at)) | u32::from(u16_at(record, at + 2)) << 16
}

fn u64_at(record: &[u8], at: usize) -> u64 {
    u64::from(u32_at(record, at)) | u64::from(u32_at(record, at + 4)) << 32
}
