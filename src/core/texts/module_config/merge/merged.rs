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
    /// All other blocks: in the order of the files and of their places there, then what only override files have.
    /// Override files change the first of several that declare the same.
    pub blocks: Vec<MergedBlock>,
    /// The `terraform` blocks of the files that declare, in their order.
    pub groups: Vec<MergedGroup>,
}

/// A block of settings, which are merged one by one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MergedGroup {
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
    /// Its arguments and blocks. A block `_` in it has only those that the program would take for its own.
    pub body: MergedBody,
}

/// The arguments and blocks of a block, in the order of their files and places.
#[derive(Clone, Debug, Default)]
pub struct MergedBody {
    /// `None` takes the place of an item that was removed, so that indexes stay.
    items: Vec<Option<MergedItem>>,
    /// Made when an override file first changes the body. No file changes most bodies, and an index for each of them
    /// takes more time than reading it.
    indexes: Option<Box<ItemIndexes>>,
}

/// The indexes of arguments by name, and of blocks by the type that they are overridden with.
#[derive(Clone, Debug, Default)]
struct ItemIndexes {
    attributes: BTreeMap<String, usize>,
    blocks: BTreeMap<String, Vec<usize>>,
}

/// An argument or a nested block.
#[derive(Clone, Debug, PartialEq)]
pub enum MergedItem {
    /// An argument; no two of a body have one name.
    Attribute(MergedAttribute),
    /// A block inside the block.
    Block(MergedBlock),
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
}

impl MergedBlock {
    /// Returns the type of the blocks that this one is overridden together with: `dynamic "x"` makes blocks `x`
    /// (config rules 3.3).
    pub(super) fn made_kind(&self) -> &str {
        match (&*self.kind, &*self.labels) {
            ("dynamic", [made]) => &made.text,
            (kind, _) => kind,
        }
    }
}

impl PartialEq for MergedBody {
    fn eq(&self, other: &Self) -> bool {
        self.items().eq(other.items())
    }
}

impl FromIterator<MergedItem> for MergedBody {
    fn from_iter<T: IntoIterator<Item = MergedItem>>(items: T) -> Self {
        Self {
            items: items.into_iter().map(Some).collect(),
            indexes: None,
        }
    }
}

impl MergedBody {
    /// Walks over all that is in it.
    pub fn items(&self) -> impl Iterator<Item = &MergedItem> {
        self.items.iter().flatten()
    }

    /// Walks over the arguments.
    pub fn attributes(&self) -> impl Iterator<Item = &MergedAttribute> {
        self.items().filter_map(|item| match item {
            MergedItem::Attribute(argument) => Some(argument),
            MergedItem::Block(_) => None,
        })
    }

    /// Walks over the nested blocks.
    pub fn blocks(&self) -> impl Iterator<Item = &MergedBlock> {
        self.items().filter_map(|item| match item {
            MergedItem::Attribute(_) => None,
            MergedItem::Block(block) => Some(block),
        })
    }

    /// Finds the argument of a name.
    #[must_use]
    pub fn attribute(&self, name: &str) -> Option<&MergedAttribute> {
        self.attributes()
            .find(|argument| argument.written.name.text == name)
    }

    /// Returns whether nothing is in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.items().next().is_none()
    }

    /// Takes all out of it.
    pub(super) fn into_items(self) -> impl Iterator<Item = MergedItem> {
        self.items.into_iter().flatten()
    }

    /// Takes the arguments out of it.
    pub(super) fn into_attributes(self) -> impl Iterator<Item = MergedAttribute> {
        self.into_items().filter_map(|item| match item {
            MergedItem::Attribute(argument) => Some(argument),
            MergedItem::Block(_) => None,
        })
    }

    pub(super) fn push(&mut self, item: MergedItem) {
        if let Some(indexes) = &mut self.indexes {
            indexes.add(&item, self.items.len());
        }
        self.items.push(Some(item));
    }

    /// Finds the argument of a name; of many without looking at each.
    pub(super) fn attribute_mut(&mut self, name: &str) -> Option<&mut MergedAttribute> {
        let index = *self.indexes().attributes.get(name)?;
        match self.items[index].as_mut()? {
            MergedItem::Attribute(argument) => Some(argument),
            MergedItem::Block(_) => None,
        }
    }

    /// Finds the first block of a type; of many without looking at each.
    pub(super) fn block_mut(&mut self, kind: &str) -> Option<&mut MergedBlock> {
        let index = *self.indexes().blocks.get(kind)?.first()?;
        match self.items[index].as_mut()? {
            MergedItem::Attribute(_) => None,
            MergedItem::Block(block) => Some(block),
        }
    }

    pub(super) fn remove_attribute(&mut self, name: &str) {
        if let Some(index) = self.indexes().attributes.remove(name) {
            self.items[index] = None;
        }
    }

    /// Takes out the blocks of a type, with the `dynamic` blocks that make such.
    pub(super) fn take_blocks(&mut self, kind: &str) -> Vec<MergedBlock> {
        let indexes = self.indexes().blocks.remove(kind).unwrap_or_default();
        indexes
            .into_iter()
            .filter_map(|index| match self.items[index].take()? {
                MergedItem::Attribute(_) => None,
                MergedItem::Block(block) => Some(block),
            })
            .collect()
    }

    fn indexes(&mut self) -> &mut ItemIndexes {
        self.indexes.get_or_insert_with(|| {
            let mut indexes = ItemIndexes::default();
            for (index, item) in self.items.iter().enumerate() {
                if let Some(item) = item {
                    indexes.add(item, index);
                }
            }
            Box::new(indexes)
        })
    }
}

impl ItemIndexes {
    fn add(&mut self, item: &MergedItem, index: usize) {
        match item {
            MergedItem::Attribute(argument) => {
                let name = argument.written.name.text.clone();
                self.attributes.insert(name, index);
            }
            MergedItem::Block(block) => {
                let kind = block.made_kind().to_owned();
                self.blocks.entry(kind).or_default().push(index);
            }
        }
    }
}
