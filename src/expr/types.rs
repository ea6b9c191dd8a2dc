//! Types of values and of variables (rules 1).

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use super::typed::Typed;
use super::value::Value;

/// A type, perhaps with places that are still open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Type {
    /// `any`: to be filled by what the value has there; of a value, the type of a `null` alone.
    Any,
    /// `bool`
    Bool,
    /// `number`
    Number,
    /// `string`
    String,
    /// `list(T)`
    List(Box<Self>),
    /// `set(T)`
    Set(Box<Self>),
    /// `map(T)`
    Map(Box<Self>),
    /// `tuple([T, …])`
    Tuple(Arc<[Self]>),
    /// `object({ name = T, … })`
    Object(Arc<BTreeMap<String, AttributeType>>),
}

/// What an object type says of one attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttributeType {
    /// Its type.
    pub ty: Type,
    /// Whether it must be there.
    pub presence: Presence,
}

/// Whether an attribute must be there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Presence {
    /// It must.
    Required,
    /// `optional(T)`: null stands in for it.
    Optional,
    /// `optional(T, D)`: this value, which has the type already, stands in for it, and for null.
    Default(Typed),
}

impl AttributeType {
    /// Makes an attribute that must be there.
    #[must_use]
    pub fn required(ty: Type) -> Self {
        Self {
            ty,
            presence: Presence::Required,
        }
    }
}

impl Type {
    /// Returns the type that a value without any conversion has.
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
                let items = items.iter();
                let typed = items
                    .map(|(name, item)| (name.clone(), AttributeType::required(Self::of(item))));
                Self::Object(Arc::new(typed.collect()))
            }
        }
    }

    /// Returns the same type with every attribute required: types of values have no optional ones.
    #[must_use]
    pub fn plain(&self) -> Self {
        match self {
            Self::Any | Self::Bool | Self::Number | Self::String => self.clone(),
            Self::List(item) => Self::List(Box::new(item.plain())),
            Self::Set(item) => Self::Set(Box::new(item.plain())),
            Self::Map(item) => Self::Map(Box::new(item.plain())),
            Self::Tuple(items) => Self::Tuple(items.iter().map(Self::plain).collect()),
            Self::Object(items) => {
                let items = items.iter();
                let plain = items
                    .map(|(name, item)| (name.clone(), AttributeType::required(item.ty.plain())));
                Self::Object(Arc::new(plain.collect()))
            }
        }
    }

    /// Returns whether this is `bool`, `number` or `string`.
    #[must_use]
    pub fn is_primitive(&self) -> bool {
        matches!(self, Self::Bool | Self::Number | Self::String)
    }

    /// Returns whether any place in it is open.
    pub(super) fn has_any(&self) -> bool {
        match self {
            Self::Any => true,
            Self::Bool | Self::Number | Self::String => false,
            Self::List(item) | Self::Set(item) | Self::Map(item) => item.has_any(),
            Self::Tuple(items) => items.iter().any(Self::has_any),
            Self::Object(items) => items.values().any(|item| item.ty.has_any()),
        }
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
                let items: Vec<String> = items.iter().map(Self::to_string).collect();
                write!(f, "tuple([{}])", items.join(","))
            }
            Self::Object(items) => {
                let item = |(name, item): (&String, &AttributeType)| match item.presence {
                    Presence::Required => format!("{name}={}", item.ty),
                    _ => format!("{name}=optional({})", item.ty),
                };
                let items: Vec<String> = items.iter().map(item).collect();
                write!(f, "object({{{}}})", items.join(","))
            }
        }
    }
}
