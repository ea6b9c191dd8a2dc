//! Help, and the command line.

#[doc(hidden)]
pub mod cli;
#[doc(hidden)]
pub mod guide;
#[cfg(unix)]
#[doc(hidden)]
pub mod signals;
