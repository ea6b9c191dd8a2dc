//! Limits of the files that are read and of the values that are computed for one unit.

/// Maximum size of a file of Terragrunt, in bytes.
pub const MAX_FILE_BYTES: u64 = 4 << 20;

/// Maximum number of files that are read for one unit: parents, values, and those of `read_terragrunt_config`.
pub const MAX_FILES: usize = 300;

/// Maximum size of all files of one unit together, in bytes.
pub const MAX_TOTAL_BYTES: u64 = 64 << 20;

/// Maximum number of include blocks of a unit.
pub const MAX_INCLUDES: usize = 100;

/// Maximum nesting of `read_terragrunt_config`: a file may read itself under ever new names.
pub const MAX_READ_DEPTH: usize = 16;

/// Maximum number of directories above a unit that `find_in_parent_folders` looks into; Terragrunt has the same
/// limit (rules 5.1).
pub(super) const MAX_PARENTS: usize = 100;

/// Maximum number of reasons that are kept for one unknown value; one of them is reported.
pub(super) const MAX_REASONS: usize = 4;

/// Maximum size of the shared files that are kept parsed for all units, in bytes.
pub(super) const MAX_SHARED_BYTES: usize = 16 << 20;

/// Maximum depth of directories that are searched for files to copy.
pub(super) const MAX_DEPTH: usize = 64;

/// Maximum number of names that a walk over the files of a package looks at.
pub(super) const MAX_NAMES: usize = 200_000;
