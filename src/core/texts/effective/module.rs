//! The tree of a module as the program sees it.
//!
//! Names and texts are those of the merged module and of its files, where nothing else is computed: a copy of each
//! takes longer than printing it.

use std::borrow::Cow;

use crate::hcl;
use crate::hcl::tree::Expr;
use crate::module_config::SourcePlace;

/// A module as the program sees it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EffectiveModule<'m> {
    /// Its blocks in the order of the files that declare; behind them those that only override files add.
    pub blocks: Vec<EffectiveBlock<'m>>,
    /// Sentences on what the printed text does not express, or only the provider decides.
    pub doubts: Vec<String>,
}

/// A block with what override files made of it.
#[derive(Clone, Debug, PartialEq)]
pub struct EffectiveBlock<'m> {
    /// The type of block.
    pub kind: Cow<'m, str>,
    /// The labels, with escapes decoded.
    pub labels: Vec<Cow<'m, str>>,
    /// The header of the block, or of the block that it is generated from.
    pub origin: SourcePlace,
    /// The arguments and nested blocks in their order; behind them those that only override files add.
    pub items: Vec<EffectiveItem<'m>>,
    /// Remarks for people, each printed as a comment above the block.
    pub remarks: Vec<String>,
}

/// An argument or a nested block.
#[derive(Clone, Debug, PartialEq)]
pub enum EffectiveItem<'m> {
    /// An argument: `name = value`.
    Attribute(EffectiveAttribute<'m>),
    /// A block inside the block.
    Block(EffectiveBlock<'m>),
}

impl EffectiveItem<'_> {
    /// Returns the earliest place: an argument that replaces others takes their place.
    pub(super) fn first_place(&self) -> SourcePlace {
        match self {
            Self::Attribute(attribute) if !attribute.replaces.is_empty() => attribute.replaces[0],
            _ => self.origin(),
        }
    }

    /// Returns the name of an argument, or the type of a block.
    pub(super) fn name(&self) -> &str {
        match self {
            Self::Attribute(attribute) => &attribute.name,
            Self::Block(block) => &block.kind,
        }
    }

    /// Returns the place that sets it.
    pub(super) fn origin(&self) -> SourcePlace {
        match self {
            Self::Attribute(attribute) => attribute.origin,
            Self::Block(block) => block.origin,
        }
    }
}

/// An argument with the place that sets it.
#[derive(Clone, Debug, PartialEq)]
pub struct EffectiveAttribute<'m> {
    /// The name before the equals sign.
    pub name: Cow<'m, str>,
    /// The expression in native syntax.
    pub text: Cow<'m, str>,
    /// The name in the file that sets it.
    pub origin: SourcePlace,
    /// The names of the arguments that it replaces, those of earlier files first.
    pub replaces: Cow<'m, [SourcePlace]>,
}

impl<'m> EffectiveBlock<'m> {
    pub(super) fn new(kind: impl Into<Cow<'m, str>>, origin: SourcePlace) -> Self {
        Self {
            kind: kind.into(),
            labels: Vec::new(),
            origin,
            items: Vec::new(),
            remarks: Vec::new(),
        }
    }

    /// Walks over the arguments, in their order.
    pub fn attributes(&self) -> impl Iterator<Item = &EffectiveAttribute<'m>> {
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
    pub fn attribute(&self, name: &str) -> Option<&EffectiveAttribute<'m>> {
        self.attributes().find(|attribute| attribute.name == name)
    }
}

impl EffectiveAttribute<'_> {
    /// Parses the text; spans are offsets in it. `None` if it is no expression.
    #[must_use]
    pub fn expr(&self) -> Option<Expr> {
        hcl::value_text(self.origin.file, &self.text).ok()
    }
}
