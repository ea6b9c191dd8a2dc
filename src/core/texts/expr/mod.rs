//! Expressions that the programs evaluate while they read: constants, and expressions of variables and functions.
//!
//! `eval` walks over the tree of an expression; its `scope` holds the names that it may use, and `functions` is
//! the table of functions. A [`constant`] is an expression in a scope without either. `demand` is the frame for
//! evaluators of named values that need each other. `show` writes values for people.
//!
//! Invariant: a result is exactly the program's, or there is a diagnostic. A value that cannot be computed for
//! certain is never guessed.

mod convert;
mod defaults;
mod demand;
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
pub use demand::{Demand, DemandChain, NoValue, OnDemand, UsedNames};
pub use eval::{constant, evaluate, evaluate_at};
pub use failure::{Misfit, NotConstant};
pub use number::Number;
pub use scope::{
    Budget, EvalScope, ExtraCall, ExtraFault, ExtraFunctions, FunctionSet, NameValue, Surroundings,
};
pub use show::in_one_line;
pub use typed::Typed;
pub use types::{AttributeType, Presence, Type};
pub use value::{Marks, Value};
