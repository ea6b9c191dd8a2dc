//! Members of a tar: their headers, written in one form and checked when they are read.
//!
//! The crate `tar` encodes and decodes the fields of a header. This module iterates over the headers itself, because
//! the iterator of the crate accepts a file that ends within a member as a complete archive.

use std::io::{Read, Seek, SeekFrom};

use tar::{EntryType, Header, PaxExtensions};

use super::{BundleError, MAX_NAME_BYTES};

/// The unit of a tar, in bytes.
const BLOCK: usize = 512;

/// Maximum size of the end of an archive, in bytes: programs pad their last record with zeros.
const MAX_END_BYTES: u64 = 12 * 1024;

/// The end of an archive.
pub(super) const END: [u8; 2 * BLOCK] = [0; 2 * BLOCK];

/// The key of the pax record with the name of a member.
const PATH_KEY: &str = "path";

/// The place of the checksum in a header.
const CHECKSUM: std::ops::Range<usize> = 148..156;

/// A member of an archive.
#[derive(Debug)]
pub(super) struct TarMember {
    pub(super) name: String,
    /// Offset of its first byte in the archive.
    pub(super) offset: u64,
    pub(super) bytes: u64,
    /// Offset of the header behind it.
    pub(super) next: u64,
}

/// Returns the header of a member.
///
/// # Errors
/// If a reader would refuse its name.
pub(super) fn header(name: &str, bytes: u64) -> Result<Vec<u8>, BundleError> {
    let mut header = plain_header(bytes);
    // POSIX defines only ASCII names, which are split at a slash into two fields.
    if name.is_ascii() && header.set_path(name).is_ok() {
        header.set_cksum();
        return Ok(header.as_bytes().to_vec());
    }
    let record = record(PATH_KEY, name);
    if record.len() as u64 > MAX_NAME_BYTES {
        return Err(BundleError::NameTooLong);
    }
    let mut extended = plain_header(record.len() as u64);
    extended.set_entry_type(EntryType::XHeader);
    let mut written = Vec::new();
    for header in [&mut extended, &mut header] {
        // Only programs without support for pax records read this name.
        header
            .set_path("package-with-long-name.zip")
            .expect("a short name");
        header.set_cksum();
    }
    written.extend(extended.as_bytes());
    written.extend(record.as_bytes());
    written.resize(written.len().next_multiple_of(BLOCK), 0);
    written.extend(header.as_bytes());
    Ok(written)
}

/// Returns a header without a name, which depends only on the size of its member.
fn plain_header(bytes: u64) -> Header {
    let mut header = Header::new_ustar();
    header.set_entry_type(EntryType::Regular);
    header.set_size(bytes);
    header.set_mode(0o644);
    header.set_mtime(0);
    header.set_uid(0);
    header.set_gid(0);
    header
}

/// Encodes a pax record, whose length includes its own digits.
pub(super) fn record(key: &str, value: &str) -> String {
    let rest = format!(" {key}={value}\n");
    let mut length = rest.len();
    // The digits may add a digit: 98 bytes with two digits are 100, which has three digits, so the length is 101.
    while length != rest.len() + length.to_string().len() {
        length = rest.len() + length.to_string().len();
    }
    format!("{length}{rest}")
}

/// Returns the number of zeros after a content of some bytes.
pub(super) fn padding(bytes: u64) -> u64 {
    bytes.next_multiple_of(BLOCK as u64) - bytes
}

/// Reads the member at an offset of an archive of some length; `None` at its end.
///
/// # Errors
/// If the member is not allowed in a bundle; its content is not read.
pub(super) fn read(
    tar: &mut (impl Read + Seek),
    at: u64,
    length: u64,
) -> Result<Option<TarMember>, BundleError> {
    let Some(header) = read_header(tar, at, length)? else {
        return Ok(None);
    };
    let member = member(&header, at, length)?;
    if header.entry_type() != EntryType::XHeader {
        return checked(&header, member).map(Some);
    }
    if member.bytes > MAX_NAME_BYTES {
        return Err(BundleError::NameTooLong);
    }
    let mut records = vec![0; usize::try_from(member.bytes).expect("it is small")];
    tar.read_exact(&mut records)?;
    let name = named(&records)?;
    // The header behind it: a second extended one, or the end of the archive, has no member to name.
    let header = read_header(tar, member.next, length)?
        .filter(|header| header.entry_type() == EntryType::Regular)
        .ok_or_else(|| extended("no file follows it"))?;
    let described = self::member(&header, member.next, length)?;
    checked(&header, TarMember { name, ..described }).map(Some)
}

