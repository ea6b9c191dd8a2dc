//! Checks that need sources of packages: mirrors and directories at hand, and registries.

use std::sync::Arc;

use super::{Answers, Registries, signed_list, stated};
use crate::addr::ProviderAddr;
use crate::coverage::Attributions;
use crate::diag::{Finding, Severity};
use crate::hash::Hash;
use crate::locker::LockError;
use crate::package::WantedPlatforms;
use crate::packages::{
    self, InstallSource, PackageMemo, PackagePlace, PackageSearch, RootCount, Single, Unscanned,
};
use crate::verify::{
    CheckedLock, CheckedPackages, ClaimGaps, Groups, KnownHashes, LockedSigners, PackageFacts,
    PackagesVerdict, RootInputs, SourceChecks, ages, expiry, signers,
};

/// The packages and the registries that a root is compared with.
pub struct RootSources<'a, 'm> {
    /// The packages to check.
    pub packages: PackageChecks<'a, 'm>,
    /// The registries to ask.
    pub upstream: Upstream<'a, 'm>,
    answers: Answers,
    /// The checks that could not be done.
    pub failures: Vec<CheckError>,
}

/// The packages that are checked.
pub struct PackageChecks<'a, 'm> {
    /// The packages that were hashed so far in the run.
    pub memo: &'a mut PackageMemo<'m>,
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

impl<'a> PackageChecks<'a, '_> {
    fn search<'s>(
        &self,
        wanted: Option<&'s WantedPlatforms>,
        facts: &'s Attributions,
    ) -> PackageSearch<'s>
    where
        'a: 's,
    {
        PackageSearch {
            facts,
            places: self.places,
            singles: self.singles,
            wanted,
            sources: self.sources,
            cache_may_break: self.cache_may_break,
        }
    }
}

/// The registries to ask about locked releases.
pub enum Upstream<'a, 'm> {
    /// No registry is asked.
    NotAsked,
    /// Registries should be asked, but the CLI configuration has errors, so that their URLs are unknown.
    Blocked,
    /// These registries are asked.
    Ask(&'a mut Registries<'m>),
}

/// The reason why a check could not be done.
#[derive(Clone, Debug, thiserror::Error)]
pub enum CheckError {
    /// No registry was asked, because the CLI configuration has errors.
    #[error("the registries were not asked")]
    NotAsked,
    /// A registry gave no answer about a locked version, or none that counts.
    #[error(transparent)]
    Release(Arc<LockError>),
    /// A directory with packages could not be read.
    #[error("the packages in {} could not be read", .0.dir.display())]
    Packages(Unscanned),
}

impl<'a, 'm> RootSources<'a, 'm> {
    /// Returns checks that were not made yet.
    #[must_use]
    pub fn new(packages: PackageChecks<'a, 'm>, upstream: Upstream<'a, 'm>) -> Self {
        Self {
            packages,
            upstream,
            answers: Answers::new(),
            failures: Vec::new(),
        }
    }
}

impl SourceChecks for RootSources<'_, '_> {
    fn ask(&mut self, subject: CheckedLock<'_>) -> Option<usize> {
        match &mut self.upstream {
            Upstream::NotAsked => return None,
            Upstream::Blocked => self.failures.push(CheckError::NotAsked),
            Upstream::Ask(registries) => {
                let (answers, errors) = registries.ask(subject);
                self.answers = answers;
                self.failures
                    .extend(errors.into_iter().map(CheckError::Release));
            }
        }
        let signed_lists = self
            .answers
            .values()
            .filter_map(|answer| answer.list.as_ref())
            // OpenTofu accepts lists that no key signs (`authenticate` rules 4.1).
            .filter(|list| !list.signers.is_empty())
            .count();
        Some(signed_lists)
    }

    fn asks(&self) -> bool {
        !matches!(self.upstream, Upstream::NotAsked)
    }

    fn has_answer(&self, provider: &ProviderAddr) -> bool {
        self.answers.contains_key(provider)
    }

    fn is_listed(&self, provider: &ProviderAddr, hash: &Hash) -> bool {
        signed_list(&self.answers, provider).is_some_and(|list| list.hashes.contains(hash))
    }

    fn compare(&self, subject: CheckedLock<'_>, attributions: &Attributions) -> Vec<Finding> {
        let mut findings = super::check(subject, &self.answers);
        findings.extend(stated::check(subject, &self.answers, attributions));
        if let Upstream::Ask(registries) = &self.upstream {
            let ends = super::key_ends(&self.answers);
            findings.extend(expiry::check(subject, &ends, registries.now()));
        }
        findings
    }

    fn claim_gaps(&self, subject: CheckedLock<'_>, attributions: &Attributions) -> ClaimGaps {
        stated::gaps(subject, &self.answers, attributions)
    }

    fn signers(&self) -> LockedSigners {
        super::signers(&self.answers)
    }

    fn check_policy(
        &mut self,
        root: &RootInputs<'_>,
        groups: &Groups,
        subject: CheckedLock<'_>,
    ) -> Vec<Finding> {
        let Some(policy) = &root.project.policy else {
            return Vec::new();
        };
        let mut findings = Vec::new();
        let has_age = |provider| policy.age(provider, subject.flavor).is_some();
        if let Upstream::Ask(registries) = &mut self.upstream
            && (policy.max_age.is_some() || self.answers.keys().any(has_age))
            && groups.compare_with_policy()
        {
            // Dates take requests of their own (`sources` rules 11), so they wait for a policy that needs them.
            let dates = registries.dates(subject, &self.answers);
            let now = registries.now();
            findings.extend(ages::check(subject, policy, &dates, now, root.project_file));
        }
        if self.asks() && groups.compare_with_policy() {
            let signers = self.signers();
            findings.extend(signers::check(
                subject,
                policy,
                |provider| signers.get(provider),
                root.project_file,
            ));
        }
        findings
    }

    fn machines(&mut self, subject: CheckedLock<'_>) -> PackageFacts {
        let no_facts = Attributions::new();
        let search = self.packages.search(None, &no_facts);
        PackageFacts {
            machines: packages::machines(self.packages.memo, subject, search),
            ..PackageFacts::default()
        }
    }

    fn check_packages(
        &mut self,
        subject: CheckedLock<'_>,
        wanted: &WantedPlatforms,
        attributions: &Attributions,
    ) -> Option<CheckedPackages> {
        let search = self.packages.search(Some(wanted), attributions);
        let checked = packages::check(self.packages.memo, subject, search);
        let mut findings = checked.findings;
        let mut unplaced = Vec::new();
        for (path, mut finding) in checked.unplaced {
            if self.packages.scope == RootCount::Several {
                // It may belong to another root; if not, that is reported once for all of them.
                finding.diagnostic.severity = Severity::Note;
            }
            findings.push(finding);
            unplaced.push(path);
        }
        self.failures
            .extend(checked.failures.into_iter().map(CheckError::Packages));
        Some(CheckedPackages {
            findings,
            facts: PackageFacts {
                known: checked.known,
                zips: KnownHashes::new(),
                refused: checked.refused,
                altered: checked.altered,
                machines: checked.machines,
            },
            verdict: PackagesVerdict {
                verified: checked.verified,
                not_verified: checked.not_verified,
                unplaced,
            },
        })
    }
}
