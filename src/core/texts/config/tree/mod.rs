//! The modules of a root, from its files along the calls to their requirements.
//!
//! - `files` chooses the files of a directory, `reader` reads them, `kept` holds them for other roots, and `packages` lets fetched modules
//!   appear among the files of the disk.
//! - `walk` follows the calls (`way` is one of them), with the `manifest` of installed modules and the
//!   `state` beside them; `unseen` collects calls that are not visible.
//! - `resolve` makes requirements of the local names in one module.
//! - `root_values` and `values` compute values that sources depend on.
//! - `branches` is the tree as reports show it, `glance` a look at one directory, `single` the value of one
//!   expression.

pub(super) mod branches;
pub(super) mod files;
pub(super) mod glance;
pub(super) mod kept;
pub(super) mod manifest;
pub(super) mod packages;
pub(super) mod reader;
pub(super) mod resolve;
pub(super) mod root_values;
pub(super) mod state;
pub(super) mod unseen;
pub(super) mod values;
pub(super) mod walk;
pub(super) mod way;
