//! The failures that keep a root from being locked.

use std::sync::Arc;

use super::{AgeSearch, FalseClaim};
use crate::acquire::PackageFault;
use crate::addr::ProviderAddr;
use crate::authenticate::{AuthError, Signer};
use crate::diag::{counted_as, rules};
use crate::hash::Hash;
use crate::package::{KeyId, PackageId, PackageMeta};
use crate::platform::{self, Platform};
use crate::resolve::SelectError;
use crate::sources::{About, FetchError, SourceError, SourceFault};
use crate::store::shared::FactConflict;
use crate::version::Version;

/// A failure that keeps a root from being locked.
#[derive(Clone, Debug, thiserror::Error)]
pub enum LockError {
    /// No version can be chosen.
    #[error(transparent)]
    Select(#[from] Box<SelectError>),
    /// The policy of the root allows no version that may be selected.
    #[error("no version of {provider} that may be selected is one that the policy allows")]
    NotAdmitted {
        provider: Box<ProviderAddr>,
        /// The version that would be selected without the policy.
        newest: Version,
    },
    /// No version that may be selected is old enough.
    #[error(
        "no version of {provider} that may be selected is at least {} old",
        search.policy.min_age
    )]
    TooYoung {
        provider: Box<ProviderAddr>,
        /// The versions that were asked about.
        search: Box<AgeSearch>,
    },
    /// The source gave no answer, for a reason that names what was asked about.
    #[error(transparent)]
    Source(SourceError),
    /// The source gave no answer, for a reason that others may share.
    #[error(
        "{} could not be fetched",
        match &cause.about {
            About::Package(id) => format!("the package of {id}"),
            about => format!("the versions of {about}"),
        }
    )]
    Asking {
        #[source]
        cause: SourceError,
    },
    /// No version is locked, or another one is to be selected, and no source may be asked.
    #[error("the versions of {provider} are not known")]
    VersionsNotAsked {
        provider: Box<ProviderAddr>,
        /// A version is locked, and is to be moved.
        is_locked: bool,
    },
    /// Hashes of wanted platforms are neither recorded nor known, and no source may be asked.
    #[error(
        "the h1: of {provider} {version} for {} {} not known",
        platform::join(platforms, ", "),
        if platforms.len() == 1 { "is" } else { "are" }
    )]
    PackagesNotAsked {
        provider: Box<ProviderAddr>,
        version: Version,
        /// The platforms whose hashes are not known.
        platforms: Vec<Platform>,
        /// The number of recorded `h1:` that may be those of some of them.
        unexplained: usize,
    },
    /// No package of the release is for any wanted platform.
    #[error(
        "{provider} {version} has no package for any wanted platform{}",
        if *announced { ", although its registry lists some" } else { "" }
    )]
    NoPlatform {
        provider: Box<ProviderAddr>,
        version: Version,
        /// The platforms that it does have, or is said to have.
        offered: Vec<Platform>,
        /// Wanted platforms are among them, and have no package.
        announced: bool,
    },
    /// Nothing proves that a package is genuine.
    #[error("the package of {id}, offered as {place}, cannot be trusted")]
    Unproven {
        id: Box<PackageId>,
        place: String,
        /// The fault in the evidence.
        #[source]
        cause: Box<AuthError>,
    },
    /// A package cannot be downloaded.
    #[error("the package of {id} cannot be downloaded")]
    Download {
        id: Box<PackageId>,
        #[source]
        cause: FetchError,
    },
    /// A package is not the one that its registry means.
    #[error(
        "the package of {id} does not match the hash that its registry states: {place} has {found}, not {expected}"
    )]
    Checksum {
        id: Box<PackageId>,
        /// The URL that it was downloaded from.
        place: String,
        /// The `zh:` that the registry states.
        expected: Hash,
        /// The `zh:` of the downloaded bytes.
        found: Hash,
    },
    /// Recorded hashes belong to no package of the release.
    #[error(
        "the {} of {provider} {version} contradict {} of the lock file",
        if *is_signed { "signed checksums" } else { "checksums, which no key signs," },
        wrong_hashes(unlisted, surplus.as_deref())
    )]
    Unvouched {
        provider: Box<ProviderAddr>,
        version: Version,
        /// The recorded `zh:` that are not in the list.
        unlisted: Vec<Hash>,
        /// The `h1:` of the entry, if there are more of them than packages.
        surplus: Option<Box<UnattributedH1>>,
        /// The list that contradicts them is signed.
        is_signed: bool,
        /// Some recorded `zh:` is in the signed list; if none is, the entry is that of
        /// another version.
        any_listed: bool,
        /// The way to a lock file that holds.
        remedy: Remedy,
    },
    /// A registry or a mirror states hashes that are shown to be wrong; nothing signs them.
    #[error("false hashes are stated of {provider} {version}")]
    FalseClaims {
        provider: Box<ProviderAddr>,
        version: Version,
        /// The false hashes; at least one.
        claims: Vec<FalseClaim>,
    },
    /// A signed fact contradicts another one, or one that this machine computed.
    #[error("facts about {provider} {version} contradict each other")]
    FactsContradict {
        provider: Box<ProviderAddr>,
        version: Version,
        /// The contradictions, at least one.
        conflicts: Vec<FactConflict>,
    },
    /// A package does not have the length that its registry states beside its hashes.
    #[error("the package of {id} has {found} bytes, its registry states {stated}: {place}")]
    StatedSize {
        id: Box<PackageId>,
        /// The URL that it was downloaded from.
        place: String,
        /// The length that the registry states, in bytes.
        stated: u64,
        /// The length of the download, in bytes.
        found: u64,
    },
    /// The checksum documents of one release contradict each other.
    #[error("the checksum lists of {provider} {version} state different hashes for {filename:?}")]
    ListsDiffer {
        provider: Box<ProviderAddr>,
        version: Version,
        /// The file that they disagree about.
        filename: String,
    },
    /// A package cannot be hashed.
    #[error("the package of {id} cannot be used: {place}")]
    Package {
        id: Box<PackageId>,
        place: String,
        /// The fault in the package. Shared, because several roots may need it.
        #[source]
        cause: Arc<PackageFault>,
    },
    /// A package holds no program that could be started.
    #[error(
        "the package of {id} holds no file terraform-provider-{} at its top: {place}",
        id.provider.type_name()
    )]
    NoExecutable { id: Box<PackageId>, place: String },
    /// A package is not the one that the lock file records.
    #[error("the package of {id} does not match the lock file: {place} has {zh}")]
    Contradiction {
        id: Box<PackageId>,
        place: String,
        /// The `zh:` of its bytes.
        zh: Hash,
        /// The way to a lock file that holds.
        remedy: Remedy,
    },
    /// A package of a mirror is none of those that the signed list of its release names, and its `zh:` is recorded
    /// or would be.
    #[error("the signed checksums of the release lack the package of {id}: {place} has {zh}")]
    Unlisted {
        id: Box<PackageId>,
        place: String,
        /// The `zh:` of its bytes.
        zh: Hash,
    },
    /// A package has no signature, and the root demands one.
    #[error("the package of {id} is not signed: {place}")]
    Unsigned {
        id: Box<PackageId>,
        place: String,
        /// The key that must sign it, if the root demands nothing else.
        pinned: Option<KeyId>,
    },
    /// A release is signed by another key than the root demands.
    #[error(
        "{provider} {version} is signed by key {}, which the policy does not pin",
        signer.key.key_id()
    )]
    OtherKey {
        provider: Box<ProviderAddr>,
        version: Version,
        /// The key that signed it.
        signer: Box<Signer>,
        /// The key that must sign it.
        pinned: KeyId,
    },
}

