//! Bounded work on several threads, with results in the order of the input.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Calls `work` once for every item, on at most `jobs` threads, and returns the results in the
/// order of the items.
///
/// Items are handed out one by one, so that a slow one holds nobody up.
///
/// # Panics
/// If `work` does.
pub fn map<T: Sync, R: Send>(
    jobs: NonZeroUsize,
    items: &[T],
    work: impl Fn(&T) -> R + Sync,
) -> Vec<R> {
    let threads = jobs.get().min(items.len());
    if threads <= 1 {
        return items.iter().map(work).collect();
    }
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::with_capacity(items.len()));
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(index) else { break };
                    let result = work(item);
                    done.lock()
                        .unwrap_or_else(PoisonError::into_inner)
                        .push((index, result));
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, result)| result).collect()
}

/// Returns how many jobs each of several things done side by side may use within itself.
#[must_use]
pub fn within(jobs: NonZeroUsize, things: usize) -> NonZeroUsize {
    let things = NonZeroUsize::new(things).unwrap_or(NonZeroUsize::MIN);
    NonZeroUsize::new(jobs.get().div_ceil(things.get())).unwrap_or(NonZeroUsize::MIN)
}

/// Returns how many threads this machine runs at once.
#[must_use]
pub fn cores() -> NonZeroUsize {
    std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_items() {
        let items: Vec<usize> = (0..1000).collect();
        for jobs in [1, 2, 7, 5000] {
            let jobs = NonZeroUsize::new(jobs).expect("positive");
            let doubled = map(jobs, &items, |n| n * 2);
            assert_eq!(doubled, items.iter().map(|n| n * 2).collect::<Vec<_>>());
        }
        assert!(map(NonZeroUsize::MIN, &[] as &[u8], |n| *n).is_empty());
    }
}
