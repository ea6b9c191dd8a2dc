//! What to do about operations that failed.

pub(super) mod git;
pub(super) mod lock;
pub(super) mod network;
pub(super) mod verify;
mod workspace;
