//! Limits of the configuration of one root.

/// The largest configuration file that is read, in bytes.
pub const MAX_FILE_BYTES: u64 = 16 << 20;
/// The most bytes that the files of one root and its modules may hold together.
pub const MAX_TOTAL_BYTES: u64 = 160 << 20;
/// The most arguments and blocks that the files of one root and its modules may have together. An argument takes up
/// to 500 bytes of memory; a block takes up to 800, and counts twice. 10 MB of usual configuration have half of this.
pub const MAX_TOTAL_ITEMS: usize = 400_000;
/// The most configuration files that one root and its modules may have together.
pub const MAX_FILES: usize = 20_000;
/// The most requirements and module calls in a tree, counted once for each way that leads there.
///
/// A very large root has some 1000 calls of modules that require 5 to 10 providers each: less than
/// a quarter of this.
pub const MAX_STEPS: usize = 50_000;
/// The most calls that the paths of all modules in a tree may have together: each path holds the names of all
/// calls between the root and its module.
pub(super) const MAX_PATH_STEPS: usize = 500_000;
/// The most calls between the root and a module.
pub const MAX_DEPTH: usize = 64;
/// The most bytes that the names of the calls between the root and a module may have together; the
/// programs fail at some 255, dots included (rules 5.9).
pub const MAX_PATH_BYTES: usize = 512;
