//! Types of values and of variables (rules 1).

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use super::typed::Typed;
use super::value::Value;

/// A type, which may have open parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Type {
    /// `any`: an open part, which takes the type of the value; as the type of a value that of a lone `null`.
    Any,
    /// The primitive type `bool`.
    Bool,
    /// The primitive type `number`.
    Number,
    /// The primitive type `string`.
    String,
    /// `list(T)`, by the type of its items.
    List(Box<Self>),
    /// `set(T)`, by the type of its items.
    Set(Box<Self>),
    /// `map(T)`, by the type of its items.
    Map(Box<Self>),
    /// `tuple([T, …])`, by the types of its items.
    Tuple(Arc<[Self]>),
    /// `object({ name = T, … })`, by the types of its attributes.
    Object(Arc<BTreeMap<String, AttributeType>>),
}

/// One attribute of an object type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttributeType {
    /// The type of the attribute's value.
    pub ty: Type,
    /// The attribute is required, or may be absent.
    pub presence: Presence,
}

/// The rule for an attribute that is absent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Presence {
    /// An object without the attribute does not have the type.
    Required,
    /// `optional(T)`: a missing attribute is null.
    Optional,
    /// `optional(T, D)`: this value, which has the type already, replaces a missing attribute and null.
    Default(Typed),
}

impl AttributeType {
    /// Makes a required attribute of a type.
    #[must_use]
    pub fn required(ty: Type) -> Self {
        Self {
            ty,
            presence: Presence::Required,
        }
    }
}

impl Type {
    /// Returns the type of a value that was not converted.
    #[must_use]
    pub fn of(value: &Value) -> Self {
        match value {
            Value::Null | Value::Unknown => Self::Any,
            Value::Marked(_, value) => Self::of(value),
            Value::Bool(_) => Self::Bool,
            Value::Number(_) => Self::Number,
            Value::String(_) => Self::String,
            Value::Tuple(items) => Self::Tuple(items.iter().map(Self::of).collect()),
            Value::Object(items) => {
                let attribute = |(name, item): (&String, &Value)| {
                    (name.clone(), AttributeType::required(Self::of(item)))
                };
                Self::Object(Arc::new(items.iter().map(attribute).collect()))
            }
        }
    }

    /// Returns true for `bool`, `number` and `string`.
    #[must_use]
    pub fn is_primitive(&self) -> bool {
        matches!(self, Self::Bool | Self::Number | Self::String)
    }
}

/// Prints a type as an expression; defaults are left out.
impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => f.write_str("any"),
            Self::Bool => f.write_str("bool"),
            Self::Number => f.write_str("number"),
            Self::String => f.write_str("string"),
            Self::List(item) => write!(f, "list({item})"),
            Self::Set(item) => write!(f, "set({item})"),
            Self::Map(item) => write!(f, "map({item})"),
            Self::Tuple(items) => {
                let items = items
                    .iter()
                    .map(Self::to_string)
                    .collect::<Vec<String>>()
                    .join(",");
                write!(f, "tuple([{items}])")
            }
            Self::Object(items) => {
                let item = |(name, item): (&String, &AttributeType)| match item.presence {
                    // The form of the programs in their messages.
                    Presence::Required => format!("{name}={}", item.ty),
                    _ => format!("{name}=optional({})", item.ty),
                };
                let items = items.iter().map(item).collect::<Vec<String>>().join(",");
                write!(f, "object({{{items}}})")
            }
        }
    }
}
