//! The statements of registries about locked releases; no package is downloaded.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::SystemTime;

use super::LockError;
use super::claims::distinct;
use super::listed::listed_zips;
use super::lists::{ReleaseLists, check, unite};
use super::work::QUESTIONS;
use crate::addr::{ProviderAddr, Url};
use crate::authenticate::{self, AuthError, Rules, Signer};
use crate::hash::{Hash, Hashes};
use crate::package::{Claims, PackageId, PackageMeta, ReleaseDates};
use crate::parallel;
use crate::platform::Platform;
use crate::sources::{Source, SourceFault};
use crate::version::Version;

/// A version of a provider.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Release {
    /// The address of the provider.
    pub provider: ProviderAddr,
    /// The version that was published.
    pub version: Version,
}

/// The statements of a registry about a release.
#[derive(Clone, Debug, PartialEq)]
pub struct Vouched {
    /// Every version of the provider that is offered, sorted.
    pub versions: Vec<Version>,
    /// The checksum list; `None` if the version is not offered.
    pub list: Option<ReleaseList>,
}

/// The checksum list of a release. Its signature is good, or the program accepts it without one.
#[derive(Clone, Debug, PartialEq)]
pub struct ReleaseList {
    /// Every hash in it: the `zh:` of all packages, and of what is beside them.
    pub hashes: Hashes,
    /// Its signers; several only where each platform has a list of its own. None if its registry names
    /// no key.
    pub signers: Vec<Signer>,
    /// The packages that it names, each with its platform.
    pub zips: BTreeSet<(Platform, Hash)>,
    /// The times of its signature and of its last change.
    pub dates: ReleaseDates,
    /// The URL of one of the packages.
    pub package: Option<Url>,
    /// The claims of the registry beside the list, which nothing signs, if the program records them; each
    /// statement once.
    pub claims: Vec<Arc<Claims>>,
}

/// Asks about releases, side by side, and returns the answers in their order.
///
/// The answer for any platform leads to the list of the release. Where that lists one package
/// only, all other platforms are asked as well: some registries have a list for each.
#[must_use]
pub fn releases(
    source: &dyn Source,
    releases: &[Release],
    rules: &Rules,
    now: SystemTime,
) -> Vec<Result<Vouched, Vec<LockError>>> {
    parallel::map(QUESTIONS, releases, |release| {
        let versions = offered(source, release).map_err(|error| vec![error])?;
        let list = if versions.contains(&release.version) {
            Some(list(source, release, rules, now)?)
        } else {
            None
        };
        Ok(Vouched { versions, list })
    })
}

/// Returns the versions of a provider; none if its registry has the provider, but no version.
fn offered(source: &dyn Source, release: &Release) -> Result<Vec<Version>, LockError> {
    match source.versions(&release.provider) {
        Ok(offer) => Ok(offer.versions),
        Err(error) if matches!(*error.fault, SourceFault::NoVersions) => Ok(Vec::new()),
        Err(error) => Err(error.into()),
    }
}

fn list(
    source: &dyn Source,
    release: &Release,
    rules: &Rules,
    now: SystemTime,
) -> Result<ReleaseList, Vec<LockError>> {
    let (packages, lists) = find_lists(source, release, rules, now)?;
    let first = packages.metas.first();
    let Some(list) = lists.any() else {
        return Err(vec![match first {
            // A source without evidence is as good as one that names no key.
            Some(meta) => LockError::unproven(meta, AuthError::NoKeys),
            None => LockError::NoPlatform {
                provider: Box::new(release.provider.clone()),
                version: release.version.clone(),
                announced: !packages.offered.is_empty(),
                offered: packages.offered,
            },
        }]);
    };
    let claims = if rules.records_claims(&release.provider) {
        distinct(packages.metas.iter().filter_map(|meta| meta.claims.clone()))
    } else {
        Vec::new()
    };
    let evidence = packages
        .metas
        .iter()
        .filter_map(|meta| meta.evidence.as_ref());
    Ok(ReleaseList {
        zips: listed_zips(release, evidence),
        hashes: Hashes::clone(&list.hashes),
        signers: list.signers.clone(),
        dates: list.dates.clone(),
        package: first.and_then(|meta| meta.location.url().cloned()),
        claims,
    })
}

/// Packages of a release: as many as it takes to have the hashes of all.
pub(super) struct ReleasePackages {
    pub(super) metas: Vec<Arc<PackageMeta>>,
    /// The platforms that the source lists, sorted.
    offered: Vec<Platform>,
}

/// Finds the checksum lists of a release, with the packages that they came with.
///
/// # Errors
/// Everything that is wrong with the evidence, or the answer of the source if it is none.
pub(super) fn find_lists(
    source: &dyn Source,
    release: &Release,
    rules: &Rules,
    now: SystemTime,
) -> Result<(ReleasePackages, ReleaseLists), Vec<LockError>> {
    let packages = packages(source, release).map_err(|error| vec![error])?;
    let attestations = check(rules, packages.metas.iter().map(|meta| &**meta), now);
    let (lists, errors) = unite(&packages.metas, &attestations);
    if errors.is_empty() {
        Ok((packages, lists))
    } else {
        Err(errors)
    }
}

fn packages(source: &dyn Source, release: &Release) -> Result<ReleasePackages, LockError> {
    let Release { provider, version } = release;
    let offered = source.platforms(provider, version);
    let mut metas = Vec::new();
    // Where a source lists no platforms, those that few releases have are asked about only if no other
    // is there.
    let (platforms, last_resort) = if offered.is_empty() {
        (Platform::common(), Platform::released())
    } else {
        (offered.clone(), Vec::new())
    };
    let count = platforms.len();
    for (index, platform) in platforms.into_iter().chain(last_resort).enumerate() {
        if index >= count && !metas.is_empty() {
            break;
        }
        let id = PackageId {
            provider: provider.clone(),
            version: version.clone(),
            platform,
        };
        match source.package(&id) {
            Ok(meta) => {
                // Some registries have a list for each platform: only all of them make that of the release.
                let listed = meta.evidence.as_ref().map(authenticate::listed);
                let is_list_of_one = matches!(listed, Some(Ok(listed)) if listed.zips().len() < 2);
                metas.push(Arc::new(meta));
                if !is_list_of_one {
                    break;
                }
            }
            Err(error) if error.lacks_platform() => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(ReleasePackages { metas, offered })
}