/// The `h1:` of an entry that belong to none of the packages that were hashed, and that no fact attributes to a
/// platform.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UnattributedH1 {
    /// Those that are recorded.
    pub recorded: Vec<Hash>,
    /// The number of others that the registry states and the run would write.
    pub stated: usize,
    /// The number of packages of the release whose `h1:` is not known.
    pub packages_left: usize,
}

impl UnattributedH1 {
    /// Returns how many of them are wrong at least: a package has one `h1:`.
    #[must_use]
    pub fn least_wrong(&self) -> usize {
        (self.recorded.len() + self.stated).saturating_sub(self.packages_left)
    }
}

/// The way to a lock file that holds, where recorded hashes are contradicted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remedy {
    /// The evidence shows which hashes are wrong: [`Contradicted::Replaced`] replaces them.
    ///
    /// [`Contradicted::Replaced`]: super::Contradicted::Replaced
    Repair,
    /// The evidence would show it if the packages of all platforms were hashed.
    RepairAllPlatforms,
    /// Nothing signed shows what is wrong.
    ByHand,
}

/// A contradiction by evidence, or a breach of a policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alarm<'a> {
    /// The name of its rule, of `diag::rules`.
    pub rule: &'static str,
    /// The provider that it is about.
    pub provider: &'a ProviderAddr,
    /// The platform of the package; `None` if it is about the whole entry.
    pub platform: Option<&'a Platform>,
}

impl From<SourceError> for LockError {
    fn from(cause: SourceError) -> Self {
        if cause.names_subject() {
            Self::Source(cause)
        } else {
            Self::Asking { cause }
        }
    }
}

impl LockError {
    /// Returns the provider if the source answered that it does not have what was asked for.
    #[must_use]
    pub fn absent(&self) -> Option<&ProviderAddr> {
        match self {
            Self::NoPlatform { provider, .. }
            | Self::VersionsNotAsked { provider, .. }
            | Self::PackagesNotAsked { provider, .. } => Some(provider),
            Self::Select(error) => match &**error {
                SelectError::LockedGone { provider, .. } => Some(provider),
                _ => None,
            },
            Self::Source(error) => error.unknown_provider(),
            _ => None,
        }
    }

