//! Values that are checked where they are made. No input or output.

#[doc(hidden)]
pub mod addr;
#[doc(hidden)]
pub mod contents;
#[doc(hidden)]
pub mod diag;
#[doc(hidden)]
pub mod flavor;
pub mod hash;
#[doc(hidden)]
pub mod package;
#[doc(hidden)]
pub mod parallel;
#[doc(hidden)]
pub mod platform;
#[doc(hidden)]
pub mod requirement;
pub(crate) mod serialized;
#[doc(hidden)]
pub mod version;
