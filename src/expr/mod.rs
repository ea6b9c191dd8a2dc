//! Constant expressions: what the programs evaluate without variables and functions.
//!
//! The rule of this room is that an answer is either exactly the program's or a diagnostic: what
//! cannot be computed for certain is never guessed.
//!
//! `types` and `convert`, with `sets` and `unify` below them, import each other: a type holds the defaults
//! of its attributes, which are converted to it while it is read, and conversion goes by types.

mod convert;
mod eval;
mod failure;
mod number;
mod operators;
mod sets;
#[cfg(test)]
mod tests;
mod traverse;
mod types;
#[cfg(test)]
mod types_tests;
mod unify;
mod value;

pub mod rules {
    #![doc = include_str!("rules.md")]
}

pub use convert::{Misfit, Typed, convert, fill};
pub use eval::{NotConstant, constant};
pub use number::Number;
pub use types::{AttributeType, Presence, Type};
pub use value::Value;
