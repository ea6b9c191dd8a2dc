//! Lock files in a git repository, by the program `git`.
//!
//! Only [`Wiring`] writes. Nothing here makes network requests, or runs what a repository or its
//! configuration names: no pager, no external diff, no text conversion, no file system monitor, no
//! fetching of objects that a partial clone lacks. Revisions are resolved to object names first, so
//! that no text from outside is ever in a place where git looks for an option.
//!
//! ```no_run
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use lockctl_core::git::Repository;
//!
//! let repository = Repository::find(&lockctl_core::os::RealRun, std::path::Path::new("."))?;
//! let (old, new) = repository.sides("main...HEAD")?;
//! for change in repository.changes(&old, &new)? {
//!     let blobs: Vec<_> = change.new.iter().filter_map(|entry| entry.blob.clone()).collect();
//!     let contents = repository.read(&blobs, 1 << 20)?;
//! }
//! # Ok(())
//! # }
//! ```

mod attributes;
mod changes;
mod driver;
mod error;
mod history;
mod objects;
mod repository;
mod revision;
#[cfg(test)]
mod tests;
mod textual;
mod tree;

pub use attributes::ATTRIBUTES;
pub use changes::{Change, Status, TreeEntry};
pub use driver::{
    AttributesChange, EffectiveSetting, SETTINGS, SettingChange, SettingKind, Wiring, WiringGoal,
    WiringPlan, effective_settings,
};
pub use error::GitError;
pub use history::{ChangedPaths, Commit, CommittedChange, FileCommit, files};
pub use objects::{BlobContent, ObjectId};
pub use repository::{ConfigScope, PIN_FILES, PROJECT_FILES, Repository};
pub use revision::{Revision, RevisionKind, Side};
pub use textual::{Marking, base_of, is_unmerged, merge_file, wants_base};
pub use tree::Tree;
