//! Members of a tar: their headers as they are written, and the members that a bundle may have.

use std::io::{self, Read, Seek, SeekFrom};

use tar::{Entries, Entry, EntryType, Header, PaxExtensions};

use super::{BundleError, MAX_NAME_BYTES};

/// The unit of a tar, in bytes.
const BLOCK: usize = 512;

/// Maximum size of the end of an archive, in bytes: programs pad their last record with zeros.
const MAX_END_BYTES: u64 = 12 * 1024;

/// The end of an archive.
pub(super) const END: [u8; 2 * BLOCK] = [0; 2 * BLOCK];

/// The key of the pax record with the name of a member.
const PATH_KEY: &str = "path";

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
        return Err(NAME_TOO_LONG);
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

const NAME_TOO_LONG: BundleError = BundleError::TooMuch {
    what: "bytes in the name of a member",
    limit: MAX_NAME_BYTES,
};

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

/// Returns the zeros after a content of some bytes.
pub(super) fn padding(bytes: u64) -> &'static [u8] {
    let zeros = bytes.next_multiple_of(BLOCK as u64) - bytes;
    &END[..usize::try_from(zeros).expect("less than a block")]
}

/// Returns the next member of an archive of some length, with its name; `None` at its end.
///
/// # Errors
/// If it is not allowed in a bundle; its content is not read.
pub(super) fn next<'a, R: Read + Seek>(
    entries: &mut Entries<'a, R>,
    length: u64,
) -> Result<Option<(String, Entry<'a, R>)>, BundleError> {
    let mut stated = None;
    for entry in entries {
        let mut entry = entry.map_err(|error| match error.kind() {
            // The crate makes its own errors of this kind; all others are those of the disk.
            io::ErrorKind::Other => BundleError::NotTar("it has no valid header"),
            _ => BundleError::Io(error),
        })?;
        let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        // The size may be any 64-bit number, and the crate takes a file that ends within a member for a whole one.
        let end = entry.raw_file_position().checked_add(entry.size());
        if end.is_none_or(|end| end > length) {
            let fault = "goes beyond the end of the file";
            return Err(BundleError::Member { name, fault });
        }
        match (entry.header().entry_type(), &stated) {
            (EntryType::Regular, _) => return Ok(Some((stated.unwrap_or(name), entry))),
            (EntryType::XHeader, None) => {
                if entry.size() > MAX_NAME_BYTES {
                    return Err(NAME_TOO_LONG);
                }
                let mut records = Vec::new();
                entry.read_to_end(&mut records)?;
                let mut records = PaxExtensions::new(&records);
                // With a size or a map of a sparse file, readers may disagree on the content of the file.
                let name = match (records.next(), records.next()) {
                    (Some(Ok(record)), None) if record.key() == Ok(PATH_KEY) => record
                        .value()
                        .map_err(|_| BundleError::NotTar("a name is not UTF-8"))?,
                    _ => {
                        let fault = "an extended header states something else than a name";
                        return Err(BundleError::NotTar(fault));
                    }
                };
                stated = Some(name.to_owned());
            }
            _ => {
                let fault = "is not a regular file, and a bundle has nothing else";
                return Err(BundleError::Member { name, fault });
            }
        }
    }
    match stated {
        Some(_) => Err(BundleError::NotTar("no file follows an extended header")),
        None => Ok(None),
    }
}

/// Checks that an archive has its end, and nothing else, behind the last byte of its last member.
///
/// # Errors
/// If it has not; the crate takes a file without an end for a whole one.
pub(super) fn check_end(tar: &mut (impl Read + Seek), last: u64) -> Result<(), BundleError> {
    tar.seek(SeekFrom::Start(last.next_multiple_of(BLOCK as u64)))?;
    let mut rest = Vec::new();
    tar.take(MAX_END_BYTES + 1).read_to_end(&mut rest)?;
    if rest.len() < END.len() {
        return Err(BundleError::NotTar(
            "it is cut off before the end of an archive",
        ));
    }
    // If other bytes follow, readers may disagree on the content of the archive.
    if rest.len() as u64 > MAX_END_BYTES || rest.iter().any(|byte| *byte != 0) {
        return Err(BundleError::NotTar(
            "it has bytes behind the end of the archive",
        ));
    }
    Ok(())
}
