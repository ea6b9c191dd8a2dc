//! Advice on operations that failed.

pub(super) mod age;
pub(super) mod git;
pub(super) mod lock;
pub(super) mod network;
pub(super) mod required;
mod selection;
pub(super) mod verify;
