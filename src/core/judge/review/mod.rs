//! Changes between two lock files, their causes and their risk.
//!
//! [`diff`] compares values and names kinds of change; [`explain`] finds their causes, as far as the
//! two files show them, and their risk; [`ConfigurationSides`] adds the causes in the configuration of both
//! sides, and [`FileReview::add_builds`] those in the programs. [`fold`] puts equal changes of many files together.
//!
//! ```
//! use lockctl_core::diag::FileId;
//! use lockctl_core::flavor::Flavor;
//! use lockctl_core::review::{FileComparison, LockSide, Risk};
//!
//! let side = |text: &str| {
//!     let bytes = text.as_bytes().to_vec();
//!     Some(LockSide::read(FileId::ALONE, bytes, Flavor::Terraform1_16))
//! };
//! let old = side("provider \"registry.terraform.io/hashicorp/null\" {\n  version = \"3.2.4\"\n}\n");
//! let new = side("");
//! let comparison = FileComparison::of(".terraform.lock.hcl".to_owned(), old, new);
//! assert_eq!(comparison.review.risk(), Risk::Routine);
//! assert_eq!(
//!     comparison.review.providers[0].sentence(),
//!     "the provider is no longer locked"
//! );
//! ```

mod builds;
mod causes;
mod comparison;
mod configuration;
mod diff;
mod explain;
mod faults;
mod file;
mod history;
mod markers;
mod merge;
mod merged_file;
mod origin;
mod pin_merge;
mod pins;
mod readable;
mod registry_page;
mod side;
#[cfg(test)]
mod tests;
mod verdict;

pub mod rules {
    #![doc = include_str!("rules.md")]
}

pub use builds::BuildChange;
pub use causes::{BesideList, Cause, CauseKind, Risk};
pub use comparison::FileComparison;
pub use configuration::{ConfigurationCause, ConfigurationSides};
pub use diff::{ChangeKind, LockDiff, ProviderChange, ProviderSide, Sides, diff};
pub use explain::{Explained, ExplainedChange, JudgedHashes, explain};
pub use file::{FileCause, FileChange, FileReview, review};
pub use history::{HistoryChange, HistoryFilter, HistoryStep, history};
pub use markers::{MARKER_SIZE, MARKERS_HELP, MarkerError, Markers, Parted, part, write_merged};
pub use merge::{
    MergeBase, MergeConflict, MergePreference, Merged, UnfinishedReason, UnknownEntries, merge,
};
pub use merged_file::{ChangedBy, MergeSides, MergedFile, merged_program};
pub use origin::{KnownSigners, ReleaseOrigin, StepDown};
pub use pin_merge::{MergedPins, merge_pins};
pub use pins::{PinChange, PinChangeKind, pin_changes};
pub use readable::readable;
pub use registry_page::registry_page;
pub use side::LockSide;
pub use verdict::{Verdict, verdict};
