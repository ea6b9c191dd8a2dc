//! Why a run gives no lock file.

use std::sync::Arc;

use super::{AgeSearch, FalseClaim};
use crate::addr::ProviderAddr;
use crate::archive::ArchiveError;
use crate::authenticate::{AuthError, Signer};
use crate::diag::{counted_as, rules};
use crate::hash::Hash;
use crate::package::{KeyId, PackageId, PackageMeta};
use crate::platform::{self, Platform};
use crate::resolve::SelectError;
use crate::sources::network_mirror::MirrorError;
use crate::sources::oci::OciError;
use crate::sources::registry::RegistryError;
use crate::sources::{FetchError, SourceError};
use crate::version::Version;

/// Why a run gives no lock file.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LockError {
    /// No version can be chosen.
    #[error(transparent)]
    Select(#[from] Box<SelectError>),
    /// No version that may be selected is old enough.
    #[error(
        "no version of {provider} that may be selected is at least {} old",
        search.policy.min_age
    )]
    TooYoung {
        /// Which provider.
        provider: Box<ProviderAddr>,
        /// Which versions were looked at.
        search: Box<AgeSearch>,
    },
    /// The source gave no answer, for a reason that names what was asked about.
    #[error(transparent)]
    Source(SourceError),
    /// The source gave no answer, for a reason that others may share.
    #[error("{} could not be fetched", asked(provider, package.as_deref()))]
    Asking {
        /// Which provider.
        provider: Box<ProviderAddr>,
        /// Which package; `None` if it was about versions.
        package: Option<Box<PackageId>>,
        /// Why.
        #[source]
        cause: SourceError,
    },
    /// No version is locked, or another one is to be selected, and no source may be asked.
    #[error("the versions of {provider} are not known")]
    VersionsNotAsked {
        /// Which provider.
        provider: Box<ProviderAddr>,
    },
    /// Hashes of wanted platforms are neither recorded nor known, and no source may be asked.
    #[error(
        "the h1: of {provider} {version} for {} {} not known",
        platform::join(platforms, ", "),
        if platforms.len() == 1 { "is" } else { "are" }
    )]
    PackagesNotAsked {
        /// Which provider.
        provider: Box<ProviderAddr>,
        /// Which version.
        version: Version,
        /// The platforms whose hashes are not known.
        platforms: Vec<Platform>,
        /// How many recorded `h1:` may be those of some of them.
        unexplained: usize,
    },
    /// No package of the release is for any wanted platform.
    #[error(
        "{provider} {version} has no package for any wanted platform{}",
        if *announced { ", although its registry lists some" } else { "" }
    )]
    NoPlatform {
        /// Which provider.
        provider: Box<ProviderAddr>,
        /// Which version.
        version: Version,
        /// The platforms that it does have, or is said to have.
        offered: Vec<Platform>,
        /// Whether wanted platforms are among them, for which there is nothing.
        announced: bool,
    },
    /// Nothing proves that a package is genuine.
    #[error("the package of {id}, offered as {place}, cannot be trusted")]
    Unproven {
        /// Which package.
        id: Box<PackageId>,
        /// Where it comes from.
        place: String,
        /// What is wrong with the evidence.
        #[source]
        cause: Box<AuthError>,
    },
    /// A package cannot be downloaded.
    #[error("the package of {id} cannot be downloaded")]
    Download {
        /// Which package.
        id: Box<PackageId>,
        /// Why.
        #[source]
        cause: FetchError,
    },
    /// A package is not the one that its registry means.
    #[error(
        "the package of {id} does not match the hash that its registry states: {place} has {found}, not {expected}"
    )]
    Checksum {
        /// Which package.
        id: Box<PackageId>,
        /// Where it was downloaded from.
        place: String,
        /// What the registry states.
        expected: Hash,
        /// What arrived.
        found: Hash,
    },
    /// Recorded hashes belong to no package of the release.
    #[error(
        "the {} of {provider} {version} contradict {} of the lock file: {}",
        if *is_signed { "signed checksums" } else { "checksums, which no key signs," },
        if hashes.len() == 1 { "a hash" } else { "hashes" },
        listed(hashes)
    )]
    Unvouched {
        /// Which provider.
        provider: Box<ProviderAddr>,
        /// Which version.
        version: Version,
        /// The hashes.
        hashes: Vec<Hash>,
        /// Whether the list that contradicts them is signed.
        is_signed: bool,
        /// Whether any recorded `zh:` is in the signed list; if none is, the entry is that of
        /// another version.
        any_listed: bool,
        /// What could be done about it.
        remedy: Remedy,
    },
    /// A registry or a mirror states hashes that are shown to be wrong; nothing signs them.
    #[error("{}", false_claims(provider, version, claims))]
    FalseClaims {
        /// Which provider.
        provider: Box<ProviderAddr>,
        /// Which version.
        version: Version,
        /// The hashes; at least one.
        claims: Vec<FalseClaim>,
    },
    /// A package does not have the length that its registry states beside its hashes.
    #[error("the package of {id} has {found} bytes, its registry states {stated}: {place}")]
    StatedSize {
        /// Which package.
        id: Box<PackageId>,
        /// Where it was downloaded from.
        place: String,
        /// What the registry states, in bytes.
        stated: u64,
        /// What arrived, in bytes.
        found: u64,
    },
    /// The checksum documents of one release contradict each other.
    #[error("the checksum lists of {provider} {version} state different hashes for {filename:?}")]
    ListsDiffer {
        /// Which provider.
        provider: Box<ProviderAddr>,
        /// Which version.
        version: Version,
        /// The file that they disagree about.
        filename: String,
    },
    /// A package cannot be hashed.
    #[error("the package of {id} cannot be used: {place}")]
    Package {
        /// Which package.
        id: Box<PackageId>,
        /// Where it is.
        place: String,
        /// What is wrong with it. Shared, because several roots may need the package.
        #[source]
        cause: Arc<ArchiveError>,
    },
    /// A package holds no program that could be started.
    #[error(
        "the package of {id} holds no file terraform-provider-{} at its top: {place}",
        id.provider.type_name()
    )]
    NoExecutable {
        /// Which package.
        id: Box<PackageId>,
        /// Where it is.
        place: String,
    },
    /// A package is not the one that the lock file records.
    #[error("the package of {id} does not match the lock file: {place} has {zh}")]
    Contradiction {
        /// Which package.
        id: Box<PackageId>,
        /// Where it is.
        place: String,
        /// Its own `zh:`.
        zh: Hash,
        /// What could be done about it.
        remedy: Remedy,
    },
    /// A package has no signature, and the root demands one.
    #[error("the package of {id} is not signed: {place}")]
    Unsigned {
        /// Which package.
        id: Box<PackageId>,
        /// Where it is.
        place: String,
        /// The key that must sign it, if the root demands nothing else.
        pinned: Option<KeyId>,
    },
    /// A release is signed by another key than the root demands.
    #[error(
        "{provider} {version} is signed by key {}, which the policy does not pin",
        signer.key_id
    )]
    OtherKey {
        /// Which provider.
        provider: Box<ProviderAddr>,
        /// Which version.
        version: Version,
        /// Who signed it.
        signer: Box<Signer>,
        /// The key that must sign it.
        pinned: KeyId,
    },
}

