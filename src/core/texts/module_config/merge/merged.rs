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
    /// The arguments, of which no two have one name.
    pub attributes: MergedAttributes,
    /// The nested blocks by type, each list in their order; a `dynamic` block stands among those
    /// that it makes.
    pub blocks: BTreeMap<String, Vec<MergedBlock>>,
}

/// Arguments in their order, each found by its name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MergedAttributes {
    /// `None` takes the place of an argument that was removed, so that indexes stay.
    list: Vec<Option<MergedAttribute>>,
    /// The index of each by name; empty while they are few. Most bodies are small, and a map for each of them takes
    /// more time than reading it.
    indexes: BTreeMap<String, usize>,
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

impl MergedAttributes {
    /// Maximum number of arguments that are looked at one by one.
    const FEW: usize = 12;

    fn index(&self, name: &str) -> Option<usize> {
        if self.list.len() > Self::FEW {
            return self.indexes.get(name).copied();
        }
        self.list.iter().position(|argument| {
            argument
                .as_ref()
                .is_some_and(|argument| argument.written.name.text == name)
        })
    }

    /// Finds the argument of a name; of many arguments without looking at each.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&MergedAttribute> {
        self.list.get(self.index(name)?)?.as_ref()
    }

    pub(crate) fn get_mut(&mut self, name: &str) -> Option<&mut MergedAttribute> {
        let index = self.index(name)?;
        self.list.get_mut(index)?.as_mut()
    }

    /// Adds an argument, unless there is one of its name.
    pub(crate) fn add(&mut self, argument: MergedAttribute) {
        if self.get(&argument.written.name.text).is_some() {
            return;
        }
        self.list.push(Some(argument));
        // The first of these is that of the first argument after a few: they all get one.
        let first = match self.list.len() {
            ..=Self::FEW => return,
            len if len == Self::FEW + 1 => 0,
            len => len - 1,
        };
        for (index, argument) in self.list.iter().enumerate().skip(first) {
            if let Some(argument) = argument {
                let name = argument.written.name.text.clone();
                self.indexes.insert(name, index);
            }
        }
    }

    pub(crate) fn remove(&mut self, name: &str) {
        if let Some(index) = self.index(name) {
            self.list[index] = None;
            self.indexes.remove(name);
        }
    }

    /// Walks over the arguments, in their order.
    pub fn iter(&self) -> impl Iterator<Item = &MergedAttribute> {
        self.list.iter().flatten()
    }

    /// Takes the arguments out, in their order.
    pub(crate) fn into_list(self) -> impl Iterator<Item = MergedAttribute> {
        self.list.into_iter().flatten()
    }
}

impl MergedBody {
    /// Returns whether nothing stands there.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.attributes.iter().next().is_none() && self.blocks.is_empty()
    }
}
