//! Unpacking the content of a zip, into memory or into files.

use std::collections::BTreeMap;
use std::io::{self, Read, Seek};

use super::central::EntryKind;
use super::layout::clean;
use super::member::Unpacker;
use super::zip::CheckedZip;
use super::{ArchiveError, Limits};
use crate::hash::{Digest, Sha256Stream};
use crate::world::DraftDirectory;

/// A file or directory that a zip unpacks to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnpackedEntry {
    /// The path below the place where it is unpacked, raw bytes, with `/` between its parts; neither empty
    /// nor with `.` or `..` as a part.
    pub path: Box<[u8]>,
    /// The type of the entry, with the content of a file if it was wanted.
    pub content: UnpackedContent,
}

/// A directory, or a file with or without its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UnpackedContent {
    /// A directory, by an entry of its own.
    Directory,
    /// A file whose content was wanted.
    Kept(Vec<u8>),
    /// A file whose content was not wanted, with its length in bytes and its SHA-256.
    Passed(u64, Digest),
}

/// Unpacks a zip into memory and hands every file and directory on, in the order of the entries; those that
/// are replaced by later ones are left out.
///
/// Every content is read and checked, but kept only if `wanted`, given path and length in bytes, returns true.
/// Accepts and refuses what [`hash_zip`](super::zip::hash_zip) does, except for names with a line feed, which
/// no `h1` covers.
///
/// # Errors
/// The first fault of the zip, or what `put` returns.
pub fn unpack_zip<E: From<ArchiveError>>(
    mut reader: impl Read + Seek,
    limits: &Limits,
    wanted: impl Fn(&[u8], u64) -> bool,
    mut put: impl FnMut(UnpackedEntry) -> Result<(), E>,
) -> Result<(), E> {
    let CheckedZip {
        list,
        paths,
        places,
    } = CheckedZip::read(&mut reader, limits)?;
    let by_number: BTreeMap<usize, &[u8]> = paths
        .iter()
        .map(|(path, number)| (*number, &**path))
        .collect();
    let mut unpacker = Unpacker::new();
    for (number, entry) in list.entries.iter().enumerate() {
        let path = by_number.get(&number).copied();
        let mut kept = Vec::new();
        let is_wanted = path.is_some_and(|path| wanted(path, entry.size));
        let mut passed = Sha256Stream::default();
        // Contents that are not kept are read as well: a wrong checksum refuses the zip in the programs.
        if !entry.is_named_directory() {
            unpacker.read_to(&mut reader, entry, places[number], &mut |bytes| {
                if is_wanted {
                    kept.extend_from_slice(bytes);
                } else {
                    passed.update(bytes);
                }
            })?;
        }
        let (path, content) = match path {
            None if entry.kind == EntryKind::Directory => {
                let path = clean(&entry.name)?;
                if path.is_empty() {
                    continue;
                }
                (path, UnpackedContent::Directory)
            }
            // A later entry of the same path takes its place.
            None => continue,
            Some(path) if is_wanted => (path.into(), UnpackedContent::Kept(kept)),
            Some(path) => (
                path.into(),
                UnpackedContent::Passed(entry.size, passed.finish()),
            ),
        };
        put(UnpackedEntry { path, content })?;
    }
    Ok(())
}

/// A failure to unpack a zip into files.
#[derive(Debug, thiserror::Error)]
pub enum UnpackError {
    /// The zip cannot be read.
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    /// A file cannot be made or written.
    #[error(transparent)]
    Write(io::Error),
}

/// Unpacks the files of a zip into a directory.
///
/// Accepts and refuses what [`hash_zip`](super::zip::hash_zip) does. Skips entries for directories: `h1` does not
/// cover them, and no program needs an empty directory.
///
/// # Errors
/// The first fault of the zip, or of a file that is written.
pub fn unpack_files(
    mut reader: impl Read + Seek,
    limits: &Limits,
    into: &mut dyn DraftDirectory,
) -> Result<(), UnpackError> {
    let zip = CheckedZip::read(&mut reader, limits)?;
    let mut unpacker = Unpacker::new();
    // In the order of paths, so that the files of a directory are made one after the other.
    for (path, number) in &zip.paths {
        let entry = &zip.list.entries[*number];
        let mut file = into
            .create(path, entry.executable)
            .map_err(UnpackError::Write)?;
        let mut written = Ok(());
        unpacker.read_to(&mut reader, entry, zip.places[*number], &mut |piece| {
            // After a failed write the rest of this file is still read, which ends soon: a package has few large files.
            if written.is_ok() {
                written = file.write_all(piece);
            }
        })?;
        written
            .and_then(|()| file.flush())
            .map_err(UnpackError::Write)?;
    }
    Ok(())
}
