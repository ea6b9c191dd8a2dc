//! The group *packages*: every package on this machine against the hashes that the lock file
//! records.
//!
//! `paths` and `named` find out what the user names, `places` finds the packages of locked versions,
//! `memo` hashes each of them once in a run, `comparison` compares each with the recorded hashes, `differences`
//! lists the files that differ where another copy of the package, or the recorded hash alone,
//! proves it, and `findings` reports them. Facts add findings; none takes one away.

mod comparison;
mod differences;
mod facts;
mod findings;
mod machine;
mod memo;
mod named;
mod paths;
mod places;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

pub use machine::InstallSource;
pub use memo::PackageMemo;
pub use named::Single;
pub use paths::{NamedError, NamedPackages};
pub use places::{Absence, PackagePlace, Unscanned};

use self::comparison::PackageComparison;
use self::memo::{Outcome, UseMoment};
use self::named::{Identity, identify};
use self::places::{PackageCandidate, PackagesAtHand, gather};
use crate::acquire::PackageHashes;
use crate::addr::ProviderAddr;
use crate::coverage::{Attribution, Attributions};
use crate::diag::{Finding, Severity};
use crate::hash::{Hash, Hashes, Match};
use crate::package::{Local, PackageId, WantedPlatforms};
use crate::verify::{
    AlteredPackage, CheckedLock, Machines, PackageFacts, PackageOrigin, PackagesVerdict,
};

/// The places and packages to check, and their context.
#[derive(Clone, Copy)]
pub struct PackageSearch<'a> {
    /// Directories laid out as mirrors, in the order of the program's search.
    pub places: &'a [PackagePlace],
    /// Packages that the user names one by one.
    pub singles: &'a [Single],
    /// The number of roots, since a package that the user names may belong to another one.
    pub scope: RootCount,
    /// Returns the sources that the program installs a provider from, in its order.
    pub sources: &'a dyn Fn(&ProviderAddr) -> Vec<InstallSource>,
    /// The program may use a cached package although the lock file holds no hash of it.
    pub cache_may_break: bool,
}

/// The number of roots of a run, for named packages without a stated root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RootCount {
    /// A named package must be one of the only lock file.
    One,
    /// A named package must be one of any lock file.
    Several,
}

/// A package on this machine with a hash that the lock file records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatchedPackage {
    pub id: PackageId,
    pub place: Local,
    /// The hash of its files.
    pub h1: Hash,
    /// The hash of its zip, if it is one.
    pub zh: Option<Hash>,
}

/// The result of checking packages.
#[derive(Debug, Default)]
pub struct PackageFindings {
    /// The faults of packages.
    pub findings: Vec<Finding>,
    /// The hashes that packages prove.
    pub facts: PackageFacts,
    /// The packages that were checked.
    pub verdict: PackagesVerdict,
    /// The packages with a recorded hash, in the order of the places.
    pub matched: Vec<MatchedPackage>,
    /// Directories that cannot be looked into.
    pub failures: Vec<Unscanned>,
    /// Named packages that belong to no entry of this lock file, each with the finding that says so.
    unplaced: Vec<(PathBuf, Finding)>,
}

