//! The places that the bytes of a package may come from, once a signed list names its `zh:`.

use std::collections::BTreeSet;

use crate::flavor::Flavor;
use crate::package::PackageId;

/// Returns the same package on the other public registries, for use after its own place has failed.
///
/// Both registries serve the same zips for most providers; the `zh:` shows if they do.
pub fn other_registries(id: &PackageId) -> impl Iterator<Item = PackageId> {
    let providers: BTreeSet<_> = Flavor::ALL
        .iter()
        .filter_map(|flavor| id.provider.on_registry_of(*flavor))
        .filter(|provider| *provider != id.provider)
        .collect();
    let id = id.clone();
    providers.into_iter().map(move |provider| PackageId {
        provider,
        ..id.clone()
    })
}
