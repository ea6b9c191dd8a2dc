//! Compressed tars.
//!
//! The crate `tar` reads the headers only: its own handling of long names reads as many bytes into memory as a
//! header states.

use std::io::{self, BufReader, Read};

use crate::hash::{READ_BUFFER_BYTES, Sha256Stream};
use bzip2::read::MultiBzDecoder;
use flate2::read::MultiGzDecoder;
use lzma_rust2::XzReader;
use tar::{Archive, Entry, EntryType, PaxExtensions};

use super::{ArchiveKind, FileContent, PackageBuilder, PackageError, PackageTree, is_kept};

/// Unpacked size without a check of the ratio, in bytes: a second of work.
const FREE_UNPACKED_BYTES: u64 = 256 << 20;

/// Maximum size of the content beyond that, as a multiple of the size of the archive. Text shrinks by 5 to
/// 10, with the padding of many small files by 50; gzip can do 1,032, xz some 7,000.
const MAX_RATIO: u64 = 200;

/// The most that any archive may unpack to, in bytes.
const MAX_UNPACKED_BYTES: u64 = 2 << 30;

/// The most memory for the dictionary of an xz, in KiB: `xz -9` takes 64 MiB.
const MAX_XZ_MEMORY_KIB: u32 = 100 << 10;

/// The longest list of extended header fields of one entry, in bytes.
const MAX_EXTENDED_BYTES: u64 = 1 << 20;

/// The bits of a mode that say what kind of file it is, and those of a directory.
const MODE_KIND: u32 = 0o170_000;
const MODE_DIRECTORY: u32 = 0o040_000;

/// Offset of the type of an entry in its header.
const TYPE_OFFSET: usize = 156;

/// Name and size that a preceding entry states for the next one.
#[derive(Default)]
struct NextEntry {
    path: Option<Vec<u8>>,
    bytes: Option<u64>,
}

/// Reads an archive of so many bytes.
pub(super) fn read(
    kind: ArchiveKind,
    file: impl Read,
    bytes: u64,
) -> Result<PackageTree, PackageError> {
    let file = BufReader::new(file);
    let limit = bytes
        .saturating_mul(MAX_RATIO)
        .clamp(FREE_UNPACKED_BYTES, MAX_UNPACKED_BYTES);
    match kind {
        ArchiveKind::Zip | ArchiveKind::TarGz => {
            read_tar(kind, Limited::new(MultiGzDecoder::new(file), limit))
        }
        ArchiveKind::TarBz2 => read_tar(kind, Limited::new(MultiBzDecoder::new(file), limit)),
        ArchiveKind::TarXz => {
            // The header of an xz states the size of its dictionary, up to 4 GiB, which is reserved before
            // anything is read.
            let unpacked = XzReader::new_mem_limit(file, true, MAX_XZ_MEMORY_KIB);
            read_tar(kind, Limited::new(unpacked, limit))
        }
    }
}

fn read_tar(kind: ArchiveKind, unpacked: impl Read) -> Result<PackageTree, PackageError> {
    let mut archive = Archive::new(unpacked);
    let mut builder = PackageBuilder::new();
    let mut next = NextEntry::default();
    let mut has_file = false;
    let failed = |error: io::Error| failure(kind, &error);
    for entry in archive.entries().map_err(failed)?.raw(true) {
        let mut entry = entry.map_err(failed)?;
        match entry.header().entry_type() {
            // Fields for all entries are no entry (rules 3.8), and targets of links are not needed, as no
            // link is made (rules 3.7).
            EntryType::XGlobalHeader | EntryType::GNULongLink => continue,
            EntryType::GNULongName => {
                let mut path = extended(kind, &mut entry)?;
                // GNU tar ends the name with NUL.
                while path.last() == Some(&0) {
                    path.pop();
                }
                next.path = Some(path);
                continue;
            }
            EntryType::XHeader => {
                let fields = extended(kind, &mut entry)?;
                read_fields(kind, &fields, &mut next)?;
                continue;
            }
            _ => {}
        }
        let NextEntry { path, bytes } = std::mem::take(&mut next);
        let path = path.unwrap_or_else(|| entry.path_bytes().into_owned());
        check_entry(&entry, &path, bytes)?;
        // The programs go by the type, and by the mode; an entry without a type is a directory if its name
        // ends in a slash.
        let header = entry.header();
        let is_directory = header.entry_type() == EntryType::Directory
            || header
                .mode()
                .is_ok_and(|mode| mode & MODE_KIND == MODE_DIRECTORY)
            || (header.as_bytes()[TYPE_OFFSET] == 0 && path.ends_with(b"/"));
        if is_directory {
            builder.directory(&path)?;
            continue;
        }
        has_file = true;
        let content = content(kind, &mut entry, &path)?;
        builder.file(&path, content)?;
    }
    // A tar of directories alone is an error in the programs (rules 3.6).
    if !has_file {
        return Err(PackageError::Empty);
    }
    Ok(builder.finish())
}

