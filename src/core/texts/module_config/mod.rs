//! The configuration of one module: the files of one directory, in either syntax.
//!
//! A module goes through these steps, each in a folder of its own:
//!
//! 1. `syntax` brings native and JSON syntax to one tree, and reads what expressions name.
//! 2. `decode` makes plain contents of each file, and reports what is wrong with what they come from.
//! 3. `merge` applies the override files: it merges the trees, which says what of the contents counts.
//!
//! All of them look into `language`, the one table of blocks and arguments, and collect what is wrong
//! in `faults`; `flood` puts that in order. `config` reads whole trees of modules, and holds the rules
//! of both ([`rules`](crate::config::rules)).

pub(crate) mod decode;
mod faults;
pub(crate) mod file;
pub(crate) mod flood;
mod language;
pub(crate) mod merge;
pub(crate) mod syntax;

pub use file::{ModuleFile, SourcePlace};
pub use merge::merged::{
    MergedAttribute, MergedBlock, MergedBody, MergedGroup, MergedItem, MergedModule, MergedSettings,
};
