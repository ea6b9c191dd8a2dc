//! Values with their types.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Number;
use super::types::{AttributeType, Type};
use super::value::{Marks, Value};

/// A value with its type, which does not follow from the value alone for lists, sets, maps and null.
///
/// Lists and sets are held as tuples, maps as objects. Items of a set are in the order that the programs walk
/// through them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Typed {
    /// The type of the value; no attribute in it is optional.
    pub ty: Type,
    /// The value without its type.
    pub value: Value,
}

impl Typed {
    /// Gives a value the type that it has without a conversion.
    #[must_use]
    pub fn of(value: Value) -> Self {
        Self {
            ty: Type::of(&value),
            value,
        }
    }

    /// Makes a null of a type.
    #[must_use]
    pub fn null(ty: Type) -> Self {
        let value = Value::Null;
        Self { ty, value }
    }

    /// Makes an unknown value of a type.
    #[must_use]
    pub fn unknown(ty: Type) -> Self {
        let value = Value::Unknown;
        Self { ty, value }
    }

    /// Makes a string, normalised as the programs do.
    pub fn string(text: impl Into<String>) -> Self {
        Self {
            ty: Type::String,
            value: Value::string(text),
        }
    }

    /// Makes a value of type `number`.
    #[must_use]
    pub fn number(number: Number) -> Self {
        Self {
            ty: Type::Number,
            value: Value::Number(number),
        }
    }

    /// Makes a value of type `bool`.
    #[must_use]
    pub fn bool(value: bool) -> Self {
        Self {
            ty: Type::Bool,
            value: Value::Bool(value),
        }
    }

    /// Makes a tuple of the types of its items.
    #[must_use]
    pub fn tuple(items: Vec<Self>) -> Self {
        let (types, values) = items.into_iter().map(|item| (item.ty, item.value)).unzip();
        Self {
            ty: Type::Tuple(Vec::into(types)),
            value: Value::Tuple(values),
        }
    }

    /// Makes a list of items that have this type.
    #[must_use]
    pub fn list(ty: Type, items: Vec<Value>) -> Self {
        Self {
            ty: Type::List(Box::new(ty)),
            value: Value::Tuple(items),
        }
    }

    /// Makes a map of items that have this type.
    #[must_use]
    pub fn map(ty: Type, items: BTreeMap<String, Self>) -> Self {
        Self {
            ty: Type::Map(Box::new(ty)),
            value: Value::Object(
                items
                    .into_iter()
                    .map(|(name, item)| (name, item.value))
                    .collect(),
            ),
        }
    }

    /// Makes an object of the types of its attributes.
    #[must_use]
    pub fn object(items: BTreeMap<String, Self>) -> Self {
        let (mut types, mut values) = (BTreeMap::new(), BTreeMap::new());
        for (name, item) in items {
            types.insert(name.clone(), AttributeType::required(item.ty));
            values.insert(name, item.value);
        }
        Self {
            ty: Type::Object(Arc::new(types)),
            value: Value::Object(values),
        }
    }

    /// Returns true for null, marked or not.
    #[must_use]
    pub fn is_null(&self) -> bool {
        match &self.value {
            Value::Marked(_, value) => **value == Value::Null,
            value => *value == Value::Null,
        }
    }

    /// Returns true for a value that is unknown as a whole, marked or not.
    #[must_use]
    pub fn is_unknown(&self) -> bool {
        match &self.value {
            Value::Marked(_, value) => **value == Value::Unknown,
            value => *value == Value::Unknown,
        }
    }

    /// Adds marks to the whole value.
    #[must_use]
    pub fn marked(self, marks: Marks) -> Self {
        Self {
            ty: self.ty,
            value: self.value.marked(marks),
        }
    }

    /// Takes the marks of the whole value off; parts keep theirs.
    #[must_use]
    pub fn unmarked(self) -> (Self, Marks) {
        let (value, marks) = self.value.unmarked();
        (Self { ty: self.ty, value }, marks)
    }

    /// Takes all marks off, also of parts.
    #[must_use]
    pub fn bare(self) -> (Self, Marks) {
        let (value, marks) = self.value.bare();
        (Self { ty: self.ty, value }, marks)
    }

    /// Returns the approximate size in memory, in bytes.
    pub(in crate::texts::expr) fn weight(&self) -> usize {
        // The types of tuples and objects are as large as the values; the items of others share one.
        2 * self.value.weight()
    }

    /// Copies the attributes of an object or a map; anything else has none.
    #[must_use]
    pub fn attributes(&self) -> BTreeMap<String, Self> {
        self.clone().into_attributes().unwrap_or_default()
    }

    /// Takes a sequence apart into its items, each with its type; `None` for anything else.
    #[must_use]
    pub fn into_items(self) -> Option<Vec<Self>> {
        let Value::Tuple(items) = self.value else {
            return None;
        };
        let typed = |(ty, value)| Self { ty, value };
        match self.ty {
            Type::Tuple(types) => Some(types.iter().cloned().zip(items).map(typed).collect()),
            Type::List(item) | Type::Set(item) => {
                Some(std::iter::repeat(*item).zip(items).map(typed).collect())
            }
            _ => None,
        }
    }

    /// Takes an object or a map apart into its attributes, each with its type; `None` for anything else.
    #[must_use]
    pub fn into_attributes(self) -> Option<BTreeMap<String, Self>> {
        let Value::Object(items) = self.value else {
            return None;
        };
        let typed = |(ty, (name, value))| (name, Self { ty, value });
        match self.ty {
            // Both maps are in the order of the names, so that each value meets its type.
            Type::Object(types) => Some(
                types
                    .values()
                    .map(|attribute| attribute.ty.clone())
                    .zip(items)
                    .map(typed)
                    .collect(),
            ),
            Type::Map(item) => Some(std::iter::repeat(*item).zip(items).map(typed).collect()),
            _ => None,
        }
    }
}
