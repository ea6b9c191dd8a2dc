//! The group *packages*: every package on this machine against the hashes that the lock file
//! records.
//!
//! `paths` and `named` find out what the user names, `places` finds the packages of locked versions,
//! `memo` hashes each of them once in a run, `comparison` holds each against what is recorded, `differences`
//! lists the files that are to blame where another copy of the package, or the recorded hash alone,
//! proves it, and `findings` says so. Facts add findings; none takes one away.

mod comparison;
mod differences;
mod facts;
mod findings;
mod machine;
mod memo;
mod named;
mod paths;
mod places;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

pub use machine::InstallSource;
pub use memo::Memo;
pub use named::Single;
pub use paths::{NamedError, NamedPackages};
pub use places::{Absence, Origin, PackagePlace, Unscanned};

use self::comparison::{Comparison, recorded};
use self::memo::{Moment, Outcome};
use self::named::{Identity, identify};
use self::places::{Candidate, PackagesAtHand, gather};
use super::known::{KnownHashes, Machines, PackageForm, RefusedPackages};
use crate::addr::ProviderAddr;
use crate::coverage::Attributions;
use crate::diag::Finding;
use crate::hash::{Hashes, Match};
use crate::package::WantedPlatforms;
use crate::package::{Local, PackageId};
use crate::verify::subject::Subject;

/// Where to look, and what for.
#[derive(Clone, Copy)]
pub struct Search<'a> {
    /// Directories laid out as mirrors, in the order in which the program asks them.
    pub places: &'a [PackagePlace],
    /// Packages that the user names one by one.
    pub singles: &'a [Single],
    /// What facts say about the recorded hashes.
    pub facts: &'a Attributions,
    /// For which platforms the lock file must hold hashes, if that is checked.
    pub wanted: Option<&'a WantedPlatforms>,
    /// Where the program installs a provider from, in its order.
    pub sources: &'a dyn Fn(&ProviderAddr) -> Vec<InstallSource>,
    /// Whether the program may use a cached package of which the lock file holds no hash.
    pub cache_may_break: bool,
}

/// How many roots a run is about, for packages that the user names without saying for which.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// One: a named package must be one of its lock file.
    OneRoot,
    /// Several: a named package must be one of any lock file.
    OneOfSeveralRoots,
}

/// What packages prove, and what is wrong with them.
#[derive(Debug, Default)]
pub struct PackageFindings {
    /// What is wrong.
    pub findings: Vec<Finding>,
    /// The hashes of those that are right.
    pub known: KnownHashes,
    /// The hashes of those that are installed, right or not.
    pub installed: KnownHashes,
    /// The packages of mirrors that `init` refuses.
    pub refused: RefusedPackages,
    /// What this machine has of each entry.
    pub machines: Machines,
    /// How many packages were looked at, by what they are to the program.
    pub counts: BTreeMap<Origin, usize>,
    /// Directories that cannot be looked into.
    pub failures: Vec<Unscanned>,
    /// Single packages that belong to no entry of this lock file, each with the finding that says
    /// so: it counts if they belong to no other lock file either.
    pub unplaced: Vec<(PathBuf, Finding)>,
}

/// Hashes the packages of locked versions and compares them, as the program does when it installs
/// or starts them (`hash` rules 3.5).
///
/// Packages of other versions and providers are left alone, unless they are named one by one.
pub fn check(memo: &mut Memo<'_>, subject: Subject<'_>, search: Search<'_>) -> PackageFindings {
    let mut gathered = gather(memo, search.places, subject);
    let mut checked = PackageFindings {
        failures: std::mem::take(&mut gathered.failures),
        ..PackageFindings::default()
    };
    for (file, span, dir) in &gathered.absent {
        let finding = findings::absent(subject, *file, *span, dir);
        checked.findings.push(finding);
    }
    let lacking = lacking(subject, search, &gathered);
    checked.findings.extend(lacking);
    let unknown = checked.take_named(memo, subject, search, &mut gathered);
    let places: Vec<&Local> = gathered.used.iter().map(|one| &one.place).collect();
    let outcomes = memo.hash(&places);
    checked.known = known(subject, &gathered.used, &outcomes);
    checked.installed = installed(&gathered.used, &outcomes);
    checked.refused = refused(subject, &gathered.used, &outcomes);
    checked.machines = machine::of_providers(memo, subject, search, &gathered, &outcomes);
    for candidate in &gathered.used {
        *checked.counts.entry(candidate.origin).or_default() += 1;
    }
    let mut comparison = Comparison {
        subject,
        memo,
        gathered: &gathered,
        outcomes: &outcomes,
        known: &checked.known,
        facts: search.facts,
        wanted: search.wanted,
    };
    let mut found = Vec::new();
    for (candidate, outcome) in gathered.used.iter().zip(&outcomes) {
        found.extend(comparison.judge(candidate, outcome));
    }
    for candidate in &gathered.unreachable {
        found.push(match memo.files.kind(candidate.place.path()) {
            Ok(_) => findings::no_directory(subject, candidate),
            Err(error) => findings::unreachable(subject, candidate, &error),
        });
    }
    // Stable: of one package, first what the program runs.
    found.sort_by_key(|finding| (finding.provider.clone(), finding.platform.clone()));
    checked.findings.append(&mut found);
    for (single, ids) in unknown {
        checked.guess(memo, subject, single, ids.as_deref());
    }
    checked
}

