//! Bounded work on several threads, with results in the order of the input.

mod contained;
mod memo;

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};

pub use contained::{contained, panic_message};
pub use memo::Memo;

/// Calls `work` once for every item, on at most `jobs` threads, and returns the results in the
/// order of the items.
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
                    // Items are handed out one by one, so that a slow one delays no other.
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

/// Lets a limited number of threads through at a time.
#[derive(Debug)]
pub struct Gate {
    left: Mutex<usize>,
    freed: Condvar,
}

/// A thread's right to go on; it ends with this value.
#[derive(Debug)]
pub struct GateTurn<'a> {
    gate: &'a Gate,
}

impl Gate {
    /// Makes a gate for so many threads at a time.
    #[must_use]
    pub fn new(threads: NonZeroUsize) -> Self {
        Self {
            left: Mutex::new(threads.get()),
            freed: Condvar::new(),
        }
    }

    /// Waits until a turn is free.
    #[must_use]
    pub fn enter(&self) -> GateTurn<'_> {
        let left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        let left = self.freed.wait_while(left, |left| *left == 0);
        *left.unwrap_or_else(PoisonError::into_inner) -= 1;
        GateTurn { gate: self }
    }
}

impl Drop for GateTurn<'_> {
    fn drop(&mut self) {
        let left = self.gate.left.lock();
        *left.unwrap_or_else(PoisonError::into_inner) += 1;
        self.gate.freed.notify_one();
    }
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

    #[test]
    fn a_gate_lets_through_no_more_than_it_has_places() {
        let gate = Gate::new(NonZeroUsize::new(2).expect("positive"));
        let (inside, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let threads = NonZeroUsize::new(8).expect("positive");
        map(threads, &[(); 64], |()| {
            let _turn = gate.enter();
            let now = inside.fetch_add(1, Ordering::SeqCst) + 1;
            most.fetch_max(now, Ordering::SeqCst);
            std::thread::yield_now();
            inside.fetch_sub(1, Ordering::SeqCst);
        });
        assert!((1..=2).contains(&most.into_inner()));
    }
}
