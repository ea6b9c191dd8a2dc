//! One package against the hashes that are recorded for it.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::differences::{Differences, strays};
use super::facts::{Doubt, MismatchEvidence, Twin};
use super::findings;
use super::memo::{self, Outcome, PackageMemo, UseMoment};
use super::places::{PackageCandidate, PackagesAtHand};
use crate::acquire::PackageHashes;
use crate::archive::FileDigest;
use crate::coverage::{self, Attributions, Coverage};
use crate::diag::Finding;
use crate::hash::{Digest, Match};
use crate::package::{Local, PackageId, PlatformsOrigin, WantedPlatforms};
use crate::verify::CheckedLock;
use crate::verify::{AlteredPackage, KnownHashes, PackageOrigin};

/// The context of comparing a package.
pub(super) struct PackageComparison<'a, 'm> {
    pub(super) subject: CheckedLock<'a>,
    pub(super) memo: &'a mut PackageMemo<'m>,
    pub(super) gathered: &'a PackagesAtHand,
    pub(super) outcomes: &'a [Arc<Outcome>],
    pub(super) known: &'a KnownHashes,
    /// The packages with a recorded hash that facts contradict.
    pub(super) altered: &'a [AlteredPackage],
    pub(super) facts: &'a Attributions,
    pub(super) wanted: Option<&'a WantedPlatforms>,
    /// The installed packages that match nothing; the value is true if the package has files that the right one
    /// does not have. Packages without an answer are left out.
    pub(super) have_stray_files: BTreeMap<PackageId, bool>,
}

