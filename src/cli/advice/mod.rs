//! What to do about operations that failed.

pub(super) mod age;
pub(super) mod git;
pub(super) mod lock;
pub(super) mod network;
mod selection;
pub(super) mod verify;