/// Refuses an entry that would be read differently than the programs read it.
fn check_entry(
    entry: &Entry<'_, impl Read>,
    path: &[u8],
    bytes: Option<u64>,
) -> Result<(), PackageError> {
    let unsupported = |what| PackageError::UnsupportedEntry {
        path: path.into(),
        what,
    };
    if path
        .split(|byte| matches!(byte, b'/' | b'\\'))
        .any(|part| part == b"..")
    {
        return Err(PackageError::ParentInPath { path: path.into() });
    }
    if entry.header().entry_type() == EntryType::GNUSparse {
        return Err(unsupported("a sparse file"));
    }
    // Two readers may go by different sizes and so see different entries (rules 3.9).
    if bytes.is_some_and(|bytes| bytes != entry.size()) {
        return Err(unsupported("an entry with two sizes"));
    }
    Ok(())
}

/// Reads the content of a file; links and devices become empty files (rules 3.7).
fn content(
    kind: ArchiveKind,
    entry: &mut Entry<'_, impl Read>,
    path: &[u8],
) -> Result<FileContent, PackageError> {
    let bytes = entry.size();
    if !is_kept(path, bytes) {
        // What is skipped is read all the same, since the archive is compressed.
        let mut passed = Sha256Stream::default();
        let read = passed
            .read_all(entry, &mut vec![0; READ_BUFFER_BYTES])
            .map_err(|error| failure(kind, &error))?;
        if read < bytes {
            return Err(failure(kind, &io::ErrorKind::UnexpectedEof.into()));
        }
        return Ok(FileContent::Passed(bytes, Some(passed.finish().into())));
    }
    let mut kept = Vec::new();
    entry
        .read_to_end(&mut kept)
        .map_err(|error| failure(kind, &error))?;
    if (kept.len() as u64) < bytes {
        let cut_off = io::Error::from(io::ErrorKind::UnexpectedEof);
        return Err(failure(kind, &cut_off));
    }
    Ok(FileContent::Kept(kept.into()))
}

/// Reads the content of an entry that describes the next one.
fn extended(kind: ArchiveKind, entry: &mut Entry<'_, impl Read>) -> Result<Vec<u8>, PackageError> {
    if entry.size() > MAX_EXTENDED_BYTES {
        return Err(PackageError::NotAnArchive {
            kind: kind.as_str(),
            reason: format!("a header has more than {MAX_EXTENDED_BYTES} bytes"),
        });
    }
    let mut bytes = Vec::new();
    entry
        .read_to_end(&mut bytes)
        .map_err(|error| failure(kind, &error))?;
    Ok(bytes)
}

fn read_fields(kind: ArchiveKind, fields: &[u8], next: &mut NextEntry) -> Result<(), PackageError> {
    for field in PaxExtensions::new(fields) {
        let field = field.map_err(|error| failure(kind, &error))?;
        let value = field.value_bytes();
        match field.key_bytes() {
            // An empty value deletes the field (pax), so that the name of the header counts.
            b"path" if !value.is_empty() => next.path = Some(value.to_vec()),
            b"size" => {
                let number = std::str::from_utf8(value)
                    .ok()
                    .and_then(|text| text.parse().ok());
                // No entry has a size that cannot be read.
                next.bytes = Some(number.unwrap_or(u64::MAX));
            }
            _ => {}
        }
    }
    Ok(())
}

fn failure(kind: ArchiveKind, error: &io::Error) -> PackageError {
    if let Some(TooLarge { limit }) = error.get_ref().and_then(|inner| inner.downcast_ref()) {
        return PackageError::TooMuch {
            what: "bytes once it is unpacked",
            limit: *limit,
        };
    }
    PackageError::NotAnArchive {
        kind: kind.as_str(),
        reason: error.to_string(),
    }
}

/// More comes than is read.
#[derive(Debug, thiserror::Error)]
#[error("it unpacks to more than {limit} bytes")]
struct TooLarge {
    limit: u64,
}

/// A reader that fails behind a limit.
struct Limited<R> {
    from: R,
    left: u64,
    limit: u64,
}

impl<R> Limited<R> {
    fn new(from: R, limit: u64) -> Self {
        let left = limit;
        Self { from, left, limit }
    }
}

impl<R: Read> Read for Limited<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.from.read(buffer)?;
        match self.left.checked_sub(count as u64) {
            Some(left) => self.left = left,
            None => return Err(io::Error::other(TooLarge { limit: self.limit })),
        }
        Ok(count)
    }
}