impl<'a> PackageComparison<'a, '_> {
    /// Reports the faults of a package, given its hashes or the reason why it has none.
    pub(super) fn judge(
        &mut self,
        candidate: &PackageCandidate,
        outcome: &Outcome,
    ) -> Vec<Finding> {
        let hashed = match outcome {
            Ok(hashed) => hashed,
            Err(error) => {
                let doubt = match self.unwanted(candidate) {
                    Doubt::None if self.is_of_default_only(candidate) => Doubt::Unwanted,
                    doubt => doubt,
                };
                return vec![findings::unreadable(self.subject, candidate, error, doubt)];
            }
        };
        let recorded = self.subject.recorded(&candidate.id);
        let about = findings::PackageReport {
            subject: self.subject,
            candidate,
            hashed,
            link: self.memo.leads_to(candidate.place.path()),
        };
        if let Some(altered) = self.altered(candidate) {
            let fact = self.fact(candidate, hashed);
            return vec![about.altered(altered, &fact)];
        }
        let matched = memo::judge(hashed, recorded, UseMoment::of(candidate.origin));
        match matched {
            Match::Matched(_) => about.remarks(recorded),
            // `lock` recorded what the zip unpacks to, and `init` compares its members: it refuses a package
            // that is the locked one.
            _ if memo::is_odd(hashed) && recorded.contains(&hashed.h1) => {
                vec![about.refused_odd(self.unwanted(candidate))]
            }
            Match::Mismatch => {
                let fact = self.fact(candidate, hashed);
                // Evidence decides; without any the number of recorded hashes says how sure a mismatch is.
                match (&fact, self.doubt(candidate, hashed)) {
                    // The content is right, and only the hash of this form of it is missing.
                    (MismatchEvidence::Same(_), _) if hashed.zip.is_none() => {
                        vec![about.unverifiable(&matched, &fact, Doubt::None)]
                    }
                    (MismatchEvidence::None, Doubt::None) => vec![about.mismatch(&fact)],
                    (MismatchEvidence::None, doubt) => {
                        vec![about.unverifiable(&matched, &fact, doubt)]
                    }
                    _ => vec![about.mismatch(&fact)],
                }
            }
            Match::NotComparable | Match::NothingRecorded | Match::Unchecked => {
                let fact = self.fact(candidate, hashed);
                if let MismatchEvidence::Differs(..) | MismatchEvidence::Stray(_) = fact {
                    return vec![about.mismatch(&fact)];
                }
                let doubt = self.unwanted(candidate);
                vec![about.unverifiable(&matched, &fact, doubt)]
            }
        }
    }

    /// Returns what facts say of a package that they contradict.
    fn altered(&self, candidate: &PackageCandidate) -> Option<&'a AlteredPackage> {
        self.altered
            .iter()
            .find(|altered| altered.place == *candidate.place.path())
    }

    /// Finds the evidence about a package that matches nothing, and keeps what it says of stray files.
    fn fact(&mut self, candidate: &PackageCandidate, hashed: &PackageHashes) -> MismatchEvidence {
        let fact = match self.twin(candidate) {
            None => self.known_fact(candidate, hashed),
            Some((place, twin)) => {
                let path = Twin::AtHand(place.path().to_owned());
                match &*twin {
                    Err(_) => MismatchEvidence::None,
                    Ok(twin) if twin.h1 == hashed.h1 => MismatchEvidence::Same(path),
                    Ok(twin) => {
                        let files = self.memo.files_of(&candidate.place, hashed);
                        let right = self.memo.files_of(place, twin);
                        let differences = files.zip(right).map(|(files, right)| {
                            Differences::between(digests(&files), digests(&right))
                        });
                        MismatchEvidence::Differs(path, differences.unwrap_or_default())
                    }
                }
            }
        };
        // The answer is kept for the prediction of `plan`, which looks at installed packages only.
        if candidate.origin == PackageOrigin::Installed
            && let Some(has_stray_files) = fact.has_stray_files()
        {
            self.have_stray_files
                .insert(candidate.id.clone(), has_stray_files);
        }
        fact
    }

    /// Finds the evidence about a package without another copy.
    fn known_fact(&self, candidate: &PackageCandidate, hashed: &PackageHashes) -> MismatchEvidence {
        let PackageId {
            provider, platform, ..
        } = &candidate.id;
        let fact = self
            .facts
            .get(provider)
            .and_then(|facts| facts.package(platform));
        let twin = fact.map(|fact| Twin::Known(fact.zh.clone()));
        if let (Some(fact), Some(twin)) = (fact, &twin) {
            // The package is the released one, so that the lock file lacks its hash.
            if fact.h1 == hashed.h1 {
                return MismatchEvidence::Same(twin.clone());
            }
            if !fact.files.is_empty()
                && let Some(files) = self.memo.files_of(&candidate.place, hashed)
            {
                let right = fact
                    .files
                    .iter()
                    .map(|file| (file.name.as_bytes(), file.digest));
                let differences = Differences::between(digests(&files), right);
                return MismatchEvidence::Differs(twin.clone(), differences);
            }
        }
        let strays = strays(&hashed.files, self.subject.recorded(&candidate.id));
        match twin {
            // Files that explain the difference say more than a fact without a list of files.
            _ if !strays.is_empty() => MismatchEvidence::Stray(strays),
            Some(twin) => MismatchEvidence::Differs(twin, Differences::default()),
            None => MismatchEvidence::None,
        }
    }

    /// Finds another copy of the same package that is recorded.
    fn twin(&mut self, candidate: &PackageCandidate) -> Option<(&'a Local, Arc<Outcome>)> {
        let recorded = self.subject.recorded(&candidate.id);
        let is_other = |other: &&PackageCandidate| {
            other.id == candidate.id
                && other.resolved != candidate.resolved
                && self.altered(other).is_none()
        };
        let is_right = |outcome: &Outcome| {
            outcome
                .as_ref()
                .is_ok_and(|hashed| memo::is_recorded(hashed, recorded))
        };
        let PackagesAtHand { used, spare, .. } = self.gathered;
        let hashed = used
            .iter()
            .zip(self.outcomes)
            .find(|(other, outcome)| is_other(other) && is_right(outcome));
        if let Some((other, outcome)) = hashed {
            return Some((&other.place, Arc::clone(outcome)));
        }
        // No program would use these copies, so they are hashed only now.
        // Chosen before any is hashed: hashing changes the memo, which the choice reads.
        let spare = Vec::from_iter(spare.iter().filter(is_other));
        spare.into_iter().find_map(|other| {
            let outcome = self.memo.hash_one(&other.place);
            is_right(&outcome).then_some((&other.place, outcome))
        })
    }

    /// Returns the doubt that a package which matches nothing is wrong.
    fn doubt(&self, candidate: &PackageCandidate, hashed: &PackageHashes) -> Doubt {
        let recorded = self.subject.recorded(&candidate.id);
        // The signed list of a release names the zips of all platforms, but an unpacked package has no `zh:`.
        if hashed.zip.is_some() && recorded.matchable().lists_release() {
            return Doubt::None;
        }
        let unwanted = self.unwanted(candidate);
        if unwanted != Doubt::None {
            return unwanted;
        }
        // An `h1:` contradicts the package only if it is that of its platform. A single `h1:` may be that of
        // any platform; several are taken to be those of the wanted platforms, if there are enough of them.
        let coverage = self.coverage(candidate);
        if self.is_default(candidate) && (coverage.unexplained == 0 || is_incomplete(&coverage)) {
            Doubt::Unwanted
        } else if coverage.unexplained == 0 {
            Doubt::Uncovered
        } else if is_incomplete(&coverage) {
            Doubt::Incomplete
        } else {
            Doubt::None
        }
    }

    /// Compares the recorded `h1:` with the wanted platforms and that of a package.
    fn coverage(&self, candidate: &PackageCandidate) -> Coverage {
        let PackageId {
            provider, platform, ..
        } = &candidate.id;
        let nothing = BTreeMap::new();
        let known = self.known.get(provider).unwrap_or(&nothing);
        let mut wanted = self
            .wanted
            .map_or_else(Vec::new, |wanted| wanted.known(provider));
        wanted.push(platform.clone());
        coverage::coverage(self.subject.recorded(&candidate.id), &wanted, known)
    }

    /// Returns true for a shared package of a provider whose platforms are not stated.
    fn is_default(&self, candidate: &PackageCandidate) -> bool {
        let is_default = self.wanted.is_some_and(|wanted| {
            wanted.origin_of(&candidate.id.provider) == PlatformsOrigin::Default
        });
        // Hashes that the lock file lacks for these platforms are a note, as in `platforms`.
        is_default && candidate.origin.is_shared()
    }

    /// Returns true for a package that only a platform of the default list would use, if the lock file does not
    /// hold the hashes of all of them, and nothing shows that it holds that of this one.
    fn is_of_default_only(&self, candidate: &PackageCandidate) -> bool {
        let PackageId {
            provider, platform, ..
        } = &candidate.id;
        let coverage = self.coverage(candidate);
        let is_covered = coverage.known.contains_key(platform)
            || self
                .facts
                .get(provider)
                .is_some_and(|facts| facts.covered().contains(platform));
        self.is_default(candidate) && !is_covered && is_incomplete(&coverage)
    }

    /// Returns a doubt about a shared package for a platform that is not wanted.
    fn unwanted(&self, candidate: &PackageCandidate) -> Doubt {
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

/// Returns true if some wanted platform has no `h1:`, or a single one may be that of any of them.
fn is_incomplete(coverage: &Coverage) -> bool {
    coverage.recorded == 1 || coverage.lacking() > 0
}

/// Returns the digests of files by their names.
fn digests(files: &[FileDigest]) -> impl Iterator<Item = (&[u8], Digest)> {
    files.iter().map(|file| (&*file.name, file.digest))
}
