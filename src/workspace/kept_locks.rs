//! Lock files that the search for roots read, kept until their roots are opened.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Maximum number of bytes that are kept; files that do not fit are read again.
// A `zh:` takes 75 bytes, 15 of them for each of 10 providers 11 kB: room for some thousands of roots.
const MAX_KEPT_BYTES: usize = 64 << 20;

/// Lock files by their absolute paths.
#[derive(Debug, Default)]
pub(super) struct KeptLocks(Mutex<LockMemory>);

#[derive(Debug, Default)]
struct LockMemory {
    locks: BTreeMap<PathBuf, Arc<[u8]>>,
    bytes: usize,
}

impl KeptLocks {
    /// Keeps the bytes of a lock file, if there is room.
    pub(super) fn keep(&self, path: PathBuf, bytes: &Arc<[u8]>) {
        let mut kept = self.kept();
        if kept.bytes + bytes.len() <= MAX_KEPT_BYTES {
            kept.bytes += bytes.len();
            if let Some(old) = kept.locks.insert(path, Arc::clone(bytes)) {
                kept.bytes -= old.len();
            }
        }
    }

    /// Removes the bytes of a lock file: a root that is opened again was written meanwhile.
    pub(super) fn take(&self, path: &Path) -> Option<Arc<[u8]>> {
        let mut kept = self.kept();
        let bytes = kept.locks.remove(path)?;
        kept.bytes -= bytes.len();
        Some(bytes)
    }

    fn kept(&self) -> MutexGuard<'_, LockMemory> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
