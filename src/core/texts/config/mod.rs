//! Configuration to requirements: the providers that the modules of a root need, with their constraints
//! ([`rules`]).
//!
//! `module_config` reads the files of one module. Here, `tree` chooses the files of a directory, walks
//! from the root along the calls, and resolves all names to requirements.
//!
//! Invariant: what is not read is never passed over in silence. Either it cannot change the
//! requirements, or [`is_complete`](crate::requirement::Requirements::is_complete) is false and a
//! diagnostic says why.

mod computed;
mod given;
mod limits;
mod loaded;
mod overridden;
mod stack;
mod tree;

pub mod rules {
    #![doc = include_str!("rules.md")]
}

use std::path::Path;

use crate::diag::Texts;
use crate::remote_module::{InstalledOnly, RemoteModules};
use crate::world::Files;

pub use computed::{
    ComputedArgument, ComputedCall, TracedPlace, TracedValue, ValueOrigin, ValueState,
};
pub use given::{GivenValues, VALUE_PREFIX, ValueArgument};
pub use limits::{
    MAX_DEPTH, MAX_FILE_BYTES, MAX_FILES, MAX_PATH_BYTES, MAX_STEPS, MAX_TOTAL_BYTES,
    MAX_TOTAL_ITEMS,
};
pub use loaded::{
    DEFAULT_DATA_DIR, FetchedModule, Loaded, ModuleNode, PinSettings, RemoteCall, Settings,
    Submodules, Unreached,
};
pub use overridden::{OverriddenPlace, OverriddenPlaces};
pub use stack::{is_stack, load_stack};
pub use tree::branches::{BelowGroup, Branch, BranchGroup, BranchKind, Branches, Repeats};
pub use tree::glance::{Glance, glance, has_files};
pub use tree::state::state_command;
pub use tree::values::planned::{ExtraNames, PlannedValues, UnknownReason, with_planned};

/// Reads the configuration of a root and of all modules that can be followed from there.
///
/// Every file is added to `texts`, under its path as `root` is written. A module that two calls
/// share is read once, but requires what it requires once for each call. Nothing fails: what is
/// wrong is a diagnostic, and the rest is read on.
///
/// Remote modules are read where they are installed; [`load_with`] also asks for others.
pub fn load(files: &dyn Files, texts: &mut Texts, root: &Path, settings: &Settings) -> Loaded {
    let modules = &InstalledOnly;
    load_with(ConfigSources { files, modules }, texts, root, settings)
}

/// The sources of configuration.
#[derive(Clone, Copy)]
pub struct ConfigSources<'a> {
    /// The files of the root and of what is installed for it.
    pub files: &'a dyn Files,
    /// The remote modules that are not installed.
    pub modules: &'a dyn RemoteModules,
}

/// Reads the configuration of a root as [`load`] does, and asks for remote modules that are not installed
/// ([`rules`] 5.11).
pub fn load_with(
    outside: ConfigSources<'_>,
    texts: &mut Texts,
    root: &Path,
    settings: &Settings,
) -> Loaded {
    tree::walk::load(outside, texts, root, settings)
}

#[cfg(test)]
mod tests;
