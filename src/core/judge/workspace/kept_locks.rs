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
    locks: BTreeMap<PathBuf, KeptLock>,
    bytes: usize,
}

#[derive(Debug)]
struct KeptLock {
    bytes: Arc<[u8]>,
    /// Its root was opened with these bytes.
    is_used: bool,
}

impl KeptLocks {
    /// Keeps the bytes of a lock file, if there is room.
    pub(super) fn keep(&self, path: PathBuf, bytes: &Arc<[u8]>) {
        let mut memory = self.memory();
        // After a root was opened, its file may have been written.
        if memory.locks.get(&path).is_some_and(|kept| kept.is_used) {
            return;
        }
        memory.bytes += bytes.len();
        if memory.bytes <= MAX_KEPT_BYTES {
            let kept = KeptLock {
                bytes: Arc::clone(bytes),
                is_used: false,
            };
            memory.locks.insert(path, kept);
        }
    }

    /// Returns the bytes for opening a root, only once.
    pub(super) fn take(&self, path: &Path) -> Option<Arc<[u8]>> {
        let mut memory = self.memory();
        let kept = memory.locks.get_mut(path).filter(|kept| !kept.is_used)?;
        // A root that is opened again was written meanwhile.
        kept.is_used = true;
        Some(Arc::clone(&kept.bytes))
    }

    /// Returns the bytes that the search read, for the flavor that roots have in common.
    pub(super) fn seen(&self, path: &Path) -> Option<Arc<[u8]>> {
        Some(Arc::clone(&self.memory().locks.get(path)?.bytes))
    }

    fn memory(&self) -> MutexGuard<'_, LockMemory> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
