//! The group *packages*: every package on this machine against the hashes that the lock file
//! records.
//!
//! `paths` says what the user names, `places` finds the packages of locked versions, `memo` hashes each of them once in a run, this
//! file compares them, and `differences` says which files are to blame wherever another copy of the
//! package, or the recorded hash alone, tells. Facts add findings; none takes one away.

mod differences;
mod findings;
mod memo;
mod named;
mod paths;
mod places;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

pub use memo::Memo;
pub use named::Single;
pub use paths::{NamedError, NamedPackages};
pub use places::{Absence, Origin, Place, Unscanned};

use self::differences::{Differences, strays};
use self::memo::{Hashed, Moment, Outcome};
use self::named::{Identity, identify};
use self::places::{Candidate, Gathered, gather};
use super::platforms::{KnownHashes, Wanted};
use super::{Finding, Subject};
use crate::addr::ProviderAddr;
use crate::coverage;
use crate::hash::{Hashes, Match};
use crate::package::{Local, PackageId};

/// Where to look, and what for.
#[derive(Clone, Copy, Debug)]
pub struct Search<'a> {
    /// Directories laid out as mirrors, in the order in which the program asks them.
    pub places: &'a [Place],
    /// Packages that the user names one by one.
    pub singles: &'a [Single],
    /// For which platforms the lock file must hold hashes, if anybody cares.
    pub wanted: Option<&'a Wanted>,
}

/// How many roots a run is about, for packages that the user names without saying for which.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// One: a named package must be one of its lock file.
    OneRoot,
    /// Several: a named package must be one of any lock file.
    OneOfSeveralRoots,
}

/// What became of the packages.
#[derive(Debug, Default)]
pub struct Checked {
    /// What is wrong.
    pub findings: Vec<Finding>,
    /// The hashes of those that are right.
    pub known: KnownHashes,
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
pub fn check(memo: &mut Memo<'_>, subject: Subject<'_>, search: Search<'_>) -> Checked {
    let mut gathered = gather(memo, search.places, subject);
    let mut checked = Checked {
        failures: std::mem::take(&mut gathered.failures),
        ..Checked::default()
    };
    for (file, span, dir) in &gathered.absent {
        let finding = findings::absent(subject, (*file, *span), dir);
        checked.findings.push(finding);
    }
    let unknown = checked.take_named(memo, subject, (search, &mut gathered));
    let places: Vec<&Local> = gathered.used.iter().map(|one| &one.place).collect();
    let outcomes = memo.hash(&places);
    checked.known = known(subject, &gathered.used, &outcomes);
    for candidate in &gathered.used {
        *checked.counts.entry(candidate.origin).or_default() += 1;
    }
    let mut judge = Judge {
        subject,
        memo,
        gathered: &gathered,
        outcomes: &outcomes,
        known: &checked.known,
        wanted: search.wanted,
    };
    let mut found = Vec::new();
    for (candidate, outcome) in gathered.used.iter().zip(&outcomes) {
        found.extend(judge.judge(candidate, outcome));
    }
    for candidate in &gathered.unreachable {
        if let Err(error) = memo.files.kind(candidate.place.path()) {
            found.push(findings::unreachable(subject, candidate, &error));
        }
    }
    // Stable: of one package, first what the program runs.
    found.sort_by_key(|finding| (finding.provider.clone(), finding.platform.clone()));
    checked.findings.append(&mut found);
    for (single, ids) in unknown {
        checked.guess(memo, subject, (single, ids.as_deref()));
    }
    checked
}

/// Collects whose the recorded hashes are, as far as packages tell.
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

/// Returns the hashes of the entry that a package belongs to.
fn recorded<'a>(subject: Subject<'a>, id: &PackageId) -> &'a Hashes {
    &subject.document.lock.providers[&id.provider].hashes
}

impl Checked {
    /// Sorts out what the user named: adds packages that are known to those that were found, and
    /// returns the others, each with what it may be.
    fn take_named<'s>(
        &mut self,
        memo: &Memo<'_>,
        subject: Subject<'_>,
        (search, gathered): (Search<'s>, &mut Gathered),
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
        (single, ids): (&Single, Option<&[PackageId]>),
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

/// How sure it is that a package which matches nothing should match something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Doubt {
    /// The program refuses it, or the user asked.
    None,
    /// Its platform is not wanted: the lock file need not hold its hash.
    Unwanted,
    /// The lock file lacks hashes of wanted platforms, and this may be one of them.
    Incomplete,
}

/// What other copies, or the recorded hashes alone, tell about a package.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Fact {
    /// Nothing.
    None,
    /// The package in a place is recorded, and has the same content.
    Same(PathBuf),
    /// The package in a place is recorded, and differs.
    Differs(PathBuf, Differences),
    /// Without these files it would be recorded.
    Stray(Vec<Box<[u8]>>),
}

/// Everything that it takes to judge a package.
struct Judge<'a, 'm> {
    subject: Subject<'a>,
    memo: &'a mut Memo<'m>,
    gathered: &'a Gathered,
    outcomes: &'a [Arc<Outcome>],
    known: &'a KnownHashes,
    wanted: Option<&'a Wanted>,
}

