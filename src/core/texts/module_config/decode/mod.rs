//! From the tree of one file to what it declares, as far as requirements depend on it.
//!
//! `blocks` and `runs` begin with a file of a module and a test file; the others know one type of
//! block each. What they find is put into `contents`. A block that requires nothing is syntax only: what
//! the programs refuse in it is not looked for, but for what override files may not have (`overriding`).

pub(crate) mod backends;
pub(crate) mod blocks;
mod bodies;
pub(crate) mod calls;
pub(crate) mod contents;
pub(crate) mod duplicates;
pub(crate) mod imports;
pub(crate) mod late;
mod overriding;
pub(crate) mod providers;
mod resources;
pub(crate) mod runs;
mod settings;
pub(crate) mod sources;
pub(crate) mod variables;
