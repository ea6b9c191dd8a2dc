//! The lock run: the versions and packages to lock, the hashes of these, and the lock files that
//! follow.
//!
//! [`run`] takes all roots at once and reads as the list of its stages. Each stage first asks what
//! all roots need, each question once, and then brings every root one step further. A
//! provider that fails in one stage does not keep the others from going on, so that every problem is
//! reported, but then its root gets no lock file at all; no root depends on another one. Only the
//! caller writes files.
//!
//! The values that pass between stages are in `stages`; a stage imports those and never another stage.

mod age;
mod assemble;
mod candidates;
mod claims;
mod contradiction;
mod convert;
mod dates;
mod dropped;
mod error;
mod error_groups;
mod fetch;
mod kept;
mod listed;
mod lists;
mod offline;
mod outcome;
mod outdated;
mod packages;
mod prove;
mod release;
mod request;
mod stages;
mod work;

pub mod rules {
    #![doc = include_str!("rules.md")]
}

use crate::store::Facts;
use crate::world::Disk;

pub use self::age::{AgeSearch, MAX_DATED_RELEASES, PassedOver};
pub use self::claims::{ClaimAgainst, FalseClaim, KnownContent, false_claims};
pub use self::convert::{Conversion, MovedEntry, NotConverted, Superseded, convert};
pub use self::dates::all_dates;
pub use self::error::{Alarm, LockError, Remedy, UnattributedH1};
pub use self::fetch::DOWNLOADS;
pub use self::kept::key_ends;
pub use self::offline::complete;
pub use self::outcome::{
    ContradictedBy, ContradictedHash, Dropped, EvidenceByHash, HashEvidence, KeptFact, ListedFile,
    Locked, ProviderOutcome,
};
pub use self::outdated::{ComparedVersions, OutdatedRequest, VersionComparison, outdated};
pub use self::release::{Release, ReleaseList, Vouched, releases};
pub use self::request::{Contradicted, FlavorSource, LockSettings, RootRequest, SignatureDemands};
pub use crate::acquire::TrustedFacts;

/// Locks what is required: keeps locked versions, selects new ones, and adds the hashes of all
/// wanted platforms. Returns a result for each root, in the order of the requests.
///
/// Roots that share a source ask it each question once, and each package is downloaded and hashed
/// once, or not at all if a fact says what it holds. The result for a root is the same as if it
/// were alone, and as if there were no facts.
///
/// Entries that nothing requires are dropped. Where not everything that may require them could be
/// seen, they are kept with their version, and their hashes are completed if the source has them. Of
/// the entries that OpenTofu reads as its own only required ones are added: an entry without hashes
/// would be trusted on first use (`lockfile` rules 5.2).
///
/// # Errors
/// For each root everything that went wrong, stage by stage, sorted by provider and platform within
/// each.
pub fn run(
    disk: &dyn Disk,
    facts: &dyn Facts,
    settings: &LockSettings,
    requests: &[RootRequest<'_>],
) -> Vec<Result<Locked, Vec<LockError>>> {
    let sources = work::distinct_sources(requests.iter().map(|request| request.source));
    let roots = work::start(requests, &sources);
    let roots = candidates::find(&sources, roots);
    let roots = dates::select(&sources, settings, roots);
    let roots = packages::find(&sources, facts, settings, roots);
    let roots = work::pass_over_unavailable(roots);
    // Before the download, so that nothing is fetched in vain: of two faults this may be the other one than
    // that of a program (rules 3.2).
    let roots = prove::prove(&sources, settings, roots);
    let roots = fetch::hash(disk, facts, &sources, settings, roots);
    kept::keep(facts, &roots);
    roots
        .into_iter()
        .map(|root| assemble::assemble(root, facts, settings))
        .collect()
}
