//! Values, known or unknown, with their marks.

use std::collections::BTreeMap;

use unicode_normalization::{UnicodeNormalization, is_nfc};

use super::Number;

/// The approximate size of a key of a map without its text, in bytes.
pub(super) const KEY_BYTES: usize = 2 * size_of::<String>();

/// Marks of a value, which follow it into every result that depends on it (rules 5.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    /// The value is a secret, and must not be shown.
    pub sensitive: bool,
    /// The value exists in this run only, and must not be stored.
    pub ephemeral: bool,
}

impl Marks {
    /// Returns the marks that either of them has.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            sensitive: self.sensitive || other.sensitive,
            ephemeral: self.ephemeral || other.ephemeral,
        }
    }

    /// Returns true if there is no mark.
    #[must_use]
    pub fn is_none(self) -> bool {
        self == Self::default()
    }
}

/// A value of the language, without its type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// `null`, of any type.
    Null,
    /// A value that is not known yet; constants have none.
    Unknown,
    /// A value with at least one mark; the value inside is not marked itself, but its parts may be.
    Marked(Marks, Box<Self>),
    /// `true` or `false`, of type `bool`.
    Bool(bool),
    /// A number, of type `number`.
    Number(Number),
    /// Text in Unicode NFC.
    String(String),
    /// The items of a tuple, a list or a set, in order.
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
            Self::Null | Self::Unknown | Self::Marked(..) | Self::Tuple(_) | Self::Object(_) => {
                None
            }
        }
    }

    /// Adds marks to the whole value.
    #[must_use]
    pub fn marked(self, marks: Marks) -> Self {
        match self {
            value if marks.is_none() => value,
            // Marks are never nested directly.
            Self::Marked(own, value) => Self::Marked(own.and(marks), value),
            value => Self::Marked(marks, Box::new(value)),
        }
    }

    /// Takes the marks of the whole value off; parts keep theirs.
    #[must_use]
    pub fn unmarked(self) -> (Self, Marks) {
        match self {
            Self::Marked(marks, value) => (*value, marks),
            value => (value, Marks::default()),
        }
    }

    /// Takes all marks off, also of parts.
    #[must_use]
    pub fn bare(self) -> (Self, Marks) {
        let mut marks = Marks::default();
        let mut inside = |value: Self| {
            let (value, part_marks) = value.bare();
            marks = marks.and(part_marks);
            value
        };
        let value = match self {
            Self::Marked(own, value) => {
                let (value, marks) = value.bare();
                return (value, marks.and(own));
            }
            Self::Tuple(items) => Self::Tuple(items.into_iter().map(inside).collect()),
            Self::Object(items) => {
                let bare = |(name, item)| (name, inside(item));
                Self::Object(items.into_iter().map(bare).collect())
            }
            value => value,
        };
        (value, marks)
    }

    /// Returns true if the value and all its parts are known.
    #[must_use]
    pub fn is_wholly_known(&self) -> bool {
        match self {
            Self::Unknown => false,
            Self::Marked(_, value) => value.is_wholly_known(),
            Self::Tuple(items) => items.iter().all(Self::is_wholly_known),
            Self::Object(items) => items.values().all(Self::is_wholly_known),
            Self::Null | Self::Bool(_) | Self::Number(_) | Self::String(_) => true,
        }
    }

    /// Returns the name of the type, as the programs write it.
    #[must_use]
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Unknown => "unknown",
            Self::Marked(_, value) => value.type_name(),
            Self::Bool(_) => "bool",
            Self::Number(_) => "number",
            Self::String(_) => "string",
            Self::Tuple(_) => "tuple",
            Self::Object(_) => "object",
        }
    }

    /// Returns the approximate size in memory, in bytes.
    pub(in crate::texts::expr) fn weight(&self) -> usize {
        let inside = match self {
            Self::Null | Self::Unknown | Self::Bool(_) | Self::Number(_) => 0,
            Self::Marked(_, value) => value.weight(),
            Self::String(text) => text.len(),
            Self::Tuple(items) => items.iter().map(Self::weight).sum(),
            Self::Object(items) => items
                .iter()
                .map(|(key, value)| KEY_BYTES + key.len() + value.weight())
                .sum(),
        };
        size_of::<Self>() + inside
    }
}

/// Normalises text to Unicode NFC, as the programs do with every string.
pub(super) fn normalised(text: String) -> String {
    // Nearly every text is normalised already, and is not copied then.
    if is_nfc(&text) {
        text
    } else {
        text.nfc().collect()
    }
}
