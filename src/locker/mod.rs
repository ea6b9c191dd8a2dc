//! The lock run: which versions, which packages, what they hash to, and the lock file that
//! follows.
//!
//! [`run`] reads as the list of its stages, each a function from values to values. A provider that
//! fails in one stage does not keep the others from going on, so that every problem is told, but
//! then there is no lock file at all. Only the caller writes files.

mod assemble;
mod error;
mod fetch;
mod outcome;
mod prove;
mod query;
mod release;
mod wanted;

pub mod rules {
    #![doc = include_str!("rules.md")]
}

use std::num::NonZeroUsize;

use crate::addr::ProviderAddr;
use crate::flavor::Flavor;
use crate::lockfile::LockFile;
use crate::package::Location;
use crate::requirement::Requirements;
use crate::sources::Source;
use crate::sources::net::Net;
use crate::world::Disk;

pub use self::error::{Alarm, LockError};
pub use self::fetch::DOWNLOADS;
pub use self::outcome::{Locked, ProviderOutcome};
use self::query::Found;
pub use self::release::{Release, SignedList, Vouched, releases};
pub use self::wanted::{Wanted, WantedPlatforms};

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
