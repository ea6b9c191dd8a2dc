//! Jobs over roots, and the user's machine that they see.

#[doc(hidden)]
pub mod run;
