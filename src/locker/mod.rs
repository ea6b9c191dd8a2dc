//! The lock run: which versions, which packages, what they hash to, and the lock file that
//! follows.
//!
//! [`run`] reads as the list of its stages, each a function from values to values. A provider that
//! fails in one stage does not keep the others from going on, so that every problem is told, but
//! then there is no lock file at all. Only the caller writes files.

mod assemble;
mod fetch;
mod prove;
mod query;
mod release;

pub mod rules {
    #![doc = include_str!("rules.md")]
}

use std::collections::BTreeMap;
use std::num::NonZeroUsize;

use crate::addr::ProviderAddr;
use crate::archive::ArchiveError;
use crate::archive::zip::Oddity;
use crate::authenticate::{AuthError, Signer};
use crate::flavor::Flavor;
use crate::hash::{Hash, Hashes, Match};
use crate::lockfile::LockFile;
use crate::package::{Location, PackageId, Provenance};
use crate::platform::Platform;
use crate::requirement::Requirements;
use crate::resolve::SelectError;
use crate::sources::FetchError;
use crate::sources::net::Net;
use crate::sources::{Source, SourceError};
use crate::version::Version;
use crate::world::Disk;

pub use self::fetch::DOWNLOADS;
use self::query::Found;
pub use self::release::{Release, SignedList, Vouched, releases};

/// The outside that a run acts on. It writes nothing but nameless files.
#[derive(Clone, Copy)]
pub struct Outside<'a> {
    /// Files.
    pub disk: &'a dyn Disk,
    /// The network.
    pub net: &'a Net<'a>,
}

impl std::fmt::Debug for Outside<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Outside").finish_non_exhaustive()
    }
}

/// What a run shall do.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// Whose rules apply.
    pub flavor: Flavor,
    /// What must be locked.
    pub requirements: &'a Requirements,
    /// What is locked so far.
    pub lock: &'a LockFile,
    /// For which platforms.
    pub platforms: &'a WantedPlatforms,
    /// How many packages are hashed at once.
    pub jobs: NonZeroUsize,
    /// How many packages are downloaded at once.
    pub downloads: NonZeroUsize,
    /// Whether OpenTofu was told to refuse expired keys (`authenticate` rules 4.3).
    pub enforce_expiration: bool,
}

/// For which platforms hashes are wanted: all of these together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Each must exist.
    pub named: Vec<Platform>,
    /// Each that a release offers.
    pub preset: Vec<Platform>,
    /// Whatever a release offers.
    pub all: bool,
}

/// For which platforms the hashes of each provider are wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WantedPlatforms {
    /// Of every provider that has none of its own.
    pub every: Wanted,
    /// Of single providers.
    pub own: BTreeMap<ProviderAddr, Wanted>,
}

impl WantedPlatforms {
    /// Returns the platforms that are wanted for a provider.
    #[must_use]
    pub fn of(&self, provider: &ProviderAddr) -> &Wanted {
        self.own.get(provider).unwrap_or(&self.every)
    }
}

impl Wanted {
    /// Tells whether a platform is wanted by name or as part of a preset.
    #[must_use]
    pub fn has(&self, platform: &Platform) -> bool {
        self.named.contains(platform) || self.preset.contains(platform)
    }

    /// Returns all platforms but those that only a release tells, sorted.
    #[must_use]
    pub fn known(&self) -> Vec<Platform> {
        let mut platforms = [&*self.named, &*self.preset].concat();
        platforms.sort();
        platforms.dedup();
        platforms
    }
}

/// What a run came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Locked {
    /// The lock file to write.
    pub lock: LockFile,
    /// What was done for each required provider, sorted.
    pub providers: Vec<ProviderOutcome>,
    /// Entries that nothing visible requires, and that stay because not everything could be seen.
    pub unrequired: Vec<ProviderAddr>,
    /// Entries that nothing requires, and that are gone.
    pub removed: Vec<ProviderAddr>,
    /// Entries of Terraform's registry and the OpenTofu ones that stand for them.
    pub carried_over: Vec<(ProviderAddr, ProviderAddr)>,
}

/// What was done for one provider.
#[derive(Clone, Debug, PartialEq)]
pub struct ProviderOutcome {
    /// Which one.
    pub provider: ProviderAddr,
    /// The version that is locked.
    pub version: Version,
    /// Whether the version was selected in this run.
    pub selected: bool,
    /// The newest release that the source offers, whatever the constraints.
    pub newest: Option<Version>,
    /// What the source wants users to know.
    pub warnings: Vec<String>,
    /// Every hash that stands in the signed list of the release; `None` if nobody signed it.
    pub signed: Option<Hashes>,
    /// Who signed that list.
    pub signers: Vec<Signer>,
    /// The hash of each wanted platform's package, as computed in this run.
    pub computed: BTreeMap<Platform, Hash>,
    /// What the hashes that stood in the lock file say about each package.
    pub matched: BTreeMap<Platform, Match>,
    /// Hashes that the lock file lacked.
    pub added: Vec<Hash>,
    /// How many hashes stood in the lock file and were neither signed nor computed in this run.
    pub kept: usize,
    /// How many recorded `h1:` are left over when every platform that the source offers has one;
    /// 0 unless a package matched nothing that was recorded.
    pub unexplained: usize,
    /// Wanted platforms that the release does not offer.
    pub skipped: Vec<Platform>,
    /// Those of the skipped platforms that the source announces all the same.
    pub missing: Vec<Platform>,
    /// Packages that are signed under the name of something else, with that name.
    pub misnamed: Vec<(Platform, String)>,
    /// What is unusual about packages.
    pub oddities: Vec<(Platform, Oddity)>,
}

