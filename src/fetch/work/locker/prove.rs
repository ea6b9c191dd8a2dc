//! The proof that packages are genuine, before any of them is downloaded.
//!
//! Both programs download first and look at the signature afterwards.

use std::collections::BTreeMap;
use std::time::SystemTime;

use super::lists::{Attestations, ReleaseLists, check, unite};
use super::stages::ReleaseWork;
use super::work::{Question, RootWork};
use super::{FlavorSource, LockError, LockSettings, Release, SignatureDemands};
use crate::authenticate;
use crate::package::{KeyId, PackageMeta};
use crate::parallel;
use crate::platform::Platform;

/// Checks the evidence of all packages, and unites it for each provider of each root.
pub(super) fn prove<'a>(
    sources: &[&FlavorSource<'_>],
    settings: &LockSettings,
    roots: Vec<RootWork<'a, ReleaseWork>>,
) -> Vec<RootWork<'a, ReleaseWork>> {
    // Roots may need different platforms of one release.
    let mut releases: BTreeMap<Question<Release>, BTreeMap<&Platform, &PackageMeta>> =
        BTreeMap::new();
    for root in &roots {
        for offered in &root.providers {
            let release = Question {
                source: root.source,
                about: offered.selected.release(),
            };
            let metas = offered
                .metas
                .iter()
                .map(|meta| (&meta.id.platform, &**meta));
            releases.entry(release).or_default().extend(metas);
        }
    }
    let nows: Vec<SystemTime> = sources
        .iter()
        .map(|source| source.net.clock.now())
        .collect();
    let releases: Vec<_> = releases.into_iter().collect();
    let attestations = parallel::map(settings.jobs, &releases, |(release, metas)| {
        let rules = settings.rules(sources[release.source].flavor);
        check(&rules, metas.values().copied(), nows[release.source])
    });
    let attestations: BTreeMap<Question<Release>, Attestations> = releases
        .into_iter()
        .map(|(release, _)| release)
        .zip(attestations)
        .collect();
    let mut united: BTreeMap<_, (ReleaseLists, Vec<LockError>)> = BTreeMap::new();
    let mut proven_roots = Vec::new();
    for root in roots {
        let (source, demands) = (root.source, root.request.demands);
        proven_roots.push(root.advance(|offered, errors| {
            let about = offered.selected.release();
            let release = Question { source, about };
            let platforms: Vec<Platform> = offered
                .metas
                .iter()
                .map(|meta| meta.id.platform.clone())
                .collect();
            // Roots that need the same platforms share the united lists.
            let (lists, faults) = united
                .entry((release, platforms))
                .or_insert_with_key(|(release, _)| unite(&offered.metas, &attestations[release]));
            errors.extend(faults.iter().cloned());
            let lists = lists.clone();
            errors.extend(unmet_demands(demands, &offered, &lists));
            Some(ReleaseWork { lists, ..offered })
        }));
    }
    proven_roots
}

/// Reports the packages that cannot be compared with what is stated of them, and the packages and lists that are not
/// signed as the root demands (rules 3.4).
///
/// A package of a mirror comes without a signature, even if its registry signs.
fn unmet_demands(
    demands: &SignatureDemands,
    offered: &ReleaseWork,
    lists: &ReleaseLists,
) -> Vec<LockError> {
    let mut errors = Vec::new();
    for meta in &offered.metas {
        // A package whose stated hashes all have unknown schemes is refused (`sources` rules 8.4) before its download.
        if let Err(cause) = authenticate::checkable(&meta.stated) {
            errors.push(LockError::unproven(meta, cause));
        }
    }
    let selected = &offered.selected;
    let pinned: Option<&KeyId> = demands.keys.get(&selected.provider);
    if !demands.required && pinned.is_none() {
        return errors;
    }
    for meta in &offered.metas {
        // A program accepts either: the list of a registry without keys, and the package of a mirror (rules 3.4).
        if lists.is_unsigned() || meta.evidence.is_none() {
            errors.push(LockError::Unsigned {
                id: Box::new(meta.id.clone()),
                place: meta.location.to_string(),
                pinned: pinned.filter(|_| !demands.required).cloned(),
            });
        }
    }
    if let (Some(pinned), Some(list)) = (pinned, lists.signed()) {
        for signer in list.signers.iter().filter(|signer| !signer.key.is(pinned)) {
            errors.push(LockError::OtherKey {
                provider: Box::new(selected.provider.clone()),
                version: selected.version.clone(),
                signer: Box::new(signer.clone()),
                pinned: pinned.clone(),
            });
        }
    }
    errors
}
