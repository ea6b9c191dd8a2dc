//! Members of a tar: their headers, written in one form and read with suspicion.
//!
//! The crate `tar` spells and reads the fields of a header. The walk from one header to the next is ours: its own
//! takes a file that ends within a member for a whole archive.

use std::io::{Read, Seek, SeekFrom};

use tar::{EntryType, Header, PaxExtensions};

use super::{BundleError, MAX_NAME_BYTES};

/// The unit of a tar, in bytes.
const BLOCK: usize = 512;

/// Maximum size of the end of an archive, in bytes: programs fill up their last record with zeros.
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
    // POSIX defines names of ASCII only, in two fields that are cut at a slash.
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
        // Seen only by programs that do not know the record.
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

/// Returns a header without a name that depends on the size of its member alone.
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

/// Spells a pax record, whose length counts its own digits.
pub(super) fn record(key: &str, value: &str) -> String {
    let rest = format!(" {key}={value}\n");
    let mut length = rest.len();
    // The digits may add one more: 98 bytes with two digits are 100, so that it takes three, and the length is 101.
    while length != rest.len() + length.to_string().len() {
        length = rest.len() + length.to_string().len();
    }
    format!("{length}{rest}")
}

/// Returns the number of zeros behind so many bytes.
pub(super) fn padding(bytes: u64) -> u64 {
    bytes.next_multiple_of(BLOCK as u64) - bytes
}

/// Reads the member at an offset of an archive of some length; `None` at its end.
///
/// # Errors
/// If there is no member of a bundle; nothing of its content is read.
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
    // `at` is never behind the end: `member` refuses a size that leads out of the file.
    if length - at < BLOCK as u64 {
        // So short a file is another one, and no part of an archive.
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
    // The crate `tar` reads the checksum, and does not compare it.
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

/// Checks that nothing but zeros ends an archive, of which so many bytes are left.
fn check_end(tar: &mut (impl Read + Seek), left: u64) -> Result<(), BundleError> {
    if left < END.len() as u64 {
        return Err(BundleError::Truncated { member: None });
    }
    let mut rest = Vec::new();
    tar.take(MAX_END_BYTES).read_to_end(&mut rest)?;
    // Two readers may see two archives in a file that goes on.
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
            // The checksum is that of the header with blanks in its own place.
            let counted = if CHECKSUM.contains(&at) { b' ' } else { *byte };
            u32::from(counted)
        })
        .sum()
}

/// Returns the member with a header, by the name in it.
fn member(header: &Header, at: u64, length: u64) -> Result<TarMember, BundleError> {
    let bytes = header
        .entry_size()
        .map_err(|_| BundleError::NotTar { at })?;
    let name = String::from_utf8_lossy(&header.path_bytes()).into_owned();
    let offset = at + BLOCK as u64;
    // The size may be any number of 64 bits.
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

/// Refuses a member that is no file, or whose name leads elsewhere.
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
    // Nothing is written by these names; but a bundle with such names was made to harm some other program.
    let leads_out = name.starts_with('/')
        || name.contains(['\\', ':', '\0'])
        || name.split('/').any(|part| matches!(part, "" | "." | ".."));
    if leads_out {
        return Err(BundleError::NameOutside { name });
    }
    Ok(member)
}

/// Reads the name out of pax records, which may state nothing else.
fn named(records: &[u8]) -> Result<String, BundleError> {
    let mut name = None;
    for record in PaxExtensions::new(records) {
        let record = record.map_err(|_| extended("its records cannot be read"))?;
        match (record.key(), record.value(), &name) {
            (Ok(PATH_KEY), Ok(value), None) => name = Some(value.to_owned()),
            // A size, or a map of a sparse file: then two readers would see two files.
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
