//! Archives of modules: zip and compressed tar.
//!
//! The kind is what the address says, never guessed from the content, but for the packages that OpenTofu
//! fetches directly (rules 3.1, 3.4). Links are not made and nothing is written (rules 3.7).

mod kind;
mod tarball;
#[cfg(test)]
mod tests;

use std::io::{Seek, SeekFrom};

pub use kind::{ArchiveKind, NamedArchive};

use super::package::{FileContent, PackageBuilder, PackageError, PackageTree, is_kept};
use crate::archive::{Limits, UnpackedContent, UnpackedEntry, unpack_zip};
use crate::world::Scratch;

/// The most bytes that an archive may have.
pub const MAX_ARCHIVE_BYTES: u64 = 512 << 20;

/// Reads an archive into memory.
///
/// # Errors
/// If it is of another kind or damaged, or holds nothing, something unsafe, or too much.
pub fn read_archive(
    kind: ArchiveKind,
    mut file: Box<dyn Scratch>,
) -> Result<PackageTree, PackageError> {
    let bytes = file.seek(SeekFrom::End(0)).map_err(PackageError::Read)?;
    // An archive of this machine has not been limited by a download.
    if bytes > MAX_ARCHIVE_BYTES {
        return Err(PackageError::TooMuch {
            what: "bytes",
            limit: MAX_ARCHIVE_BYTES,
        });
    }
    file.rewind().map_err(PackageError::Read)?;
    // A top directory that all entries share is kept: the address names it behind `//` (rules 3.2).
    match kind {
        ArchiveKind::Zip => {
            let mut builder = PackageBuilder::new();
            let put = |entry: UnpackedEntry| match entry.content {
                UnpackedContent::Directory => builder.directory(&entry.path),
                UnpackedContent::Kept(bytes) => {
                    builder.file(&entry.path, FileContent::Kept(bytes.into()))
                }
                UnpackedContent::Passed(bytes, digest) => {
                    builder.file(&entry.path, FileContent::Passed(bytes, Some(digest.into())))
                }
            };
            unpack_zip(file, &Limits::MODULE, is_kept, put)?;
            Ok(builder.finish())
        }
        ArchiveKind::TarGz | ArchiveKind::TarBz2 | ArchiveKind::TarXz => {
            tarball::read(kind, file, bytes)
        }
    }
}
