//! Results for people and programs.

#[doc(hidden)]
pub mod audit;
#[doc(hidden)]
pub mod report;
#[doc(hidden)]
pub mod sbom;
