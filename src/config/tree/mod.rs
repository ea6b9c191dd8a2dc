//! The modules of a root: which files they have, where their calls lead, and what all of it requires.
//!
//! `files` picks the files of a directory, `reader` reads them, `resolve` makes requirements of the
//! names in one module, `packages` puts fetched ones among the files, `root_values` and `values` compute what sources depend on, and `walk` follows the calls, each a `way`, with the `manifest` of installed modules and
//! the `state` beside them. Then `passing` and `run_types` compare what calls and test runs hand over
//! with what modules take. `branches` is the tree as others see it, `glance` a look at one
//! directory, `single` the value of one expression.

pub(super) mod branches;
pub(super) mod files;
pub(super) mod glance;
pub(super) mod manifest;
pub(super) mod packages;
pub(super) mod passing;
pub(super) mod reader;
pub(super) mod resolve;
pub(super) mod root_values;
pub(super) mod run_types;
pub(super) mod single;
pub(super) mod state;
pub(super) mod unseen;
pub(super) mod values;
pub(super) mod walk;
pub(super) mod way;
