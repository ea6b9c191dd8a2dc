//! Application of override files to a module (config rules 3).
//!
//! Bodies are merged, not what was decoded from them, and only here: `module` finds which block
//! overrides which, `bodies` and `settings` merge them by what the table of the language says, `effects`
//! knows when an argument counts. There are two readers of the result:
//!
//! - [`merge`] returns the merged module, each argument with the file that it comes from.
//!   It is built on demand, from the texts that loading kept: a tree of modules with large files costs
//!   nothing more until it is asked for. A command that prints all of it has loading keep it.
//! - Requirements come from values that were decoded already. `standing` holds the places of all
//!   arguments of the merged module, and `overrides` moves a decoded value to the block that it
//!   overrides if its argument stands there.
//!
//! So each value is decoded once, but before bodies are merged: an override repairs no fault of its
//! base, so that the faults of every file must be found (config rules 3.2, case `override-repairs-nothing`).
//! In a module with faults, a value that was refused leaves the one of the base as it is.
//!
//! Variables alone are overridden as decoded values, one file after the other. The default has been
//! brought to the type of its own file before an override changes that type, and a default that does not
//! fit in between is refused even if a later file repairs it (config rules 3.13, cases
//! `override-variable-*`); a merged body has lost these steps.

pub(crate) mod arguments;
mod bodies;
mod effects;
pub(crate) mod merged;
pub(crate) mod module;
pub(crate) mod overrides;
mod settings;
pub(crate) mod standing;

use crate::diag::Texts;
use crate::flavor::Flavor;
use crate::module_config::file::ModuleFile;
use crate::module_config::syntax;

use merged::MergedModule;
use module::ModuleMerge;

/// Merges the files of one module, by the rules of the flavor that they were loaded with.
///
/// `texts` must be those that they were loaded into.
pub(crate) fn merge(files: &[ModuleFile], texts: &Texts, flavor: Flavor) -> MergedModule {
    let bodies = files.iter().map(|file| {
        let (body, _) = syntax::parse(*file, texts.bytes(file.id), flavor);
        (*file, body)
    });
    ModuleMerge::of(bodies, flavor).into_merged()
}
