//! Versions, packages and modules, and the proof of what they are.

#[doc(hidden)]
pub mod acquire;
#[doc(hidden)]
pub mod authenticate;
#[doc(hidden)]
pub mod modules;
#[doc(hidden)]
pub mod net;
#[doc(hidden)]
pub mod packages;
#[doc(hidden)]
pub mod sources;
#[doc(hidden)]
pub mod store;
