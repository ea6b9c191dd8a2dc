//! What changed between two lock files, why, and whether that is alarming.
//!
//! [`diff`] compares values and names kinds of change; [`explain`] says what most likely led to
//! them and how much they matter. Both know the two files only: what the configuration says is
//! added by whoever has read it.

mod causes;
mod diff;
mod explain;
mod file;
mod markers;
mod merge;
mod merged_file;
mod readable;
#[cfg(test)]
mod tests;
mod verdict;

pub mod rules {
    #![doc = include_str!("rules.md")]
}

pub use causes::{Cause, Risk};
pub use diff::{ChangeKind, LockDiff, ProviderChange, ProviderSide, Sides, diff};
pub use explain::{Explained, explain};
pub use file::{FileCause, FileChangeKind, FileReview, FileSide, review};
pub use markers::{MARKER_SIZE, MarkerError, MarkerFault, Markers, Parted, part, write_merged};
pub use merge::{Conflict, Merged, Prefer, Unfinished, merge};
pub use merged_file::{ChangedBy, MergeBase, MergeSides, MergedFile};
pub use readable::readable;
pub use verdict::{Verdict, verdict};
