//! Answers that are asked for once.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Answers by question; a thread whose question is already being asked waits for that answer.
#[derive(Debug)]
pub struct Memo<K, V> {
    answers: Mutex<BTreeMap<K, Arc<OnceLock<V>>>>,
}

impl<K, V> Default for Memo<K, V> {
    fn default() -> Self {
        Self {
            answers: Mutex::default(),
        }
    }
}

impl<K: Ord + Clone, V: Clone> Memo<K, V> {
    /// Returns the answer; `ask` runs only for the first caller with this question.
    pub fn get(&self, question: &K, ask: impl FnOnce() -> V) -> V {
        // The map is unlocked again before the question is asked, so that threads ask different questions
        // side by side; only a thread with the same question waits, at the cell of the answer. A thread
        // that panics under the lock leaves at most an empty cell, so a poisoned lock is used as it is.
        let answer = {
            let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(answers.entry(question.clone()).or_default())
        };
        answer.get_or_init(ask).clone()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn each_question_is_asked_once() {
        let memo = Memo::default();
        let asked = AtomicUsize::new(0);
        let answer = |n: &u32| {
            memo.get(n, || {
                asked.fetch_add(1, Ordering::Relaxed);
                n * 2
            })
        };
        std::thread::scope(|scope| {
            for n in [1, 2, 1, 2, 1] {
                scope.spawn(move || assert_eq!(answer(&n), n * 2));
            }
        });
        assert_eq!(asked.load(Ordering::Relaxed), 2);
    }
}
