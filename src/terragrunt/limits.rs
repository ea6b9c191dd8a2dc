//! How much is read and computed for one unit.

/// The largest file of Terragrunt that is read, in bytes.
pub const MAX_FILE_BYTES: u64 = 4 << 20;

/// How many files are read for one unit: parents, values, and what `read_terragrunt_config` reads.
pub const MAX_FILES: usize = 300;

/// How many bytes these may hold together.
pub const MAX_TOTAL_BYTES: u64 = 64 << 20;

/// How many include blocks a file may have.
pub const MAX_INCLUDES: usize = 100;

/// How deep `read_terragrunt_config` is followed: a file may read itself.
pub const MAX_READ_DEPTH: usize = 16;

/// How many local values may need each other in a row.
pub(super) const MAX_CHAIN: usize = 200;

/// How many directories above a unit `find_in_parent_folders` looks into, as Terragrunt does (rules 5.1).
pub(super) const MAX_PARENTS: usize = 100;

/// How many reasons are kept for one unknown value.
pub(super) const MAX_REASONS: usize = 4;

/// How many notes are reported for one unit.
pub(super) const MAX_NOTES: usize = 20;

/// How many bytes of shared files are kept parsed for all units.
pub(super) const MAX_SHARED_BYTES: usize = 16 << 20;

/// How many directories a search for units enters.
pub const MAX_DIRECTORIES: usize = 200_000;

/// How deep directories are searched for units, or for files to copy.
pub(super) const MAX_DEPTH: usize = 64;

/// How many names a walk over the files of a package looks at.
pub(super) const MAX_NAMES: usize = 200_000;
