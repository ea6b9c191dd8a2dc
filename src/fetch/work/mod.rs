//! Work on many packages: lock runs, mirrors, comparisons with registries.

#[doc(hidden)]
pub mod locker;
#[doc(hidden)]
pub mod mirror;
#[doc(hidden)]
pub mod upstream;
