//! Arguments that count after the override files of a module were applied.

use std::collections::BTreeSet;

use crate::diag::FileId;
use crate::module_config::file::SourcePlace;
use crate::module_config::merge::arguments::ByArgument;
use crate::module_config::merge::merged::{MergedBlock, MergedItem, MergedSettings};

/// The arguments and blocks of a merged module, by their places in the files.
///
/// Files are decoded one by one; a value that was decoded counts if it stands here.
#[derive(Debug, Default)]
pub(crate) struct EffectivePlaces {
    arguments: ByArgument<()>,
    headers: BTreeSet<SourcePlace>,
    pub(super) backend: Option<FileId>,
}

impl EffectivePlaces {
    pub(super) fn of(settings: &MergedSettings, blocks: &[MergedBlock]) -> Self {
        let mut standing = Self {
            backend: settings.backend.as_ref().map(|block| block.header.file),
            ..Self::default()
        };
        for argument in settings
            .required_providers
            .values()
            .chain(&settings.required_versions)
        {
            standing.arguments.insert(argument, ());
        }
        for block in blocks {
            standing.block(block);
        }
        standing
    }

    fn block(&mut self, block: &MergedBlock) {
        self.headers.insert(block.header);
        // What a block `_` holds counts as well, under the names of the provider or the module.
        for item in block.body.items() {
            match item {
                MergedItem::Attribute(argument) => self.arguments.insert(argument, ()),
                MergedItem::Block(nested) => self.block(nested),
            }
        }
    }

    /// Returns whether a place is in an argument that counts.
    pub(super) fn has(&self, place: SourcePlace) -> bool {
        self.arguments.around(place).is_some()
    }

    /// Returns whether a block with this header stands there itself, instead of overriding another one.
    pub(super) fn has_block(&self, header: SourcePlace) -> bool {
        self.headers.contains(&header)
    }
}
