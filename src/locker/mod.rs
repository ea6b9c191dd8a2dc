//! The lock run: which versions, which packages, what they hash to, and the lock files that
//! follow.
//!
//! [`run`] takes all roots at once and reads as the list of its stages. Each stage first asks what
//! all roots need, each question once, and then brings every root one step further. A
//! provider that fails in one stage does not keep the others from going on, so that every problem is
//! reported, but then its root gets no lock file at all; no root depends on another one. Only the
//! caller writes files.

mod assemble;
mod claims;
mod contradiction;
mod convert;
mod dates;
mod demands;
mod dropped;
mod error;
mod fetch;
mod listed;
mod offline;
mod outcome;
mod outdated;
mod prove;
mod query;
mod release;
mod request;
mod work;

pub mod rules {
    #![doc = include_str!("rules.md")]
}

use self::prove::Proven;
use self::work::RootWork;
use crate::package::PackageMeta;
use crate::store::Facts;
use crate::world::Disk;

pub use self::claims::{ClaimAgainst, FalseClaim, KnownContent, Unanswered, false_claims};
pub use self::convert::{Conversion, MovedEntry, Staying, Superseded, convert};
pub use self::dates::{AgeSearch, MAX_DATED_RELEASES, PassedOver, all_dates};
pub use self::dropped::Dropped;
pub use self::error::{Alarm, LockError, Remedy};
pub use self::fetch::DOWNLOADS;
pub use self::offline::complete;
pub use self::outcome::{
    Against, Evidence, HashEvidence, ListedFile, Locked, ProviderOutcome, Replaced,
};
pub use self::outdated::{ComparedVersions, OutdatedRequest, Standing, outdated};
pub use self::release::{Release, ReleaseList, Vouched, releases};
pub use self::request::{
    Contradicted, FlavorSource, RootRequest, Settings, SignatureDemands, TrustedFacts,
};

/// Locks what is required: keeps locked versions, selects new ones, and adds the hashes of all
/// wanted platforms. Returns what each root came to, in the order of the requests.
///
/// Roots that share a source ask it each question once, and each package is downloaded and hashed
/// once, or not at all if a fact says what it holds. What comes out for a root is the same as if it
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
    settings: &Settings,
    roots: &[RootRequest<'_>],
) -> Vec<Result<Locked, Vec<LockError>>> {
    let sources = work::sources(roots.iter().map(|root| root.source));
    let roots = roots.iter().map(|root| work::start(root, &sources));
    let roots = query::candidates(&sources, roots.collect());
    let roots = dates::select(&sources, settings, roots);
    let roots = query::packages(&sources, facts, settings, roots);
    let roots = roots.into_iter().map(work::pass_over_unavailable).collect();
    let roots = prove::prove(&sources, settings, roots);
    let roots = roots.into_iter().map(without_vain_downloads).collect();
    let roots = fetch::hash(disk, facts, &sources, settings, roots);
    let assemble = |root| assemble::assemble(root, facts, settings);
    roots.into_iter().map(assemble).collect()
}

/// Ends a root that gets no lock file, if its packages would have to be downloaded; local ones are
/// looked at all the same, since more may be wrong.
fn without_vain_downloads(mut root: RootWork<'_, Proven>) -> RootWork<'_, Proven> {
    let is_remote = |meta: &PackageMeta| meta.location.url().is_some();
    let mut metas = root.providers.iter().flat_map(|one| &one.offered.metas);
    if !root.errors.is_empty() && metas.any(|meta| is_remote(meta)) {
        root.providers.clear();
    }
    root
}
