//! Pages that are written where the user names a file.

use std::io;
use std::path::Path;

use crate::world::{Disk, Replaced};

/// Maximum length of a page that is replaced, in bytes; that of `report` may be long.
const MAX_PAGE_BYTES: u64 = 256 << 20;

/// Writes some bytes to a file, and replaces its content.
pub(crate) fn put(path: &Path, bytes: &[u8], disk: &dyn Disk) -> io::Result<()> {
    // `replace` wants the old bytes, so that another writer is noticed.
    let old = match disk.read(path, MAX_PAGE_BYTES) {
        Ok(old) => Some(old),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    match disk.replace(path, old.as_deref(), bytes)? {
        Replaced::Done => Ok(()),
        Replaced::Changed => Err(io::Error::other("another program is writing it")),
    }
}
