//! The configuration of one module as the program sees it: file choice and override files applied.
//!
//! `module` is the tree of blocks and arguments, each with the place that it comes from; `build` makes it of a
//! merged module. Every value is native syntax here, whatever the syntax of its file: `json_syntax` writes the
//! values of JSON files so, and `literal` writes computed ones.

mod build;
mod json_syntax;
mod literal;
mod module;

pub use build::effective;
pub use literal::{literal, quoted};
pub use module::{EffectiveAttribute, EffectiveBlock, EffectiveItem, EffectiveModule};
