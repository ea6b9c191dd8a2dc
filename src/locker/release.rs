//! What registries state about locked releases; no package is downloaded.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::SystemTime;

use super::LockError;
use super::claims::{CountedClaims, distinct};
use super::prove::{check, unite};
use super::query::{Offered, QUESTIONS, Selected};
use crate::addr::{ProviderAddr, Url};
use crate::authenticate::{self, AuthError, Rules, Signer};
use crate::hash::Hashes;
use crate::package::{Claims, PackageId, PackageMeta, ReleaseDates};
use crate::parallel;
use crate::platform::Platform;
use crate::sources::registry::RegistryError;
use crate::sources::{Source, SourceError};
use crate::version::{Constraints, Version};

/// A version of a provider.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Release {
    /// The provider.
    pub provider: ProviderAddr,
    /// Its version.
    pub version: Version,
}

/// What a registry states about a release.
#[derive(Clone, Debug, PartialEq)]
pub struct Vouched {
    /// Every version of the provider that is offered, sorted.
    pub versions: Vec<Version>,
    /// What is listed; `None` if the version is not offered.
    pub list: Option<ReleaseList>,
}

/// The checksum list of a release. Its signature is good, or the program accepts it without one.
#[derive(Clone, Debug, PartialEq)]
pub struct ReleaseList {
    /// Every hash that it lists: the `zh:` of all packages, and of what is beside them.
    pub hashes: Hashes,
    /// Its signers; several only where each platform has a list of its own. None if its registry names
    /// no key.
    pub signers: Vec<Signer>,
    /// When it was signed, and changed last.
    pub dates: ReleaseDates,
    /// Where one of the packages is.
    pub package: Option<Url>,
    /// What the registry states beside the list, and nothing signs, if the program records that; each
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
        let Some(versions) = offered(source, release).map_err(|error| vec![error])? else {
            return Ok(Vouched {
                versions: Vec::new(),
                list: None,
            });
        };
        let list = if versions.contains(&release.version) {
            Some(list(source, release, rules, now)?)
        } else {
            None
        };
        Ok(Vouched { versions, list })
    })
}

/// Returns the versions of a provider; nothing if its registry has the provider, but no version.
fn offered(source: &dyn Source, release: &Release) -> Result<Option<Vec<Version>>, LockError> {
    match source.versions(&release.provider) {
        Ok(offer) => Ok(Some(offer.versions)),
        Err(SourceError::Registry(error)) if matches!(*error, RegistryError::NoVersions { .. }) => {
            Ok(None)
        }
        Err(cause) => Err(LockError::of_versions(&release.provider, cause)),
    }
}

fn list(
    source: &dyn Source,
    release: &Release,
    rules: &Rules,
    now: SystemTime,
) -> Result<ReleaseList, Vec<LockError>> {
    let found = packages(source, release).map_err(|error| vec![error])?;
    let attestations = check(rules, found.metas.iter().map(|meta| &**meta), now);
    let mut errors = Vec::new();
    let lists = unite(&found, &attestations, &mut errors);
    if !errors.is_empty() {
        return Err(errors);
    }
    let package = found.metas.first();
    let package = package.and_then(|meta| meta.location.url().cloned());
    let metas = found.metas.iter();
    let counted = metas.filter(|_| rules.records_claims(&release.provider));
    let claims = counted.filter_map(|meta| meta.claims.clone());
    let claims = distinct(claims);
    if let Some(list) = &lists.unsigned {
        return Ok(ReleaseList {
            hashes: list.hashes.clone(),
            signers: Vec::new(),
            dates: list.dates.clone(),
            package,
            claims,
        });
    }
    match (lists.proof, found.metas.first()) {
        (Some(proof), _) => Ok(ReleaseList {
            hashes: proof.signed.as_ref().clone(),
            signers: proof.signers.clone(),
            dates: proof.dates.clone(),
            package,
            claims,
        }),
        // A source without evidence is as good as one that names no key.
        (None, Some(meta)) => Err(vec![LockError::unproven(meta, AuthError::NoKeys)]),
        (None, None) => Err(vec![LockError::NoPlatform {
            provider: Box::new(release.provider.clone()),
            version: release.version.clone(),
            announced: !found.platforms.is_empty(),
            offered: found.platforms.to_vec(),
        }]),
    }
}

/// Finds as many packages of a release as it takes to have the hashes of all of them.
pub(super) fn packages(source: &dyn Source, release: &Release) -> Result<Offered, LockError> {
    let Release { provider, version } = release;
    let offered = source.platforms(provider, version);
    let mut found = Offered {
        selected: Selected {
            provider: provider.clone(),
            version: version.clone(),
            constraints: Constraints::default(),
            locked: Some(version.clone()),
            newest: None,
            warnings: Vec::new(),
            age: None,
        },
        metas: Vec::new(),
        known: BTreeMap::new(),
        claims: CountedClaims::default(),
        stated: BTreeMap::new(),
        platforms: offered.clone().into(),
        skipped: Vec::new(),
        unknown: Vec::new(),
    };
    // Where a source lists no platforms, those that few releases have are asked about only if no other
    // is there.
    let (platforms, last_resort) = match offered.is_empty() {
        true => (Platform::common(), Platform::released()),
        false => (offered, Vec::new()),
    };
    let count = platforms.len();
    for (index, platform) in platforms.into_iter().chain(last_resort).enumerate() {
        if index >= count && !found.metas.is_empty() {
            break;
        }
        let id = PackageId {
            provider: provider.clone(),
            version: version.clone(),
            platform,
        };
        match source.package(&id) {
            Ok(meta) => {
                let is_enough = !lists_one(&meta);
                found.metas.push(Arc::new(meta));
                if is_enough {
                    break;
                }
            }
            Err(error) if error.lacks_platform() => found.skipped.push(id.platform),
            Err(error) => return Err(LockError::of_package(&id, error)),
        }
    }
    Ok(found)
}

/// Returns whether the list that comes with a package is good and names no other.
fn lists_one(meta: &PackageMeta) -> bool {
    let listed = meta.evidence.as_ref().map(authenticate::listed);
    matches!(listed, Some(Ok(listed)) if listed.zips.len() < 2)
}
