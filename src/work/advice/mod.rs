//! Advice on operations that failed: the cause in the words of the user's commands, and what to type next.
//!
//! An error holds values, and its room knows no flags; here each becomes a failure that names a command.

pub(crate) mod age;
pub(crate) mod git;
pub(crate) mod lock;
pub(crate) mod network;
pub(crate) mod required;
mod selection;
pub(crate) mod verify;
