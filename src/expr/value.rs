//! Values, known or not, with the marks that follow them.

use std::collections::BTreeMap;

use unicode_normalization::{UnicodeNormalization, is_nfc};

use super::Number;

/// What a key of a map takes beside its text, about, in bytes.
pub(super) const KEY_BYTES: usize = 2 * size_of::<String>();

/// What must not be shown or kept of a value, wherever it goes (rules 5.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    /// It is a secret.
    pub sensitive: bool,
    /// It is for this run only.
    pub ephemeral: bool,
}

impl Marks {
    /// Returns what either of them says.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            sensitive: self.sensitive || other.sensitive,
            ephemeral: self.ephemeral || other.ephemeral,
        }
    }

    /// Returns whether nothing is marked.
    #[must_use]
    pub fn is_none(self) -> bool {
        self == Self::default()
    }
}

/// A value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// `null`, of any type.
    Null,
    /// Something that is not known yet; constants have nothing of the kind.
    Unknown,
    /// A value with marks, which are not none; inside is no second mark at once.
    Marked(Marks, Box<Self>),
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
            Self::Null | Self::Unknown | Self::Marked(..) | Self::Tuple(_) | Self::Object(_) => {
                None
            }
        }
    }

    /// Adds marks to whatever it is.
    #[must_use]
    pub fn marked(self, marks: Marks) -> Self {
        match self {
            value if marks.is_none() => value,
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
            let (value, own) = value.bare();
            marks = marks.and(own);
            value
        };
        let value = match self {
            Self::Marked(own, value) => {
                let (value, marks) = value.bare();
                return (value, marks.and(own));
            }
            Self::Tuple(items) => Self::Tuple(items.into_iter().map(inside).collect()),
            Self::Object(items) => {
                let items = items.into_iter();
                Self::Object(items.map(|(name, item)| (name, inside(item))).collect())
            }
            value => value,
        };
        (value, marks)
    }

    /// Returns whether all of it is known.
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

    /// Names the type, as the programs do.
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

    /// Returns how much memory it takes, about, in bytes.
    pub(in crate::expr) fn weight(&self) -> usize {
        let inside = match self {
            Self::Null | Self::Unknown | Self::Bool(_) | Self::Number(_) => 0,
            Self::Marked(_, value) => value.weight(),
            Self::String(text) => text.len(),
            Self::Tuple(items) => items.iter().map(Self::weight).sum(),
            Self::Object(items) => {
                let entries = items.iter();
                let entries = entries.map(|(key, value)| KEY_BYTES + key.len() + value.weight());
                entries.sum()
            }
        };
        size_of::<Self>() + inside
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
