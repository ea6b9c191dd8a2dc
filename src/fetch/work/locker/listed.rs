//! Packages that need only the signed list of their release.
//!
//! A registry has a document for each package, which says where that is. A package that need not be
//! downloaded needs no more than the list, which comes with the document of any other package of the release
//! (`store` rules 1.5).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::Release;
use super::stages::{KnownPackages, Selected};
use super::work::RootWork;
use crate::addr::ProviderAddr;
use crate::authenticate;
use crate::hash::Hash;
use crate::package::{ChecksumList, Evidence, PackageMeta};
use crate::platform::Platform;
use crate::sources::filesystem_mirror::packed_name;
use crate::store::Facts;
use crate::version::Version;

/// Maximum number of platforms that one checksum list is read for; no release is known to have more than
/// some thirty.
const MAX_PLATFORMS: usize = 200;

/// Finds the facts about packages whose `zh:` is recorded for the selected version.
pub(super) fn known_packages<T>(
    root: &RootWork<'_, T>,
    facts: &dyn Facts,
    selected: &Selected,
) -> KnownPackages {
    let Some(entry) = root
        .before
        .providers
        .get(&selected.provider)
        .filter(|entry| entry.version == selected.version)
    else {
        return BTreeMap::new();
    };
    root.request
        .trusted
        .attribute(facts, &selected.provider, &entry.version, &entry.hashes)
        .by_platform()
        .filter_map(|(platform, fact)| Some((platform.clone(), facts.find(&fact.zh)?)))
        .collect()
}

/// Keeps those of the known packages that the list names for their platform; that the list is signed is
/// checked later.
pub(super) fn retain_listed(
    known: &mut KnownPackages,
    selected: &Selected,
    metas: &[Arc<PackageMeta>],
) {
    let evidence = metas.iter().filter_map(|meta| meta.evidence.as_ref());
    let zips = listed_zips(&selected.release(), evidence);
    known.retain(|platform, stored| zips.contains(&(platform.clone(), stored.fact.zh.clone())));
}

/// Returns the zips that documents name as packages of a release, each with its platform.
pub(super) fn listed_zips<'m>(
    release: &Release,
    evidence: impl Iterator<Item = &'m Evidence>,
) -> BTreeSet<(Platform, Hash)> {
    let mut documents: Vec<&ChecksumList> = Vec::new();
    let mut zips: BTreeSet<(Platform, Hash)> = BTreeSet::new();
    for evidence in evidence {
        if documents.contains(&&*evidence.sums) {
            continue;
        }
        documents.push(&evidence.sums);
        let Ok(list) = authenticate::listed(evidence) else {
            continue;
        };
        for (zh, name) in list.names() {
            // A registry could hand out the signed list of an older release: names of this version count.
            if let Some((version, platform)) = packed_name(name, release.provider.type_name())
                && version == release.version
            {
                zips.insert((platform, zh.clone()));
            }
        }
    }
    zips
}

/// Returns the platforms that a checksum list names zips of a release for.
pub(super) fn listed_platforms(
    sums: &ChecksumList,
    provider: &ProviderAddr,
    version: &Version,
) -> impl Iterator<Item = Platform> {
    sums.file_names()
        .filter_map(|name| packed_name(name, provider.type_name()))
        .filter(move |(of, _)| of == version)
        .map(|(_, platform)| platform)
        .take(MAX_PLATFORMS)
}
