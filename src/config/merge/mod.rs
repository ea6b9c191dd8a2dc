//! What stands in a module once its override files were applied (rules 3).
//!
//! The merged module is built on demand, from the texts that loading kept: a tree of modules with
//! large files costs nothing more until somebody asks. It holds what the programs would go on with,
//! each argument with the file that it comes from. What they refuse was reported when the module was
//! read; here it is left out.
//!
//! `module` finds which block overrides which, `bodies` and `settings` merge them by what the table of
//! the language says, `fates` knows when an argument counts.
//!
//! Requirements do not come from merged bodies: `overrides` applies the decoded contents of override
//! files once more. Each file must be decoded on its own for its faults, because an override repairs
//! no fault of its base (rules 3.2), and the programs keep values of that step: the default of a
//! variable has been brought to the type of its own file before an override changes that type
//! (rules 3.13), and OpenTofu checks the `required_version` of each file (rules 3.5).

mod bodies;
mod fates;
pub(super) mod merged;
mod module;
pub(super) mod overridden;
pub(super) mod overrides;
mod settings;
#[cfg(test)]
mod tests;

use crate::config::loaded::ModuleNode;
use crate::config::syntax;
use crate::diag::Texts;
use crate::flavor::Flavor;

use merged::MergedModule;

impl ModuleNode {
    /// Merges the files of the module, by the rules of the flavor that they were loaded with.
    ///
    /// `texts` must be those that they were loaded into. A module that could not be seen is empty.
    #[must_use]
    pub fn merged(&self, texts: &Texts, flavor: Flavor) -> MergedModule {
        let bodies = self.files.iter().map(|file| {
            let (body, _) = syntax::parse(*file, texts.bytes(file.id), flavor);
            (*file, body)
        });
        module::merge(bodies, flavor)
    }
}
