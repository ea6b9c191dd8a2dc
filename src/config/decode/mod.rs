//! From the tree of one file to what it declares, as far as requirements depend on it.
//!
//! `blocks` and `runs` begin with a file of a module and a test file; the others know one type of
//! block each. What they find is put into `contents`. Blocks that require nothing are looked at for
//! their faults (`statements`, `mocks`).

pub(super) mod backends;
pub(super) mod blocks;
pub(super) mod calls;
pub(super) mod contents;
pub(super) mod duplicates;
pub(super) mod handover;
pub(super) mod imports;
pub(super) mod mocks;
pub(super) mod providers;
pub(super) mod resources;
pub(super) mod run_providers;
pub(super) mod runs;
pub(super) mod settings;
pub(super) mod sources;
pub(super) mod statements;
pub(super) mod variables;
