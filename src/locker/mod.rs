//! The lock run: which versions, which packages, what they hash to, and the lock file that
//! follows.
//!
//! [`run`] reads as the list of its stages, each a function from values to values. A provider that
//! fails in one stage does not keep the others from going on, so that every problem is told, but
//! then there is no lock file at all. Only the caller writes files.

mod assemble;
mod fetch;
mod query;

use std::collections::BTreeMap;
use std::num::NonZeroUsize;

use crate::addr::ProviderAddr;
use crate::archive::ArchiveError;
use crate::archive::zip::Oddity;
use crate::flavor::Flavor;
use crate::hash::{Hash, Match};
use crate::lockfile::LockFile;
use crate::package::PackageId;
use crate::platform::Platform;
use crate::requirement::Requirements;
use crate::resolve::SelectError;
use crate::sources::{Source, SourceError};
use crate::version::Version;
use crate::world::Files;

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
    pub platforms: &'a Wanted,
    /// How many things may go on at once.
    pub jobs: NonZeroUsize,
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

/// What a run came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Locked {
    /// The lock file to write.
    pub lock: LockFile,
    /// What was done for each required provider, sorted.
    pub providers: Vec<ProviderOutcome>,
    /// Entries that no visible configuration requires, and that stay.
    pub unrequired: Vec<ProviderAddr>,
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
    /// The hash of each wanted platform's package, as computed in this run.
    pub computed: BTreeMap<Platform, Hash>,
    /// What the hashes that stood in the lock file say about each package.
    pub matched: BTreeMap<Platform, Match>,
    /// Hashes that the lock file lacked.
    pub added: Vec<Hash>,
    /// How many hashes stood in the lock file and were not computed in this run.
    pub kept: usize,
    /// How many recorded `h1:` are left over when every platform that the source offers has one;
    /// 0 unless a package matched nothing that was recorded.
    pub unexplained: usize,
    /// Wanted platforms that the release does not offer.
    pub skipped: Vec<Platform>,
    /// What is unusual about packages.
    pub oddities: Vec<(Platform, Oddity)>,
}

/// Why a run gives no lock file.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// No version can be chosen.
    #[error(transparent)]
    Select(#[from] Box<SelectError>),
    /// The source gave no answer.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// No package of the release is for any wanted platform.
    #[error("{provider} {version} has no package for any wanted platform")]
    NoPlatform {
        /// Which provider.
        provider: Box<ProviderAddr>,
        /// Which version.
        version: Version,
        /// The platforms that it does have.
        offered: Vec<Platform>,
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

impl LockError {
    /// Returns the package that is an alarm: evidence against the lock file or the package, rather
    /// than a job that could not be done.
    #[must_use]
    pub fn alarm(&self) -> Option<&PackageId> {
        match self {
            Self::Contradiction { id, .. } => Some(id),
            _ => None,
        }
    }
}

/// Locks what is required: keeps locked versions, selects new ones, and adds the hashes of all
/// wanted platforms.
///
/// Entries that nothing visible requires are kept as they are: the state, which may require
/// them, is not read yet. Of the entries that OpenTofu reads as its own only required ones are
/// added: an entry without hashes would be trusted on first use (`lockfile.md` 7.2).
///
/// # Errors
/// Everything that went wrong, stage by stage, sorted by provider and platform within each.
pub fn run(
    files: &dyn Files,
    source: &dyn Source,
    request: &Request<'_>,
) -> Result<Locked, Vec<LockError>> {
    let required = |addr: &ProviderAddr| request.requirements.providers.contains_key(addr);
    let mut before = request.lock.clone();
    let carried_over = before.carry_over(request.flavor, required);
    let mut errors = Vec::new();
    let selected = query::select(source, request, &before, &mut errors);
    let found = query::packages(source, request, selected, &mut errors);
    let hashed = fetch::hash(files, request, found, &mut errors);
    let (lock, providers) = assemble::assemble(request, &before, &hashed, &mut errors);
    if !errors.is_empty() {
        return Err(errors);
    }
    let unrequired = lock
        .providers
        .keys()
        .filter(|addr| !required(addr))
        .cloned()
        .collect();
    Ok(Locked {
        lock,
        providers,
        unrequired,
        carried_over,
    })
}