/// Hashes the packages of locked versions and compares them, as the program does when it installs
/// or starts them (`hash` rules 3.5). `facts` attribute the recorded hashes to platforms, and `wanted` are the
/// platforms whose hashes the lock file must hold, if that is checked.
///
/// Packages of other versions and providers are left alone, unless they are named one by one.
pub fn check(
    memo: &mut PackageMemo<'_>,
    subject: CheckedLock<'_>,
    search: PackageSearch<'_>,
    facts: &Attributions,
    wanted: Option<&WantedPlatforms>,
) -> PackageFindings {
    let mut gathered = gather(memo, search.places, subject);
    let mut checked = PackageFindings {
        failures: std::mem::take(&mut gathered.failures),
        ..PackageFindings::default()
    };
    for mirror in &gathered.absent {
        checked.findings.push(findings::absent(subject, mirror));
    }
    checked.findings.extend(lacking(subject, search, &gathered));
    // Named packages of locked versions are compared like all others, so they are added before the hashing.
    let unknown = checked.take_named(memo, subject, search, &mut gathered);
    let places: Vec<&Local> = gathered.used.iter().map(|used| &used.place).collect();
    let outcomes = memo.hash(&places);
    for (candidate, outcome) in gathered.used.iter().zip(&outcomes) {
        checked.add(subject, facts, candidate, outcome);
    }
    checked.facts.machines = machine::of_providers(memo, subject, search, &gathered, &outcomes);
    let mut comparison = PackageComparison {
        subject,
        memo,
        gathered: &gathered,
        outcomes: &outcomes,
        known: &checked.facts.known,
        altered: &checked.facts.altered,
        facts,
        wanted,
        have_stray_files: BTreeMap::new(),
    };
    let mut of_packages = Vec::new();
    for (candidate, outcome) in gathered.used.iter().zip(&outcomes) {
        of_packages.extend(comparison.judge(candidate, outcome));
    }
    let have_stray_files = comparison.have_stray_files;
    machine::add_stray_files(&mut checked.facts.machines, search, &have_stray_files);
    // A package that no program reaches has nothing to hash, but `plan` needs it (`coverage` rules 4.3).
    for candidate in &gathered.unreachable {
        of_packages.push(match memo.files.kind(candidate.place.path()) {
            Ok(_) => findings::no_directory(subject, candidate),
            Err(error) => findings::unreachable(subject, candidate, &error),
        });
    }
    // The sort is stable: of one package, the installed copy comes first.
    of_packages.sort_by_key(|finding| (finding.provider.clone(), finding.platform.clone()));
    checked.findings.append(&mut of_packages);
    for (single, ids) in unknown {
        checked.guess(memo, subject, single, ids.as_deref());
    }
    for (path, mut finding) in std::mem::take(&mut checked.unplaced) {
        if search.scope == RootCount::Several {
            // It may belong to another root; if not, that is reported once for all of them.
            finding.diagnostic.severity = Severity::Note;
        }
        checked.findings.push(finding);
        checked.verdict.unplaced.push(path);
    }
    checked
}

/// Lists the packages on this machine for each provider where no entry can be compared with them.
#[must_use]
pub fn machines(
    memo: &mut PackageMemo<'_>,
    subject: CheckedLock<'_>,
    search: PackageSearch<'_>,
) -> Machines {
    let gathered = gather(memo, search.places, subject);
    let places: Vec<&Local> = gathered.used.iter().map(|used| &used.place).collect();
    let outcomes = memo.hash(&places);
    machine::of_providers(memo, subject, search, &gathered, &outcomes)
}

/// Reports entries whose version is in none of the mirrors that the program would install it from.
fn lacking(
    subject: CheckedLock<'_>,
    search: PackageSearch<'_>,
    gathered: &PackagesAtHand,
) -> Vec<Finding> {
    // A mirror that is missing or cannot be read is reported, and might have the version.
    if !gathered.absent.is_empty() || !gathered.failures.is_empty() {
        return Vec::new();
    }
    let mut lacking = Vec::new();
    // `init` queries the source first, even if a package is installed (`coverage` rules 5.1).
    for (provider, entry) in &subject.document.lock.providers {
        let version = &entry.version;
        if subject.left_over(provider).is_none()
            && let Some(sources) = machine::lacking_sources(search, gathered, provider, version)
        {
            lacking.push(findings::no_mirror(subject, provider, version, &sources));
        }
    }
    lacking
}

/// Returns the `h1:` that facts give for the platform of a package, if the package has another one.
fn expected(known: &Attribution, id: &PackageId, hashed: &PackageHashes) -> Option<Hash> {
    // A zip of the release is known by its `zh:`; other facts about the platform do not matter.
    let is_of_release = |zh: &Hash| !known.platforms_of(zh).is_empty();
    if hashed.zh().is_some_and(is_of_release) {
        return None;
    }
    let expected: BTreeSet<&Hash> = known.expected(&id.platform);
    let is_expected = memo::h1s(hashed).any(|h1| expected.contains(h1));
    expected
        .into_iter()
        .next()
        .filter(|_| !is_expected)
        .cloned()
}

impl PackageFindings {
    fn count(&mut self, origin: PackageOrigin, is_verified: bool) {
        if is_verified {
            *self.verdict.verified.entry(origin).or_default() += 1;
        } else {
            self.verdict.not_verified += 1;
        }
    }