/// Reads a header; `None` at the end of the archive.
fn read_header(
    tar: &mut (impl Read + Seek),
    at: u64,
    length: u64,
) -> Result<Option<Header>, BundleError> {
    // `at` never exceeds `length`: `member` refuses a size that leads out of the file.
    if length - at < BLOCK as u64 {
        // A file shorter than a header is not a truncated archive.
        return Err(if at == 0 {
            BundleError::NotTar { at }
        } else {
            BundleError::Truncated { member: None }
        });
    }
    tar.seek(SeekFrom::Start(at))?;
    let mut block = [0; BLOCK];
    tar.read_exact(&mut block)?;
    if block == [0; BLOCK] {
        return check_end(tar, length - at).map(|()| None);
    }
    let header = Header::from_byte_slice(&block).clone();
    // The crate `tar` reads the checksum, but does not compare it.
    let is_sound = header
        .cksum()
        .is_ok_and(|stated| stated == checksum(&block))
        && (header.as_ustar().is_some() || header.as_gnu().is_some());
    if is_sound {
        Ok(Some(header))
    } else {
        Err(BundleError::NotTar { at })
    }
}

/// Checks that the last `left` bytes of an archive are zeros.
fn check_end(tar: &mut (impl Read + Seek), left: u64) -> Result<(), BundleError> {
    if left < END.len() as u64 {
        return Err(BundleError::Truncated { member: None });
    }
    let mut rest = Vec::new();
    tar.take(MAX_END_BYTES).read_to_end(&mut rest)?;
    // If other bytes follow, readers may disagree on the content of the archive.
    if left > MAX_END_BYTES || rest.iter().any(|byte| *byte != 0) {
        return Err(BundleError::TrailingBytes);
    }
    Ok(())
}

fn checksum(block: &[u8; BLOCK]) -> u32 {
    block
        .iter()
        .enumerate()
        .map(|(at, byte)| {
            // The checksum is computed with blanks in its own field.
            let counted = if CHECKSUM.contains(&at) { b' ' } else { *byte };
            u32::from(counted)
        })
        .sum()
}

/// Returns the member of a header, with the name in the header.
fn member(header: &Header, at: u64, length: u64) -> Result<TarMember, BundleError> {
    let bytes = header
        .entry_size()
        .map_err(|_| BundleError::NotTar { at })?;
    let name = String::from_utf8_lossy(&header.path_bytes()).into_owned();
    let offset = at + BLOCK as u64;
    // The size may be any 64-bit number.
    let next = bytes
        .checked_next_multiple_of(BLOCK as u64)
        .and_then(|padded| offset.checked_add(padded))
        .filter(|next| *next <= length);
    match next {
        Some(next) => Ok(TarMember {
            name,
            offset,
            bytes,
            next,
        }),
        None => Err(BundleError::Truncated { member: Some(name) }),
    }
}

/// Refuses a member that is not a regular file, or whose name leads out of the archive.
fn checked(header: &Header, member: TarMember) -> Result<TarMember, BundleError> {
    let kind = match header.entry_type() {
        EntryType::Regular => None,
        EntryType::Link | EntryType::Symlink => Some("a link"),
        EntryType::Char | EntryType::Block => Some("a device"),
        EntryType::Fifo => Some("a FIFO"),
        EntryType::Directory => Some("a directory"),
        EntryType::GNUSparse => Some("a sparse file"),
        EntryType::XGlobalHeader => return Err(extended("it is for all members")),
        EntryType::GNULongName | EntryType::GNULongLink => {
            return Err(extended("it is one of GNU tar"));
        }
        _ => Some("of an unknown kind"),
    };
    let name = member.name.clone();
    if let Some(kind) = kind {
        return Err(BundleError::Kind { name, kind });
    }
    // No file is written under these names, but a bundle with such names may attack other programs.
    let leads_out = name.starts_with('/')
        || name.contains(['\\', ':', '\0'])
        || name.split('/').any(|part| matches!(part, "" | "." | ".."));
    if leads_out {
        return Err(BundleError::NameOutside { name });
    }
    Ok(member)
}

/// Reads the name from pax records, which may state nothing else.
fn named(records: &[u8]) -> Result<String, BundleError> {
    let mut name = None;
    for record in PaxExtensions::new(records) {
        let record = record.map_err(|_| extended("its records cannot be read"))?;
        match (record.key(), record.value(), &name) {
            (Ok(PATH_KEY), Ok(value), None) => name = Some(value.to_owned()),
            // With a size or a map of a sparse file, readers may disagree on the content of the file.
            (Ok(key), ..) => return Err(extended(format!("it states {key:?}"))),
            (Err(_), ..) => return Err(extended("its records cannot be read")),
        }
    }
    name.ok_or_else(|| extended("it states no name"))
}

fn extended(reason: impl Into<String>) -> BundleError {
    BundleError::ExtendedHeader {
        reason: reason.into(),
    }
}