impl ProviderOutcome {
    /// Tells how a hash of the entry is known.
    ///
    /// What was computed in this run over bytes that match a signed list is proven; whatever else
    /// stands in that list is signed.
    #[must_use]
    pub fn provenance(&self, hash: &Hash) -> Provenance {
        let computed = self.computed.values().any(|own| own == hash);
        match &self.signed {
            Some(_) if computed => Provenance::Proven,
            Some(signed) if signed.contains(hash) => Provenance::Signed,
            None if computed => Provenance::Computed,
            _ => Provenance::Kept,
        }
    }
}

/// Why a run gives no lock file.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// No version can be chosen.
    #[error(transparent)]
    Select(#[from] Box<SelectError>),
    /// The source gave no answer, for a reason that names what was asked about.
    #[error(transparent)]
    Source(SourceError),
    /// The source gave no answer, for a reason that others may share.
    #[error("{} cannot be had", asked(provider, package.as_deref()))]
    Asking {
        /// Which provider.
        provider: Box<ProviderAddr>,
        /// Which package; `None` if it was about versions.
        package: Option<Box<PackageId>>,
        /// Why.
        #[source]
        cause: SourceError,
    },
    /// No package of the release is for any wanted platform.
    #[error(
        "{provider} {version} has no package for any wanted platform{}",
        if *announced { ", though its registry announces some" } else { "" }
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
        /// Where it would be downloaded from.
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
        "the package of {id} is not the one that its registry states: {place} has {found}, not {expected}"
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
        "the signed checksums of {provider} {version} speak against {} of the lock file: {}",
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
        /// Whether any recorded `zh:` is in the signed list; if none is, the entry is that of
        /// another version.
        any_listed: bool,
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
        /// Where it lies.
        place: String,
        /// What is wrong with it.
        #[source]
        cause: ArchiveError,
    },
    /// A package holds no program that could be started.
    #[error(
        "the package of {id} holds no file terraform-provider-{} at its top: {place}",
        id.provider.type_name()
    )]
    NoExecutable {
        /// Which package.
        id: Box<PackageId>,
        /// Where it lies.
        place: String,
    },
    /// A package is not the one that the lock file records.
    #[error("the package of {id} is none of those that the lock file records: {place} has {zh}")]
    Contradiction {
        /// Which package.
        id: Box<PackageId>,
        /// Where it lies.
        place: String,
        /// Its own `zh:`.
        zh: Hash,
    },
}

/// What evidence speaks against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alarm<'a> {
    /// The provider.
    pub provider: &'a ProviderAddr,
    /// The platform of the package; `None` if it is about the whole entry.
    pub platform: Option<&'a Platform>,
}

impl LockError {
    /// Wraps what a source said when it was asked for the versions of a provider.
    fn of_versions(provider: &ProviderAddr, cause: SourceError) -> Self {
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
    fn of_package(id: &PackageId, cause: SourceError) -> Self {
        if cause.names_subject() {
            return Self::Source(cause);
        }
        Self::Asking {
            provider: Box::new(id.provider.clone()),
            package: Some(Box::new(id.clone())),
            cause,
        }
    }

    /// Returns what the error is an alarm about: evidence against the lock file or a package, rather
    /// than a job that could not be done.
    #[must_use]
    pub fn alarm(&self) -> Option<Alarm<'_>> {
        match self {
            Self::Contradiction { id, .. } => Some(Alarm {
                provider: &id.provider,
                platform: Some(&id.platform),
            }),
            Self::Unvouched { provider, .. } => Some(Alarm {
                provider,
                platform: None,
            }),
            _ => None,
        }
    }
}

/// Locks what is required: keeps locked versions, selects new ones, and adds the hashes of all
/// wanted platforms.
///
/// Entries that nothing requires are dropped; where not everything that may require them could be
/// seen, they are kept as they are. Of the entries that OpenTofu reads as its own only required ones are
/// added: an entry without hashes would be trusted on first use (`lockfile` rules 5.2).
///
/// # Errors
/// Everything that went wrong, stage by stage, sorted by provider and platform within each.
pub fn run(
    outside: &Outside<'_>,
    source: &dyn Source,
    request: &Request<'_>,
) -> Result<Locked, Vec<LockError>> {
    let required = |addr: &ProviderAddr| request.requirements.providers.contains_key(addr);
    let mut before = request.lock.clone();
    let carried_over = before.carry_over(request.flavor, required);
    let mut errors = Vec::new();
    let selected = query::select(source, request, &before, &mut errors);
    let found = query::packages(source, request, selected, &mut errors);
    let now = outside.net.clock.now();
    let proofs = prove::prove(request, &found, now, &mut errors);
    // Downloads are worth their while only if something can come of them.
    if !errors.is_empty() && found.iter().any(is_remote) {
        return Err(errors);
    }
    let found = found.into_iter().zip(proofs).collect();
    let hashed = fetch::hash(outside, request, found, &mut errors);
    let (mut lock, providers) = assemble::assemble(request, &before, &hashed, &mut errors);
    if !errors.is_empty() {
        return Err(errors);
    }
    let addrs = lock.providers.keys().filter(|addr| !required(addr));
    let mut unrequired: Vec<ProviderAddr> = addrs.cloned().collect();
    let mut removed = Vec::new();
    if request.requirements.is_complete() {
        lock.providers.retain(|addr, _| required(addr));
        removed = std::mem::take(&mut unrequired);
    }
    Ok(Locked {
        lock,
        providers,
        unrequired,
        removed,
        carried_over,
    })
}

/// Tells whether packages of a release must be downloaded.
fn is_remote(found: &Found) -> bool {
    let mut metas = found.metas.iter();
    metas.any(|meta| matches!(meta.location, Location::Remote(_)))
}

/// How many hashes a message repeats.
const MAX_SHOWN_HASHES: usize = 3;

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