/// What can be done where recorded hashes are contradicted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remedy {
    /// The evidence shows which hashes are wrong: [`Contradicted::Replaced`] replaces them.
    ///
    /// [`Contradicted::Replaced`]: super::Contradicted::Replaced
    Repair,
    /// So it would if the packages of all platforms were looked at.
    RepairAllPlatforms,
    /// Nothing signed shows what is wrong.
    ByHand,
}

/// What evidence contradicts, or a policy forbids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alarm<'a> {
    /// The name of its rule.
    pub rule: &'static str,
    /// The provider.
    pub provider: &'a ProviderAddr,
    /// The platform of the package; `None` if it is about the whole entry.
    pub platform: Option<&'a Platform>,
}

impl LockError {
    /// Wraps what a source said when it was asked for the versions of a provider.
    pub(super) fn of_versions(provider: &ProviderAddr, cause: SourceError) -> Self {
        if cause.names_subject() {
            return Self::Source(cause);
        }
        Self::Asking {
            provider: Box::new(provider.clone()),
            package: None,
            cause,
        }
    }

    /// Wraps what a source said when it was asked for a package.
    pub(super) fn of_package(id: &PackageId, cause: SourceError) -> Self {
        if cause.names_subject() {
            return Self::Source(cause);
        }
        Self::Asking {
            provider: Box::new(id.provider.clone()),
            package: Some(Box::new(id.clone())),
            cause,
        }
    }

