//! Packages of which the signed list of their release is enough.
//!
//! A registry has a document for each package, which says where that is. Whoever need not download it needs
//! no more than the list, which comes with the document of any other package of the release (`store` rules
//! 1.5).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::query::Selected;
use super::work::RootWork;
use crate::authenticate;
use crate::hash::Hash;
use crate::package::{Evidence, PackageMeta};
use crate::platform::Platform;
use crate::sources::filesystem_mirror::packed_name;
use crate::store::{Facts, StoredFact};

/// What packages of a release hold, by platform.
pub(super) type KnownPackages = BTreeMap<Platform, Arc<StoredFact>>;

/// Finds what facts say about packages whose `zh:` is recorded for the selected version.
pub(super) fn known<T>(
    root: &RootWork<'_, T>,
    facts: &dyn Facts,
    selected: &Selected,
) -> KnownPackages {
    let entry = root.before.providers.get(&selected.provider);
    let Some(entry) = entry.filter(|entry| entry.version == selected.version) else {
        return KnownPackages::new();
    };
    let (provider, trusted) = (&selected.provider, root.request.trusted);
    let found = trusted.attribute(facts, provider, &entry.version, &entry.hashes);
    let known = found.by_platform();
    let known =
        known.filter_map(|(platform, fact)| Some((platform.clone(), facts.find(&fact.zh)?)));
    known.collect()
}

/// Keeps those of the known packages that the list names as what they are; nothing says here that the list
/// is signed.
pub(super) fn retain_listed(
    known: &mut KnownPackages,
    selected: &Selected,
    metas: &[Arc<PackageMeta>],
) {
    let listed = listed(
        selected,
        metas.iter().filter_map(|meta| meta.evidence.as_ref()),
    );
    known.retain(|platform, one| listed.contains(&(platform.clone(), one.fact.zh.clone())));
}

/// Returns the zips that documents name as packages of a release, each with its platform.
pub(super) fn listed<'m>(
    selected: &Selected,
    evidence: impl Iterator<Item = &'m Evidence>,
) -> BTreeSet<(Platform, Hash)> {
    let mut documents: Vec<&[u8]> = Vec::new();
    let mut listed: BTreeSet<(Platform, Hash)> = BTreeSet::new();
    for evidence in evidence {
        if documents.contains(&&*evidence.sums) {
            continue;
        }
        documents.push(&evidence.sums);
        let Ok(list) = authenticate::listed(evidence) else {
            continue;
        };
        for (zh, name) in list.names {
            match packed_name(&name, selected.provider.type_name()) {
                Some((version, platform)) if version == selected.version => {
                    listed.insert((platform, zh));
                }
                _ => {}
            }
        }
    }
    listed
}
