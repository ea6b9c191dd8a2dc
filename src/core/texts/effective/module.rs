//! The tree of a module as the program sees it.

use crate::hcl;
use crate::hcl::tree::Expr;
use crate::module_config::SourcePlace;

/// A module as the program sees it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EffectiveModule {
    /// Its blocks in the order of the files that declare; behind them those that only override files add.
    pub blocks: Vec<EffectiveBlock>,
    /// Sentences on what the printed text does not express, or only the provider decides.
    pub doubts: Vec<String>,
}

/// A block with what override files made of it.
#[derive(Clone, Debug, PartialEq)]
pub struct EffectiveBlock {
    /// The type of block.
    pub kind: String,
    /// The labels, with escapes decoded.
    pub labels: Vec<String>,
    /// The header of the block, or of the block that it is generated from.
    pub origin: SourcePlace,
    /// The arguments and nested blocks in their order; behind them those that only override files add.
    pub items: Vec<EffectiveItem>,
    /// Remarks for people, each printed as a comment above the block.
    pub remarks: Vec<String>,
}

/// An argument or a nested block.
#[derive(Clone, Debug, PartialEq)]
pub enum EffectiveItem {
    /// An argument: `name = value`.
    Attribute(EffectiveAttribute),
    /// A block inside the block.
    Block(EffectiveBlock),
}

/// An argument with the place that sets it.
#[derive(Clone, Debug, PartialEq)]
pub struct EffectiveAttribute {
    /// The name before the equals sign.
    pub name: String,
    /// The expression in native syntax.
    pub text: String,
    /// The name in the file that sets it.
    pub origin: SourcePlace,
    /// The names of the arguments that it replaces, those of earlier files first.
    pub replaces: Vec<SourcePlace>,
}

impl EffectiveBlock {
    /// Walks over the arguments, in their order.
    pub fn attributes(&self) -> impl Iterator<Item = &EffectiveAttribute> {
        self.items.iter().filter_map(|item| match item {
            EffectiveItem::Attribute(attribute) => Some(attribute),
            EffectiveItem::Block(_) => None,
        })
    }

    /// Walks over the nested blocks, in their order.
    pub fn blocks(&self) -> impl Iterator<Item = &Self> {
        self.items.iter().filter_map(|item| match item {
            EffectiveItem::Attribute(_) => None,
            EffectiveItem::Block(block) => Some(block),
        })
    }

    /// Finds the argument of a name.
    #[must_use]
    pub fn attribute(&self, name: &str) -> Option<&EffectiveAttribute> {
        self.attributes().find(|attribute| attribute.name == name)
    }
}

impl EffectiveAttribute {
    /// Parses the text; spans are offsets in it. `None` if it is no expression.
    #[must_use]
    pub fn expr(&self) -> Option<Expr> {
        hcl::value_text(self.origin.file, &self.text).ok()
    }
}
