//! A module as its override files leave it.

use std::collections::BTreeMap;

use crate::diag::{FileId, Span};
use crate::hcl::tree::{Attribute, Word};
use crate::module_config::file::SourcePlace;

/// A module as its override files leave it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MergedModule {
    /// The settings of its `terraform` blocks, merged one by one.
    pub settings: MergedSettings,
    /// Its local values by name, whichever `locals` blocks they stand in.
    pub locals: BTreeMap<String, MergedAttribute>,
    /// All other blocks: in the order of the files and of their places there, then what only
    /// override files have. The first of several that declare the same counts.
    pub blocks: Vec<MergedBlock>,
    /// The `terraform` and `locals` blocks of the files that declare, in their order.
    pub groups: Vec<MergedGroup>,
}

/// A block of settings or of local values, which are merged one by one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MergedGroup {
    /// The type of the block: `terraform` or `locals`.
    pub kind: &'static str,
    /// The header of the block.
    pub header: SourcePlace,
    /// The bytes of the whole block.
    pub span: Span,
}

/// The settings of the `terraform` blocks of a module.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MergedSettings {
    /// Every `required_version` that counts.
    pub required_versions: Vec<MergedAttribute>,
    /// All other arguments; override files have no say in these.
    pub others: Vec<MergedAttribute>,
    /// The entries of `required_providers` by local name, each as a whole.
    pub required_providers: BTreeMap<String, MergedAttribute>,
    /// The `backend` or `cloud` block.
    pub backend: Option<MergedBlock>,
    /// The `encryption` block of OpenTofu.
    pub encryption: Option<MergedBlock>,
    /// The `provider_meta` blocks in their order.
    pub provider_metas: Vec<MergedBlock>,
}

/// A block with what override files made of it.
#[derive(Clone, Debug, PartialEq)]
pub struct MergedBlock {
    /// The type of block.
    pub kind: String,
    /// The labels, which stand in the file of the header.
    pub labels: Vec<Word>,
    /// The header of the block that all others override.
    pub header: SourcePlace,
    /// Its arguments and blocks, with those in a block `_` unless the program would take them for its own.
    pub body: MergedBody,
    /// The arguments and blocks in a block `_` that the program would take for its own.
    pub escaped: MergedBody,
}

/// The arguments and blocks of a block.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MergedBody {
    /// The arguments by name.
    pub attributes: BTreeMap<String, MergedAttribute>,
    /// The nested blocks by type, each list in their order; a `dynamic` block stands among those
    /// that it makes.
    pub blocks: BTreeMap<String, Vec<MergedBlock>>,
}

/// An argument with where it comes from.
#[derive(Clone, Debug, PartialEq)]
pub struct MergedAttribute {
    /// The file that sets it.
    pub file: FileId,
    /// The argument as it is written there.
    pub written: Attribute,
    /// The names of the arguments that it replaces, those of earlier files first.
    pub replaces: Vec<SourcePlace>,
}

impl MergedAttribute {
    /// Returns the place of the name.
    #[must_use]
    pub fn name_place(&self) -> SourcePlace {
        SourcePlace {
            file: self.file,
            span: self.written.name.span,
        }
    }

    /// Returns the place of the value.
    #[must_use]
    pub fn value_place(&self) -> SourcePlace {
        SourcePlace {
            file: self.file,
            span: self.written.value.span,
        }
    }
}

impl MergedBody {
    /// Returns whether nothing stands there.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.attributes.is_empty() && self.blocks.is_empty()
    }
}