    /// Returns the provider if the source answered that it does not have what was asked for.
    #[must_use]
    pub fn absent(&self) -> Option<&ProviderAddr> {
        match self {
            Self::NoPlatform { provider, .. }
            | Self::VersionsNotAsked { provider }
            | Self::PackagesNotAsked { provider, .. } => Some(provider),
            Self::Select(error) => match &**error {
                SelectError::LockedGone { provider, .. } => Some(provider),
                _ => None,
            },
            Self::Source(SourceError::UnknownProvider { provider, .. }) => Some(provider),
            Self::Source(SourceError::Registry(error)) => match &**error {
                RegistryError::UnknownProvider { provider, .. }
                | RegistryError::NoVersions { provider } => Some(provider),
                _ => None,
            },
            Self::Source(SourceError::Mirror(error)) => match &**error {
                MirrorError::UnknownProvider { provider, .. } => Some(provider),
                _ => None,
            },
            Self::Source(SourceError::Oci(error)) => match &**error {
                OciError::UnknownProvider { provider, .. } => Some(provider),
                _ => None,
            },
            Self::Source(SourceError::Nowhere { provider, .. }) => Some(provider),
            _ => None,
        }
    }

    /// Makes the error of a package whose evidence does not hold.
    pub(super) fn unproven(meta: &PackageMeta, cause: AuthError) -> Self {
        Self::Unproven {
            id: Box::new(meta.id.clone()),
            place: meta.location.to_string(),
            cause: Box::new(cause),
        }
    }

    /// Returns what the error is an alarm about: evidence against the lock file or a package, or what
    /// a policy forbids, rather than a job that could not be done.
    #[must_use]
    pub fn alarm(&self) -> Option<Alarm<'_>> {
        let (rule, provider, platform) = match self {
            Self::Contradiction { id, .. } => {
                (rules::PACKAGE_MISMATCH, &id.provider, Some(&id.platform))
            }
            Self::Unvouched { provider, .. } => (rules::HASHES_CONTRADICTED, &**provider, None),
            Self::FalseClaims {
                provider, claims, ..
            } => (rules::STATED_HASH_FALSE, &**provider, only_platform(claims)),
            Self::OtherKey { provider, .. } => (rules::KEY_NOT_ALLOWED, &**provider, None),
            Self::Unsigned {
                id,
                pinned: Some(_),
                ..
            } => (rules::KEY_NOT_ALLOWED, &id.provider, Some(&id.platform)),
            _ => return None,
        };
        Some(Alarm {
            rule,
            provider,
            platform,
        })
    }
}

/// How many hashes a message repeats.
const MAX_SHOWN_HASHES: usize = 3;

/// Returns the platform that all statements are about.
fn only_platform(claims: &[FalseClaim]) -> Option<&Platform> {
    let first = &claims.first()?.platform;
    claims
        .iter()
        .all(|one| one.platform == *first)
        .then_some(first)
}

fn false_claims(provider: &ProviderAddr, version: &Version, claims: &[FalseClaim]) -> String {
    let shown: Vec<String> = claims
        .iter()
        .take(MAX_SHOWN_HASHES)
        .map(ToString::to_string)
        .collect();
    let more = match claims.len() - shown.len() {
        0 => String::new(),
        more => format!(
            "; {}",
            counted_as(more, "more hash is wrong", "more hashes are wrong")
        ),
    };
    format!(
        "false hashes are stated of {provider} {version}: {}{more}",
        shown.join("; ")
    )
}

fn asked(provider: &ProviderAddr, package: Option<&PackageId>) -> String {
    match package {
        Some(id) => format!("the package of {id}"),
        None => format!("the versions of {provider}"),
    }
}

fn listed(hashes: &[Hash]) -> String {
    let shown: Vec<&str> = hashes
        .iter()
        .take(MAX_SHOWN_HASHES)
        .map(Hash::as_str)
        .collect();
    match hashes.len() - shown.len() {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}
