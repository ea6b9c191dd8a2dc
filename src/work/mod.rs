//! Jobs over roots, and what they found out.

#[doc(hidden)]
pub mod advice;
#[doc(hidden)]
pub mod audit;
#[doc(hidden)]
pub mod cache;
#[doc(hidden)]
pub mod changes;
#[doc(hidden)]
pub mod diff;
#[doc(hidden)]
pub mod driver;
#[doc(hidden)]
pub mod inspect;
#[doc(hidden)]
pub mod lock;
#[doc(hidden)]
pub mod merging;
#[doc(hidden)]
pub mod mirroring;
#[doc(hidden)]
pub mod outdated;
#[doc(hidden)]
pub mod replace;
#[doc(hidden)]
pub mod report;
#[doc(hidden)]
pub mod reporting;
#[doc(hidden)]
pub mod run;
#[doc(hidden)]
pub mod sbom;
#[doc(hidden)]
pub mod trust;
#[doc(hidden)]
pub mod verifying;
