//! The listing of a directory, kept so that questions about its names can be answered again.

use std::cmp::Ordering;
use std::ffi::OsStr;
use std::io;
use std::sync::Arc;

use super::{DirEntry, FileKind};

/// The names in a directory, as they were listed.
pub(super) struct CachedListing {
    pub(super) entries: Arc<[DirEntry]>,
    /// Indices of the entries, in the order of their names in lower case.
    folded: Box<[u32]>,
    /// A name that is not listed does not exist.
    is_exhaustive: bool,
    can_be_entered: bool,
}

/// The error number of a missing file, on Unix (`ENOENT`) and on Windows (`ERROR_FILE_NOT_FOUND`).
const NO_SUCH_FILE: i32 = 2;

/// A name that does not exist.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct AbsentName;

impl From<AbsentName> for io::Error {
    fn from(_: AbsentName) -> Self {
        Self::from_raw_os_error(NO_SUCH_FILE)
    }
}

impl CachedListing {
    pub(super) fn new(entries: Vec<DirEntry>, can_be_entered: bool) -> Self {
        let mut folded: Vec<u32> = (0..).take(entries.len()).collect();
        folded.sort_by(|a, b| {
            let name = |index: &u32| &entries[*index as usize].name;
            compare_folded(name(a), name(b))
        });
        // Windows also finds files by short names (`PROGRA~1`) and with dots or spaces at the end. Where
        // case does not count, letters outside of ASCII may be equal in more ways than can be decided here.
        let is_exhaustive = !cfg!(windows) && entries.iter().all(|entry| is_ascii(&entry.name));
        Self {
            entries: entries.into(),
            folded: folded.into(),
            is_exhaustive,
            can_be_entered,
        }
    }

    /// Returns the kind of a name, or that it is missing; nothing where only the system can say it.
    pub(super) fn find(&self, name: &OsStr) -> Option<Result<FileKind, AbsentName>> {
        // Without the permission to enter a directory, the system refuses the names in it, missing ones too.
        if !self.can_be_entered {
            return None;
        }
        let entry = |index: &u32| &self.entries[*index as usize];
        let start = self
            .folded
            .partition_point(|index| compare_folded(&entry(index).name, name).is_lt());
        let mut alike = self.folded[start..]
            .iter()
            .map(entry)
            .take_while(|entry| compare_folded(&entry.name, name).is_eq())
            .peekable();
        if alike.peek().is_none() {
            return (self.is_exhaustive && is_ascii(name)).then_some(Err(AbsentName));
        }
        // A name in other letters may be this one: macOS does not tell them apart. The entry of a link does
        // not say what it leads to.
        alike
            .find(|entry| entry.name == name && entry.kind != FileKind::Symlink)
            .map(|entry| Ok(entry.kind))
    }
}

fn is_ascii(name: &OsStr) -> bool {
    name.as_encoded_bytes().is_ascii()
}

fn compare_folded(a: &OsStr, b: &OsStr) -> Ordering {
    let a = a.as_encoded_bytes().iter().map(u8::to_ascii_lowercase);
    let b = b.as_encoded_bytes().iter().map(u8::to_ascii_lowercase);
    a.cmp(b)
}
