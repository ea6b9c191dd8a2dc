//! The tree of a CLI configuration, in either syntax.

use crate::hcl::tree::Word;
use crate::world::Secret;

/// A key with its value.
pub(super) struct ConfigEntry {
    pub(super) key: Word,
    pub(super) value: ConfigValue,
}

/// A value of HCL 1 or JSON.
pub(super) enum ConfigValue {
    Text(Secret),
    /// A number, a truth value or `null`, as it is written.
    Scalar(Secret),
    List(Vec<Self>),
    Object(Vec<ConfigEntry>),
}

impl ConfigValue {
    /// Lists the entries of an object, or of a list of objects, which means the same.
    pub(super) fn entries(&self) -> Vec<&ConfigEntry> {
        let mut found = Vec::new();
        let mut open = vec![self];
        while let Some(node) = open.pop() {
            match node {
                Self::Object(entries) => found.extend(entries),
                Self::List(nodes) => open.extend(nodes.iter().rev()),
                Self::Text(_) | Self::Scalar(_) => {}
            }
        }
        found
    }

    /// Returns a number or a truth value as it is written, also in quotes: HCL 1 takes either for it.
    pub(super) fn scalar(&self) -> Option<&str> {
        match self {
            Self::Text(text) | Self::Scalar(text) => Some(text.reveal()),
            Self::List(_) | Self::Object(_) => None,
        }
    }

    /// Returns whether a block could be written in its place.
    pub(super) fn is_block(&self) -> bool {
        match self {
            Self::Object(_) => true,
            Self::List(nodes) => nodes.iter().any(|node| matches!(node, Self::Object(_))),
            Self::Text(_) | Self::Scalar(_) => false,
        }
    }
}