    /// Returns what the evidence of an alarm shows: each hash that is wrong, and how many of others are.
    ///
    /// No list is cut: finding the origin of a wrong hash needs all of it.
    #[must_use]
    pub fn wrong_hashes(&self) -> Vec<String> {
        let (unlisted, surplus) = match self {
            Self::FalseClaims { claims, .. } => {
                return claims.iter().map(ToString::to_string).collect();
            }
            Self::FactsContradict { conflicts, .. } => {
                return conflicts.iter().map(ToString::to_string).collect();
            }
            Self::Unvouched {
                unlisted, surplus, ..
            } => (unlisted, surplus),
            _ => return Vec::new(),
        };
        let mut lines: Vec<String> = unlisted
            .iter()
            .map(|zh| format!("{zh} is not in the checksums"))
            .collect();
        let Some(surplus) = surplus else {
            return lines;
        };
        let UnattributedH1 {
            recorded,
            stated,
            packages_left,
        } = &**surplus;
        // With every package hashed, each hash that is left over is certainly wrong.
        if *packages_left == 0 {
            lines.extend(
                recorded
                    .iter()
                    .map(|h1| format!("{h1} is of none of its packages")),
            );
            return lines;
        }
        // Each package that was not hashed may explain one of them, so only a lower bound is known.
        let least = surplus.least_wrong();
        let parts = [(recorded.len(), "recorded"), (*stated, "stated")];
        let parts: Vec<String> = parts
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, word)| format!("{count} {word}"))
            .collect();
        let verb = if recorded.len() + stated == 1 {
            "belongs"
        } else {
            "belong"
        };
        let subject = format!("{} h1: {verb}", parts.join(" and "));
        lines.push(format!(
            "{subject} to none of the packages hashed here, and only {} left, so at least {least} {} wrong",
            counted_as(*packages_left, "other package is", "other packages are"),
            if least == 1 { "is" } else { "are" }
        ));
        lines
    }

    /// Returns the package that a release lacks, and the platforms that it has packages for, by its registry. A
    /// mirror says nothing of a release.
    #[must_use]
    pub fn lacking_release(&self) -> Option<(&PackageId, &[Platform])> {
        let Self::Source(error) = self else {
            return None;
        };
        match (&*error.fault, error.about.id()) {
            (SourceFault::NoPackage { offered }, Some(id))
                if error.is_of_registry() && !error.is_announced() =>
            {
                Some((id, offered))
            }
            _ => None,
        }
    }

    /// Returns the release whose packages or evidence are at fault; the fault is the same for all roots.
    #[must_use]
    pub fn broken_release(&self) -> Option<(&ProviderAddr, &Version)> {
        match self {
            Self::Package { id, .. }
            | Self::NoExecutable { id, .. }
            | Self::Unproven { id, .. }
            | Self::Checksum { id, .. }
            | Self::StatedSize { id, .. } => Some((&id.provider, &id.version)),
            // An outage is no fault of a release, but a missing file is.
            Self::Download { id, cause } => {
                is_missing(cause).then_some((&id.provider, &id.version))
            }
            Self::NoPlatform {
                provider, version, ..
            }
            | Self::ListsDiffer {
                provider, version, ..
            } => Some((provider, version)),
            Self::Source(error) | Self::Asking { cause: error } if error.is_of_registry() => {
                let is_broken = match &*error.fault {
                    SourceFault::NoPackage { .. } => true,
                    SourceFault::Fetch(error) => is_missing(error),
                    _ => false,
                };
                let id = error.about.id().filter(|_| is_broken)?;
                Some((&id.provider, &id.version))
            }
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

    /// Returns the alarm that the error is: evidence against the lock file or a package, or a breach of a
    /// policy. Every other error is a job that could not be done.
    ///
    /// An alarm stops the run although a lock file could be written: with the new hashes in it the next
    /// `init` would pass over the contradiction (rules 2.4).
    #[must_use]
    pub fn alarm(&self) -> Option<Alarm<'_>> {
        let (rule, provider, platform) = match self {
            Self::Contradiction { id, .. } | Self::Unlisted { id, .. } => {
                (rules::PACKAGE_MISMATCH, &id.provider, Some(&id.platform))
            }
            Self::Unvouched { provider, .. } => (rules::HASHES_CONTRADICTED, &**provider, None),
            Self::FalseClaims {
                provider, claims, ..
            } => {
                let first = claims.first().map(|claim| &claim.platform);
                // A finding names a platform only if all of its evidence is about that one.
                let same =
                    first.filter(|first| claims.iter().all(|claim| claim.platform == **first));
                (rules::STATED_HASH_FALSE, &**provider, same)
            }
            Self::FactsContradict { provider, .. } => (rules::FACTS_CONTRADICT, &**provider, None),
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

fn is_missing(error: &FetchError) -> bool {
    matches!(error.status(), Some(404 | 410))
}

fn wrong_hashes(unlisted: &[Hash], surplus: Option<&UnattributedH1>) -> String {
    let uncertain = surplus.filter(|h1| h1.packages_left > 0);
    let count = unlisted.len() + surplus.map_or(0, UnattributedH1::least_wrong);
    match (count, uncertain) {
        (1, None) => "a hash".to_owned(),
        (count, None) => counted_as(count, "hash", "hashes"),
        (count, Some(_)) => format!("at least {}", counted_as(count, "hash", "hashes")),
    }
}
