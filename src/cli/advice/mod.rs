//! What to do about operations that failed.

pub(super) mod age;
mod commands;
pub(super) mod git;
pub(super) mod lock;
pub(super) mod network;
mod selection;
pub(super) mod verify;
mod workspace;

pub(super) use commands::{Places, commands, commands_for_all, update_to};