impl<'a> Judge<'a, '_> {
    fn judge(&mut self, candidate: &Candidate, outcome: &Outcome) -> Vec<Finding> {
        let hashed = match outcome {
            Ok(hashed) => hashed,
            Err(error) => return vec![findings::unreadable(self.subject, candidate, error)],
        };
        let recorded = recorded(self.subject, &candidate.id);
        let moment = match candidate.origin {
            Origin::Installed => Moment::Plan,
            Origin::Cache | Origin::Mirror | Origin::Named => Moment::Install,
        };
        let about = findings::About {
            subject: self.subject,
            candidate,
            hashed,
            link: self.memo.leads_to(candidate.place.path()),
        };
        let matched = hashed.judge(recorded, moment);
        match matched {
            Match::Matched(_) => about.remarks(recorded),
            _ if hashed.is_odd() && recorded.contains(&hashed.h1) => vec![about.refused_odd()],
            Match::Mismatch => {
                let fact = self.fact(candidate, hashed);
                match (&fact, self.doubt(candidate, hashed)) {
                    // The content is right, and only the hash of this form of it is missing.
                    (Fact::Same(_), _) if hashed.zip.is_none() => {
                        vec![about.unverifiable(&matched, &fact, Doubt::None)]
                    }
                    (Fact::None, doubt @ (Doubt::Unwanted | Doubt::Incomplete)) => {
                        vec![about.unverifiable(&matched, &fact, doubt)]
                    }
                    _ => vec![about.mismatch(&fact)],
                }
            }
            Match::NotComparable | Match::NothingRecorded | Match::Unchecked => {
                let fact = self.fact(candidate, hashed);
                match fact {
                    Fact::Differs(..) | Fact::Stray(_) => vec![about.mismatch(&fact)],
                    Fact::None | Fact::Same(_) => {
                        let doubt = self.unwanted(candidate);
                        vec![about.unverifiable(&matched, &fact, doubt)]
                    }
                }
            }
        }
    }

    /// Finds out what tells about a package that matches nothing.
    fn fact(&mut self, candidate: &Candidate, hashed: &Hashed) -> Fact {
        let Some((place, twin)) = self.twin(candidate) else {
            let files = hashed.kept_files();
            let strays = strays(files, recorded(self.subject, &candidate.id));
            return match strays.is_empty() {
                true => Fact::None,
                false => Fact::Stray(strays),
            };
        };
        let path = place.path().to_owned();
        let Ok(twin) = &*twin else { return Fact::None };
        if twin.h1 == hashed.h1 {
            return Fact::Same(path);
        }
        let found = self.memo.files_of(&candidate.place, hashed);
        let right = self.memo.files_of(place, twin);
        match (found, right) {
            (Some(found), Some(right)) => Fact::Differs(path, Differences::between(&found, &right)),
            _ => Fact::None,
        }
    }

    /// Finds another copy of the same package that is recorded. What no program would use is hashed
    /// only here.
    fn twin(&mut self, candidate: &Candidate) -> Option<(&'a Local, Arc<Outcome>)> {
        let recorded = recorded(self.subject, &candidate.id);
        let is_other =
            |other: &&Candidate| other.id == candidate.id && other.resolved != candidate.resolved;
        let is_right = |outcome: &Outcome| {
            let hashed = outcome.as_ref();
            hashed.is_ok_and(|hashed| hashed.is_recorded(recorded))
        };
        let Gathered { used, spare, .. } = self.gathered;
        let hashed = used.iter().zip(self.outcomes);
        let mut hashed = hashed.filter(|(other, outcome)| is_other(other) && is_right(outcome));
        if let Some((other, outcome)) = hashed.next() {
            return Some((&other.place, Arc::clone(outcome)));
        }
        spare.iter().filter(is_other).find_map(|other| {
            let outcome = self.memo.hash_one(&other.place);
            is_right(&outcome).then_some((&other.place, outcome))
        })
    }

    /// Tells how far a package that matches nothing proves that something is wrong.
    ///
    /// A lock file need not hold the hashes of all that a mirror or a cache has. The signed list of
    /// a release, however, names the zips of all platforms.
    fn doubt(&self, candidate: &Candidate, hashed: &Hashed) -> Doubt {
        let recorded = recorded(self.subject, &candidate.id);
        if hashed.zip.is_some() && recorded.lists_release() {
            return Doubt::None;
        }
        let PackageId { provider, .. } = &candidate.id;
        match (self.unwanted(candidate), self.wanted) {
            (Doubt::None, Some(wanted)) if candidate.origin.is_shared() => {
                let nothing = BTreeMap::new();
                let known = self.known.get(provider).unwrap_or(&nothing);
                let coverage = coverage::coverage(recorded, wanted.of(provider), known);
                match coverage.lacking() {
                    0 => Doubt::None,
                    _ => Doubt::Incomplete,
                }
            }
            (doubt, _) => doubt,
        }
    }

    /// Tells whether a package lies ready for a platform that is not wanted.
    fn unwanted(&self, candidate: &Candidate) -> Doubt {
        let PackageId {
            provider, platform, ..
        } = &candidate.id;
        match self.wanted {
            Some(wanted)
                if candidate.origin.is_shared() && !wanted.of(provider).contains(platform) =>
            {
                Doubt::Unwanted
            }
            _ => Doubt::None,
        }
    }
}

impl Origin {
    /// Tells whether packages lie there for whoever needs them.
    fn is_shared(self) -> bool {
        match self {
            Self::Cache | Self::Mirror => true,
            Self::Installed | Self::Named => false,
        }
    }
}
