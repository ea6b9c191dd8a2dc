//! Arguments that requirements in override files replace.

use std::collections::BTreeSet;

use crate::config::loaded::Loaded;
use crate::diag::{FileId, Texts};
use crate::flavor::Flavor;
use crate::module_config::file::SourcePlace;
use crate::module_config::merge::arguments::ByArgument;
use crate::module_config::merge::merged::{MergedAttribute, MergedBlock, MergedModule};
use crate::requirement::Requirement;

/// The arguments of override files that require something, each with what it overrides.
#[derive(Clone, Debug, Default)]
pub struct OverriddenPlaces {
    arguments: ByArgument<Vec<SourcePlace>>,
}

impl OverriddenPlaces {
    /// Looks at the modules that have some of the requirements in an override file.
    #[must_use]
    pub fn of(
        requirements: &[&Requirement],
        loaded: &Loaded,
        texts: &Texts,
        flavor: Flavor,
    ) -> Self {
        let mut overridden = Self::default();
        let wanted: BTreeSet<FileId> = requirements
            .iter()
            .map(|requirement| requirement.file)
            .collect();
        // Calls may share a module, which is looked at once.
        let mut seen = BTreeSet::new();
        for node in &loaded.modules {
            if node
                .files
                .first()
                .is_some_and(|first| !seen.insert(first.id))
            {
                continue;
            }
            // Merging costs more than parsing: most modules have no override file with a requirement.
            let is_wanted = node
                .files
                .iter()
                .any(|file| file.is_override() && wanted.contains(&file.id));
            if is_wanted {
                overridden.module(&node.merged(texts, flavor));
            }
        }
        overridden
    }

    fn module(&mut self, module: &MergedModule) {
        for entry in module.settings.required_providers.values() {
            self.add(entry, entry.replaces.clone());
        }
        for block in &module.blocks {
            self.block(block);
            // A check holds a data source of the module.
            for data in block.body.blocks.get("data").into_iter().flatten() {
                self.block(data);
            }
        }
    }

    fn block(&mut self, block: &MergedBlock) {
        for argument in ["provider", "version"] {
            let Some(argument) = block.body.attributes.get(argument) else {
                continue;
            };
            // What the base does not say is added to it.
            let is_added = argument.replaces.is_empty() && argument.file != block.header.file;
            let replaces = if is_added {
                vec![block.header]
            } else {
                argument.replaces.clone()
            };
            self.add(argument, replaces);
        }
    }

    fn add(&mut self, argument: &MergedAttribute, replaces: Vec<SourcePlace>) {
        if !replaces.is_empty() {
            self.arguments.insert(argument, replaces);
        }
    }

    /// Returns what a requirement overrides, the earliest place first.
    #[must_use]
    pub fn by(&self, requirement: &Requirement) -> &[SourcePlace] {
        let Requirement { file, span, .. } = *requirement;
        let replaces = self.arguments.around(SourcePlace { file, span });
        replaces.map_or(&[], Vec::as_slice)
    }
}