/// Lists what this machine has of each provider where no entry can be compared with it.
pub(super) fn machines(memo: &mut Memo<'_>, subject: Subject<'_>, search: Search<'_>) -> Machines {
    let gathered = gather(memo, search.places, subject);
    let places: Vec<&Local> = gathered.used.iter().map(|one| &one.place).collect();
    let outcomes = memo.hash(&places);
    machine::of_providers(memo, subject, search, &gathered, &outcomes)
}

/// Reports entries whose version none of the mirrors has from which the program would install it.
fn lacking(subject: Subject<'_>, search: Search<'_>, gathered: &PackagesAtHand) -> Vec<Finding> {
    if !gathered.absent.is_empty() || !gathered.failures.is_empty() {
        return Vec::new();
    }
    let entries = subject.document.lock.providers.iter();
    let entries = entries.filter(|(provider, _)| subject.left_over(provider).is_none());
    let lacking = entries.filter_map(|(provider, entry)| {
        let version = &entry.version;
        let sources = machine::lacking_sources(search, gathered, provider, version)?;
        let is_implied = sources.contains(&InstallSource::RegistryUnlessHeld);
        Some(findings::no_mirror(subject, provider, version, is_implied))
    });
    lacking.collect()
}

/// Collects which platform recorded hashes belong to, as far as packages show it.
fn known(subject: Subject<'_>, used: &[Candidate], outcomes: &[Arc<Outcome>]) -> KnownHashes {
    let mut known = KnownHashes::new();
    for (candidate, outcome) in used.iter().zip(outcomes) {
        let id = &candidate.id;
        let recorded = recorded(subject, id);
        if let Ok(hashed) = &**outcome
            && recorded.contains(&hashed.h1)
        {
            let platforms = known.entry(id.provider.clone()).or_default();
            let platform = platforms.entry(id.platform.clone());
            platform.or_insert_with(|| hashed.h1.clone());
        }
    }
    known
}

/// Collects the hashes of the packages that are installed.
fn installed(used: &[Candidate], outcomes: &[Arc<Outcome>]) -> KnownHashes {
    let mut installed = KnownHashes::new();
    for (candidate, outcome) in used.iter().zip(outcomes) {
        if let (Origin::Installed, Ok(hashed)) = (candidate.origin, &**outcome) {
            let PackageId {
                provider, platform, ..
            } = candidate.id.clone();
            let platforms = installed.entry(provider).or_default();
            platforms.insert(platform, hashed.h1.clone());
        }
    }
    installed
}

/// Collects the packages of mirrors that no recorded hash accepts.
fn refused(subject: Subject<'_>, used: &[Candidate], outcomes: &[Arc<Outcome>]) -> RefusedPackages {
    let mut refused = RefusedPackages::new();
    for (candidate, outcome) in used.iter().zip(outcomes) {
        let id = &candidate.id;
        if let (Origin::Mirror, Ok(hashed)) = (candidate.origin, &**outcome)
            && hashed.judge(recorded(subject, id), Moment::Install) == Match::Mismatch
        {
            let form = match candidate.place {
                Local::Archive(_) => PackageForm::Zip,
                Local::Directory(_) => PackageForm::Directory,
            };
            refused.insert((id.provider.clone(), id.platform.clone(), form));
        }
    }
    refused
}

impl PackageFindings {
    /// Sorts out what the user named: adds packages that are known to those that were found, and
    /// returns the others, each with what it may be.
    fn take_named<'s>(
        &mut self,
        memo: &Memo<'_>,
        subject: Subject<'_>,
        search: Search<'s>,
        gathered: &mut PackagesAtHand,
    ) -> Vec<(&'s Single, Option<Vec<PackageId>>)> {
        for place in search.places {
            // Somebody named it for the packages in it.
            if place.origin == Origin::Named && !gathered.found_in.contains(&place.dir) {
                let finding = findings::not_locked(subject, &place.dir, "any package in it");
                self.unplaced.push((place.dir.clone(), finding));
            }
        }
        let mut unknown = Vec::new();
        for single in search.singles {
            match identify(single, subject) {
                Identity::Locked(id) => {
                    let candidate = Candidate {
                        id,
                        place: single.place.clone(),
                        origin: Origin::Named,
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
        memo: &mut Memo<'_>,
        subject: Subject<'_>,
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
        *self.counts.entry(Origin::Named).or_default() += 1;
        let may_be = |provider: &ProviderAddr| {
            ids.is_none_or(|ids| ids.iter().any(|id| id.provider == *provider))
        };
        let entries = subject.document.lock.providers.iter();
        let mut entries = entries.filter(|(provider, _)| may_be(provider));
        let matched = |recorded: &Hashes| {
            matches!(hashed.judge(recorded, Moment::Install), Match::Matched(_))
        };
        if !entries.any(|(_, entry)| matched(&entry.hashes)) {
            let finding = findings::not_recorded(subject, path, hashed);
            self.unplaced.push((path.to_owned(), finding));
        }
    }
}
