//! The configuration of one module as the program sees it: file choice and override files applied.
//!
//! `module` is the tree of blocks and arguments, each with the place that it comes from; `build` makes it of a
//! merged module, with the defaults that `variables` computes. Every value is native syntax here, also from
//! JSON files, whose values `json_syntax` writes; `literal` writes computed ones.
//! `expand` makes the blocks that `dynamic` blocks generate; `native` and `tf_json` print the tree.

mod build;
mod expand;
mod json_syntax;
mod literal;
mod module;
mod native;
mod overridden;
mod tf_json;
mod variables;

pub use build::effective;
pub use expand::{MAX_GENERATED_BLOCKS, MAX_GENERATED_BYTES, expand};
pub use literal::{literal, quoted};
pub use module::{EffectiveAttribute, EffectiveBlock, EffectiveItem, EffectiveModule};
pub use native::{Places, native};
pub use overridden::{compare, overridden};
pub use tf_json::tf_json;