    /// Counts a package, and keeps what it proves of the recorded hashes.
    fn add(
        &mut self,
        subject: CheckedLock<'_>,
        facts: &Attributions,
        candidate: &PackageCandidate,
        outcome: &Outcome,
    ) {
        let Ok(hashed) = outcome else {
            self.count(candidate.origin, false);
            return;
        };
        let id = &candidate.id;
        let recorded = subject.recorded(id);
        if let (PackageOrigin::Mirror, Local::Directory(_)) = (candidate.origin, &candidate.place)
            && memo::judge(hashed, recorded, UseMoment::Install) == Match::Mismatch
        {
            let refused = (id.provider.clone(), id.platform.clone());
            self.facts.refused.insert(refused);
        }
        let is_recorded = memo::is_recorded(hashed, recorded);
        // A package that facts contradict proves nothing of the entry, although one of its hashes is recorded.
        if is_recorded
            && let Some(known) = facts.get(&id.provider)
            && let Some(expected) = expected(known, id, hashed)
        {
            self.count(candidate.origin, false);
            self.facts.altered.push(AlteredPackage {
                id: id.clone(),
                place: candidate.place.path().to_owned(),
                h1: memo::h1s(hashed)
                    .filter(|h1| recorded.contains(h1))
                    .cloned()
                    .collect(),
                expected,
            });
            return;
        }
        let matched = memo::judge(hashed, recorded, UseMoment::of(candidate.origin));
        self.count(candidate.origin, matches!(matched, Match::Matched(_)));
        // Only a recorded hash shows that the package is the locked one: another may lie in its place.
        if recorded.contains(&hashed.h1) {
            self.facts
                .known
                .entry(id.provider.clone())
                .or_default()
                .entry(id.platform.clone())
                .or_insert_with(|| hashed.h1.clone());
        }
        if is_recorded {
            self.matched.push(MatchedPackage {
                id: id.clone(),
                place: candidate.place.clone(),
                h1: hashed.h1.clone(),
                zh: hashed.zh().cloned(),
            });
        }
    }

    /// Sorts the packages that the user named: adds those of locked versions to the gathered ones, and
    /// returns those that only a hash can identify, each with the packages that it may be.
    fn take_named<'s>(
        &mut self,
        memo: &PackageMemo<'_>,
        subject: CheckedLock<'_>,
        search: PackageSearch<'s>,
        gathered: &mut PackagesAtHand,
    ) -> Vec<(&'s Single, Option<Vec<PackageId>>)> {
        for place in search.places {
            // Somebody named it for the packages in it.
            if place.origin == PackageOrigin::Named && !gathered.found_in.contains(&place.dir) {
                let finding = findings::not_locked(subject, &place.dir, "any package in it");
                self.unplaced.push((place.dir.clone(), finding));
            }
        }
        let mut unknown = Vec::new();
        for single in search.singles {
            match identify(single, subject) {
                Identity::Locked(id) => {
                    let candidate = PackageCandidate {
                        id,
                        place: single.place.clone(),
                        origin: PackageOrigin::Named,
                        resolved: memo.resolved(&single.place),
                    };
                    gathered.push(candidate, true);
                }
                Identity::Ambiguous(ids) => unknown.push((single, Some(ids))),
                Identity::Unknown => unknown.push((single, None)),
                Identity::NotLocked(what) => {
                    let finding = findings::not_locked(subject, single.path(), &what);
                    self.unplaced.push((single.path().to_owned(), finding));
                }
            }
        }
        unknown
    }

    /// Looks for a package among the entries by its hash: all entries, or some that it may be.
    fn guess(
        &mut self,
        memo: &mut PackageMemo<'_>,
        subject: CheckedLock<'_>,
        single: &Single,
        ids: Option<&[PackageId]>,
    ) {
        let outcome = memo.hash_one(&single.place);
        let path = single.path();
        let hashed = match &*outcome {
            Ok(hashed) => hashed,
            Err(error) => {
                self.findings
                    .push(findings::unreadable_single(subject, path, error));
                return;
            }
        };
        // The name of the file may limit the entries; its hash alone decides among them.
        let may_be = |provider: &ProviderAddr| {
            ids.is_none_or(|ids| ids.iter().any(|id| id.provider == *provider))
        };
        let is_match = |recorded: &Hashes| {
            matches!(
                memo::judge(hashed, recorded, UseMoment::Install),
                Match::Matched(_)
            )
        };
        let is_recorded = subject
            .document
            .lock
            .providers
            .iter()
            .any(|(provider, entry)| may_be(provider) && is_match(&entry.hashes));
        self.count(PackageOrigin::Named, is_recorded);
        if !is_recorded {
            let finding = findings::not_recorded(subject, path, hashed);
            self.unplaced.push((path.to_owned(), finding));
        }
    }
}
