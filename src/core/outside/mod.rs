//! The outside: traits for it, the real machine, and git.

#[doc(hidden)]
pub mod git;
#[doc(hidden)]
pub mod os;
#[doc(hidden)]
pub mod world;
