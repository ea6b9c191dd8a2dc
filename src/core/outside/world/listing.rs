//! The listing of a directory and errors of the system, kept so that they can be answered again.

use std::cmp::Ordering;
use std::ffi::OsStr;
use std::io::{self, ErrorKind};
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

/// An error of the system that can be made again; `io::Error` cannot be cloned.
#[derive(Clone, Copy)]
pub(super) enum ErrorCode {
    System(i32),
    Kind(ErrorKind),
}

/// A name that a complete listing does not hold.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct AbsentName;

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

impl ErrorCode {
    /// Returns nothing for an error that holds more than a number.
    pub(super) fn of(error: &io::Error) -> Option<Self> {
        match (error.raw_os_error(), error.get_ref()) {
            (Some(code), _) => Some(Self::System(code)),
            (None, None) => Some(Self::Kind(error.kind())),
            (None, Some(_)) => None,
        }
    }

    pub(super) fn kind(self) -> ErrorKind {
        io::Error::from(self).kind()
    }
}

impl From<ErrorCode> for io::Error {
    fn from(code: ErrorCode) -> Self {
        match code {
            ErrorCode::System(code) => Self::from_raw_os_error(code),
            ErrorCode::Kind(kind) => kind.into(),
        }
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
