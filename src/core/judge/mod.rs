//! Decisions about lock files, packages and roots: values in, values out.

#[doc(hidden)]
pub mod archive;
#[doc(hidden)]
pub mod coverage;
#[doc(hidden)]
pub mod resolve;
#[doc(hidden)]
pub mod review;
#[doc(hidden)]
pub mod verifier;
pub mod verify;
#[doc(hidden)]
pub mod workspace;
