//! One package against the hashes that are recorded for it.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::differences::{Differences, strays};
use super::facts::{Doubt, Fact, Twin};
use super::findings;
use super::memo::{Memo, Moment, Outcome, PackageHashes};
use super::places::{Candidate, Origin, PackagesAtHand};
use crate::archive::FileDigest;
use crate::coverage::{self, Attributions};
use crate::diag::Finding;
use crate::hash::{Digest, Hashes, Match};
use crate::package::WantedPlatforms;
use crate::package::{Local, PackageId};
use crate::verify::known::KnownHashes;
use crate::verify::subject::Subject;

/// Returns the hashes of the entry that a package belongs to.
pub(super) fn recorded<'a>(subject: Subject<'a>, id: &PackageId) -> &'a Hashes {
    &subject.document.lock.providers[&id.provider].hashes
}

/// Everything that it takes to judge a package.
pub(super) struct Comparison<'a, 'm> {
    pub(super) subject: Subject<'a>,
    pub(super) memo: &'a mut Memo<'m>,
    pub(super) gathered: &'a PackagesAtHand,
    pub(super) outcomes: &'a [Arc<Outcome>],
    pub(super) known: &'a KnownHashes,
    pub(super) facts: &'a Attributions,
    pub(super) wanted: Option<&'a WantedPlatforms>,
}

impl<'a> Comparison<'a, '_> {
    /// Reports what is wrong with a package, given its hashes or why it has none.
    pub(super) fn judge(&mut self, candidate: &Candidate, outcome: &Outcome) -> Vec<Finding> {
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
            _ if hashed.is_odd() && recorded.contains(&hashed.h1) => {
                vec![about.refused_odd(self.unwanted(candidate))]
            }
            Match::Mismatch => {
                let fact = self.fact(candidate, hashed);
                match (&fact, self.doubt(candidate, hashed)) {
                    // The content is right, and only the hash of this form of it is missing.
                    (Fact::Same(_), _) if hashed.zip.is_none() => {
                        vec![about.unverifiable(&matched, &fact, Doubt::None)]
                    }
                    (Fact::None, Doubt::None) => vec![about.mismatch(&fact)],
                    (Fact::None, doubt) => vec![about.unverifiable(&matched, &fact, doubt)],
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

    /// Finds out what is known about a package that matches nothing.
    fn fact(&mut self, candidate: &Candidate, hashed: &PackageHashes) -> Fact {
        let Some((place, twin)) = self.twin(candidate) else {
            return self.known_fact(candidate, hashed);
        };
        let path = Twin::AtHand(place.path().to_owned());
        let Ok(twin) = &*twin else { return Fact::None };
        if twin.h1 == hashed.h1 {
            return Fact::Same(path);
        }
        let found = self.memo.files_of(&candidate.place, hashed);
        let right = self.memo.files_of(place, twin);
        match (found, right) {
            (Some(found), Some(right)) => {
                Fact::Differs(path, Differences::between(digests(&found), digests(&right)))
            }
            _ => Fact::Differs(path, Differences::default()),
        }
    }

    /// Finds out what is known about a package of which there is no other copy.
    fn known_fact(&self, candidate: &Candidate, hashed: &PackageHashes) -> Fact {
        let PackageId {
            provider, platform, ..
        } = &candidate.id;
        let known = self.facts.get(provider);
        let known = known.and_then(|facts| facts.package(platform));
        let twin = known.map(|fact| Twin::Known(fact.zh.clone()));
        if let (Some(fact), Some(twin)) = (known, &twin) {
            if fact.h1 == hashed.h1 {
                return Fact::Same(twin.clone());
            }
            if !fact.files.is_empty()
                && let Some(found) = self.memo.files_of(&candidate.place, hashed)
            {
                let right = fact.files.iter();
                let right = right.map(|file| (file.name.as_bytes(), file.digest));
                let mut right: Vec<(&[u8], Digest)> = right.collect();
                right.sort_unstable();
                let differences = Differences::between(digests(&found), right.into_iter());
                return Fact::Differs(twin.clone(), differences);
            }
        }
        let strays = strays(hashed.kept_files(), recorded(self.subject, &candidate.id));
        match twin {
            _ if !strays.is_empty() => Fact::Stray(strays),
            Some(twin) => Fact::Differs(twin, Differences::default()),
            None => Fact::None,
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
        let PackagesAtHand { used, spare, .. } = self.gathered;
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

    /// Returns how far a package that matches nothing proves that something is wrong.
    ///
    /// The signed list of a release names the zips of all platforms, but an unpacked package has no
    /// `zh:`. An `h1:` contradicts it only if it is that of its platform: one single `h1:` may be that
    /// of any, several are taken to be those of the wanted platforms, if they are enough.
    fn doubt(&self, candidate: &Candidate, hashed: &PackageHashes) -> Doubt {
        let recorded = recorded(self.subject, &candidate.id);
        if hashed.zip.is_some() && recorded.matchable().lists_release() {
            return Doubt::None;
        }
        let unwanted = self.unwanted(candidate);
        if unwanted != Doubt::None {
            return unwanted;
        }
        let PackageId {
            provider, platform, ..
        } = &candidate.id;
        let nothing = BTreeMap::new();
        let known = self.known.get(provider).unwrap_or(&nothing);
        let mut wanted = self
            .wanted
            .map_or_else(Vec::new, |wanted| wanted.known(provider));
        wanted.push(platform.clone());
        let coverage = coverage::coverage(recorded, &wanted, known);
        if coverage.unexplained == 0 {
            Doubt::Uncovered
        } else if coverage.recorded == 1 || coverage.lacking() > 0 {
            Doubt::Incomplete
        } else {
            Doubt::None
        }
    }

    /// Returns whether a package is ready for a platform that is not wanted.
    fn unwanted(&self, candidate: &Candidate) -> Doubt {
        let PackageId {
            provider, platform, ..
        } = &candidate.id;
        match self.wanted {
            Some(wanted) if candidate.origin.is_shared() && !wanted.of(provider).has(platform) => {
                Doubt::Unwanted
            }
            _ => Doubt::None,
        }
    }
}

/// Returns the digests of files by their names.
fn digests(files: &[FileDigest]) -> impl Iterator<Item = (&[u8], Digest)> {
    files.iter().map(|file| (&*file.name, file.digest))
}
