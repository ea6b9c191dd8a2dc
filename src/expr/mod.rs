//! Constant expressions: what the programs evaluate without variables and functions.
//!
//! The rule of this room is that an answer is either exactly the program's or a diagnostic: what
//! cannot be computed for certain is never guessed.

mod eval;
mod number;
mod operators;
#[cfg(test)]
mod tests;
mod traverse;
mod value;

pub use eval::{NotConstant, constant};
pub use number::Number;
pub use value::Value;
