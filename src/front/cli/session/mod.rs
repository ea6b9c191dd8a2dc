//! Rows that several commands have in common, and results printed.

pub(super) mod computed;
pub(super) mod edits;
pub(super) mod holding;
pub(super) mod paths;
pub(super) mod print;
pub(super) mod provider;
