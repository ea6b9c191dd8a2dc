//! From the tree of one file to what it declares, as far as requirements depend on it.
//!
//! `blocks` and `runs` begin with a file of a module and a test file; the others know one type of
//! block each. What they find is put into `contents`. Blocks that require nothing are looked at for
//! their faults (`statements`, `mocks`).

pub(crate) mod backends;
pub(crate) mod blocks;
pub(crate) mod calls;
pub(crate) mod contents;
pub(crate) mod duplicates;
pub(crate) mod imports;
pub(crate) mod late;
pub(crate) mod mocks;
pub(crate) mod providers;
pub(crate) mod resources;
pub(crate) mod runs;
pub(crate) mod settings;
pub(crate) mod sources;
pub(crate) mod statements;
pub(crate) mod variables;
