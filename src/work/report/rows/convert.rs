//! The fate of each entry when a lock file is converted.

use serde::Serialize;

use crate::addr::ProviderAddr;
use crate::locker::NotConverted;
use crate::version::Version;

/// An entry of the lock file that was converted, or would be, or stays as it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ConvertedProvider {
    /// The provider as it was locked, with its registry.
    pub provider: ProviderAddr,
    /// The version, which stays.
    pub version: Version,
    /// The provider that is locked in its place; null if the entry stays as it is.
    pub to: Option<ProviderAddr>,
    /// The reason why it stays as it is; null if it was converted.
    pub reason: Option<NotConverted>,
    /// The places that name its registry, as in `main.tf:3`, where that is the reason.
    pub places: Vec<String>,
}
