//! The language: which blocks and arguments there are, which program has them, and how they are merged.
//!
//! One table serves all that look at a body: native syntax finds out what may stand there, JSON syntax
//! which members are blocks, and override files what they replace. `module` holds it for the files of a
//! module, `test` for test files; a body that several blocks share has one entry. A block that requires
//! nothing and that no override file changes has none: anything may stand in it.
//!
//! What depends on values, or on more than one body, is no matter of a table: `decode` knows it.

mod module;
mod test;

use crate::flavor::Flavor;

pub(super) use module::*;
pub(super) use test::*;

/// The arguments and blocks that a body may hold.
pub(super) struct Schema {
    pub arguments: &'static [Argument],
    pub blocks: &'static [BlockType],
    pub rest: Rest,
}

/// The meaning of all other arguments and blocks of a body.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Rest {
    Refused,
    /// A fault that requires nothing: it is read as an argument, and the programs report it.
    RefusedLater,
    /// An argument, as far as can be determined here; what it is decides a provider, or a called module.
    Arguments,
    /// An argument, and nothing may stand twice. Such a body is one object in JSON, never an array.
    Names,
}

/// One argument that a body may have.
pub(super) struct Argument {
    pub name: &'static str,
    pub known_to: fn(Flavor) -> bool,
    /// The effect of setting it in an override file.
    pub effect: fn(Flavor) -> Effect,
}

/// The effect of an argument in an override file on the one of the base.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Effect {
    Replaces,
    /// Replaces the base unless it is null.
    ReplacesUnlessNull,
    /// Replaces the base unless it is null or empty.
    ReplacesUnlessEmpty,
    /// Replaces the base unless it is empty, or the base is `all` or true.
    Grows,
    Stays,
}

/// A type of block.
pub(super) struct BlockType {
    pub kind: &'static str,
    /// The names of its labels in messages.
    pub labels: &'static [&'static str],
    pub body: &'static Schema,
    pub known_to: fn(Flavor) -> bool,
    pub merging: Merging,
}

/// The effect of an override file's blocks of a type on those of the base.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Merging {
    /// They take the place of all that were there.
    Replaces,
    /// They are passed over.
    Stays,
    /// The only one is merged.
    Merges,
    /// Each is merged with the one that has its labels.
    MergesByLabels,
}

impl Argument {
    const fn known_to(self, known_to: fn(Flavor) -> bool) -> Self {
        Self { known_to, ..self }
    }

    const fn effect(self, effect: fn(Flavor) -> Effect) -> Self {
        Self { effect, ..self }
    }

    /// No override has a say in it.
    const fn kept(self) -> Self {
        self.effect(|_| Effect::Stays)
    }
}

impl BlockType {
    const fn known_to(self, known_to: fn(Flavor) -> bool) -> Self {
        Self { known_to, ..self }
    }

    const fn merging(self, merging: Merging) -> Self {
        Self { merging, ..self }
    }

    const fn kept(self) -> Self {
        self.merging(Merging::Stays)
    }

    const fn merged(self) -> Self {
        self.merging(Merging::Merges)
    }

    const fn merged_by_labels(self) -> Self {
        self.merging(Merging::MergesByLabels)
    }
}

impl Schema {
    pub(super) fn argument(&self, name: &str, flavor: Flavor) -> Option<&'static Argument> {
        self.arguments_of(flavor)
            .find(|argument| argument.name == name)
    }

    pub(super) fn block(&self, kind: &str, flavor: Flavor) -> Option<&'static BlockType> {
        self.blocks_of(flavor).find(|block| block.kind == kind)
    }

    pub(super) fn arguments_of(&self, flavor: Flavor) -> impl Iterator<Item = &'static Argument> {
        self.arguments
            .iter()
            .filter(move |argument| (argument.known_to)(flavor))
    }

    pub(super) fn blocks_of(&self, flavor: Flavor) -> impl Iterator<Item = &'static BlockType> {
        self.blocks
            .iter()
            .filter(move |block| (block.known_to)(flavor))
    }

    /// Returns whether an argument is the program's own, of whichever flavor.
    pub(super) fn has_argument(&self, name: &str) -> bool {
        self.arguments.iter().any(|known| known.name == name)
    }

    /// Returns whether blocks of a type mean something to a program, of whichever flavor.
    pub(super) fn has_block(&self, kind: &str) -> bool {
        kind != ESCAPE && self.blocks.iter().any(|block| block.kind == kind)
    }

    /// Returns what becomes of an argument that an override sets; of all that are no program's own
    /// that is decided elsewhere, if it may have any.
    pub(super) fn effect(&self, name: &str, flavor: Flavor) -> Effect {
        if let Some(argument) = self.arguments.iter().find(|argument| argument.name == name) {
            return (argument.effect)(flavor);
        }
        match self.rest {
            Rest::Refused | Rest::RefusedLater => Effect::Stays,
            Rest::Arguments | Rest::Names => Effect::Replaces,
        }
    }
}

/// The type of block that holds what means something to a provider or a module although its name
/// means something to the program.
pub(super) const ESCAPE: &str = "_";

const fn body(rest: Rest, arguments: &'static [Argument], blocks: &'static [BlockType]) -> Schema {
    Schema {
        arguments,
        blocks,
        rest,
    }
}

const fn strict(arguments: &'static [Argument], blocks: &'static [BlockType]) -> Schema {
    body(Rest::Refused, arguments, blocks)
}

const fn strict_later(arguments: &'static [Argument], blocks: &'static [BlockType]) -> Schema {
    body(Rest::RefusedLater, arguments, blocks)
}

const fn open(arguments: &'static [Argument], blocks: &'static [BlockType]) -> Schema {
    body(Rest::Arguments, arguments, blocks)
}

/// An argument that every flavor has, and that an override replaces.
const fn any(name: &'static str) -> Argument {
    Argument {
        name,
        known_to: |_| true,
        effect: |_| Effect::Replaces,
    }
}

const fn block(
    kind: &'static str,
    labels: &'static [&'static str],
    body: &'static Schema,
) -> BlockType {
    BlockType {
        kind,
        labels,
        body,
        known_to: |_| true,
        merging: Merging::Replaces,
    }
}

/// A body that is not looked into.
static ANY: Schema = open(&[], &[]);
static NAMES: Schema = body(Rest::Names, &[], &[]);
