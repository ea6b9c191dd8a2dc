//! Expressions: what the programs evaluate while they read, from constants up to what depends on
//! variables and functions.
//!
//! `evaluate` walks over the tree of an expression; which names there are says its `scope`, and the
//! `functions` are a table of their own. A [`constant`] is an expression in a scope without either.
//!
//! The rule of this room is that an answer is either exactly the program's or a diagnostic: what
//! cannot be computed for certain is never guessed. `show` writes answers for people.

mod convert;
mod defaults;
mod eval;
mod failure;
mod functions;
mod number;
mod operators;
#[cfg(test)]
mod properties;
mod repeat;
mod scope;
mod sets;
mod shapes;
mod show;
#[cfg(test)]
mod tests;
mod traverse;
mod type_syntax;
mod typed;
mod types;
#[cfg(test)]
mod types_tests;
mod unify;
mod value;

pub mod rules {
    #![doc = include_str!("rules.md")]
}

pub use convert::convert;
pub use defaults::fill;
pub use eval::{constant, evaluate, evaluate_at};
pub use failure::{Misfit, NotConstant};
pub use number::Number;
pub use scope::{
    Budget, EvalScope, ExtraCall, ExtraFault, ExtraFunctions, FunctionSet, NameValue, Surroundings,
};
pub use show::{as_console, in_one_line};
pub use typed::Typed;
pub use types::{AttributeType, Presence, Type};
pub use value::{Marks, Value};
