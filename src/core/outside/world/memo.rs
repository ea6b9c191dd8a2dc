//! Values that were made of the files in a directory, for the rest of a run.

use std::any::Any;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Maximum number of bytes that all values of a run may have together. What is more is made each time it is needed.
const MAX_KEPT_BYTES: usize = 96 << 20;

/// The values that are kept for one directory, shared by all threads.
#[derive(Clone)]
pub struct DirectoryMemo {
    run: Arc<RunMemo>,
    /// The same in every run over the same directories.
    hash: u32,
    values: Arc<Mutex<Vec<Arc<dyn Any + Send + Sync>>>>,
}

/// The part of a memory that all directories of a run share.
pub(super) struct RunMemo {
    bytes_left: AtomicUsize,
    numbers: Mutex<BTreeSet<u32>>,
}

impl Default for RunMemo {
    fn default() -> Self {
        Self {
            bytes_left: AtomicUsize::new(MAX_KEPT_BYTES),
            numbers: Mutex::default(),
        }
    }
}

impl DirectoryMemo {
    pub(super) fn new(run: &Arc<RunMemo>, path: &[u8]) -> Self {
        // FNV-1a: no value depends on it, and neither time nor addresses may.
        let hash = path.iter().fold(0x811c_9dc5_u32, |hash, byte| {
            (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193)
        });
        Self {
            run: Arc::clone(run),
            hash,
            values: Arc::default(),
        }
    }

    /// Returns the value of a type that `is_wanted` accepts; makes and keeps it, if there is none.
    pub fn value<T: Any + Send + Sync>(
        &self,
        is_wanted: impl Fn(&T) -> bool,
        make: impl FnOnce() -> T,
    ) -> Arc<T> {
        let mut values = self.values.lock().unwrap_or_else(PoisonError::into_inner);
        let known = values
            .iter()
            .filter_map(|value| Arc::clone(value).downcast::<T>().ok())
            .find(|value| is_wanted(value));
        known.unwrap_or_else(|| {
            let made = Arc::new(make());
            values.push(Arc::<T>::clone(&made));
            made
        })
    }

    /// Counts bytes that are to be kept; returns false if all values of the run would have too many.
    #[must_use]
    pub fn reserve(&self, bytes: usize) -> bool {
        self.run
            .bytes_left
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
                left.checked_sub(bytes)
            })
            .is_ok()
    }

    /// Returns a number below 2^31 that no other value of the run has. It depends on the path of the directory, not on
    /// which thread comes first, unless two paths have one hash.
    #[must_use]
    pub fn number(&self) -> u32 {
        let mut numbers = self
            .run
            .numbers
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let mut number = self.hash >> 1;
        while !numbers.insert(number) {
            number = (number + 1) & (u32::MAX >> 1);
        }
        number
    }
}
