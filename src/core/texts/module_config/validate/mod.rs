//! Faults of one file (config rules 12.1 to 12.4).
//!
//! `bodies` compares any body with the table of the language. The others look at the blocks that
//! providers and modules fill: these decide what most of such a block means, so that most of it
//! passes. Only the words that the programs keep for themselves are looked at: which of them stand
//! where, in which flavor, how often, and with which values. None of it changes a requirement; each
//! fault leaves the module without any.

pub(crate) mod bodies;
mod calls;
pub(crate) mod conditions;
mod lifecycle;
pub(crate) mod overriding;
mod providers;
mod provisioners;
mod repetition;
mod resources;
mod triggers;

pub(crate) use calls::call;
pub(crate) use providers::provider;
pub(crate) use resources::{Inside, resource};
