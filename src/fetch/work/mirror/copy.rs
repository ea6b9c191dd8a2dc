//! Copying a file of this machine, with the hash of what was written.

use std::io::{self, Read, Write};
use std::path::Path;

use crate::hash::{Digest, READ_BUFFER_BYTES, Sha256Stream};
use crate::sources::download::Downloaded;
use crate::world::{Disk, DraftFile};

/// A zip that was copied or downloaded, with the hash of its bytes.
pub(super) type DraftZip<'d> = Downloaded<Box<dyn DraftFile + 'd>>;

/// The side of a copy that failed.
pub(super) enum FileCopyError {
    Read(io::Error),
    Write(io::Error),
}

/// Copies an opened file into a draft in a directory.
pub(super) fn copy<'d>(
    opened: io::Result<impl Read>,
    disk: &'d dyn Disk,
    dir: &Path,
) -> Result<DraftZip<'d>, FileCopyError> {
    let reader = opened.map_err(FileCopyError::Read)?;
    let mut file = disk.draft(dir).map_err(FileCopyError::Write)?;
    let (digest, bytes) = copy_into(reader, &mut file)?;
    Ok(Downloaded {
        file,
        digest,
        bytes,
    })
}

/// Copies everything; returns the SHA-256 and the number of the bytes.
pub(super) fn copy_into(
    mut reader: impl Read,
    writer: &mut impl Write,
) -> Result<(Digest, u64), FileCopyError> {
    let mut sha = Sha256Stream::default();
    let mut buffer = vec![0; READ_BUFFER_BYTES];
    let mut bytes = 0;
    loop {
        let length = match reader.read(&mut buffer) {
            Ok(0) => break,
            Ok(length) => length,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(FileCopyError::Read(error)),
        };
        // Hashed during the copy, so the hash is that of the written bytes even if the source changes.
        sha.update(&buffer[..length]);
        writer
            .write_all(&buffer[..length])
            .map_err(FileCopyError::Write)?;
        bytes += length as u64;
    }
    Ok((sha.finish(), bytes))
}
