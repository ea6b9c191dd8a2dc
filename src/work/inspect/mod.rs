//! Commands that only read: what is configured, locked and required, since when, and the hashes of packages at hand.

pub(crate) mod config;
pub(crate) mod hash;
pub(crate) mod log;
pub(crate) mod show;
pub(crate) mod tree;
pub(crate) mod why;
