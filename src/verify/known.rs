//! Which hashes are known to belong to which platform.

use std::collections::BTreeMap;

use crate::addr::ProviderAddr;
use crate::hash::Hash;
use crate::platform::Platform;

/// The `h1:` of packages at hand, by provider and platform; only of the locked version.
pub type KnownHashes = BTreeMap<ProviderAddr, BTreeMap<Platform, Hash>>;

/// What the packages at hand say about platforms.
#[derive(Clone, Debug, Default)]
pub(super) struct PackageFacts {
    /// Which recorded hash belongs to which platform.
    pub(super) known: KnownHashes,
    /// The hash of each installed package, recorded or not.
    pub(super) installed: KnownHashes,
}
