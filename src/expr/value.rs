//! Values of constant expressions.

use std::collections::BTreeMap;

use unicode_normalization::{UnicodeNormalization, is_nfc};

use super::Number;

/// A value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// `null`, of any type.
    Null,
    /// A truth value.
    Bool(bool),
    /// A number.
    Number(Number),
    /// Text in Unicode NFC.
    String(String),
    /// Elements in order.
    Tuple(Vec<Self>),
    /// Attributes; the programs, too, order them by the bytes of their names.
    Object(BTreeMap<String, Self>),
}

impl Value {
    /// Makes a string, normalised as the programs do.
    pub fn string(text: impl Into<String>) -> Self {
        Self::String(normalised(text.into()))
    }

    /// Converts to a string as the language does: `3.20` gives `3.2`, `true` gives `true`.
    ///
    /// `null`, tuples and objects have no text.
    #[must_use]
    pub fn to_text(&self) -> Option<String> {
        match self {
            Self::Bool(value) => Some(value.to_string()),
            Self::Number(number) => Some(number.to_string()),
            Self::String(text) => Some(text.clone()),
            Self::Null | Self::Tuple(_) | Self::Object(_) => None,
        }
    }

    /// Names the type, as the programs do.
    #[must_use]
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "bool",
            Self::Number(_) => "number",
            Self::String(_) => "string",
            Self::Tuple(_) => "tuple",
            Self::Object(_) => "object",
        }
    }

    /// Returns whether both have the same type, all the way down.
    pub(super) fn same_type(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Tuple(a), Self::Tuple(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.same_type(b))
            }
            (Self::Object(a), Self::Object(b)) => {
                let pairs = a.iter().zip(b);
                a.len() == b.len() && { pairs }.all(|((k, a), (l, b))| k == l && a.same_type(b))
            }
            _ => std::mem::discriminant(self) == std::mem::discriminant(other),
        }
    }

    /// Counts values and bytes of text, for limits.
    pub(super) fn weight(&self) -> usize {
        match self {
            Self::Null | Self::Bool(_) | Self::Number(_) => 1,
            Self::String(text) => 1 + text.len(),
            Self::Tuple(items) => 1 + items.iter().map(Self::weight).sum::<usize>(),
            Self::Object(items) => {
                let items = items.iter().map(|(key, value)| key.len() + value.weight());
                1 + items.sum::<usize>()
            }
        }
    }
}

/// Brings text into Unicode NFC.
pub(super) fn normalised(text: String) -> String {
    if is_nfc(&text) {
        text
    } else {
        text.nfc().collect()
    }
}
