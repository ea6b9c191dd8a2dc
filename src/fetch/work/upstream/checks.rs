//! Checks that need sources of packages: mirrors and directories at hand, and registries.

use std::sync::Arc;

use super::{Answers, Registries, signed_list, stated};
use crate::addr::ProviderAddr;
use crate::coverage::Attributions;
use crate::diag::Finding;
use crate::hash::Hash;
use crate::locker::{LockError, ReleaseList};
use crate::package::WantedPlatforms;
use crate::packages::{self, PackageMemo, PackageSearch, Unscanned};
use crate::verify::{
    CheckedLock, CheckedPackages, ClaimGaps, Groups, LockedSigners, PackageFacts, RootInputs,
    SourceChecks, ages, expiry, signers,
};

/// The packages and the registries that a root is compared with.
pub struct RootSources<'a, 'm> {
    /// The packages that were hashed so far in the run.
    memo: &'a mut PackageMemo<'m>,
    search: PackageSearch<'a>,
    /// The registries to ask.
    upstream: Upstream<'a, 'm>,
    answers: Answers,
    /// The checks that could not be done.
    pub failures: Vec<CheckError>,
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
    pub fn new(
        memo: &'a mut PackageMemo<'m>,
        search: PackageSearch<'a>,
        upstream: Upstream<'a, 'm>,
    ) -> Self {
        Self {
            memo,
            search,
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
        // OpenTofu accepts lists that no key signs (`authenticate` rules 4.1).
        let is_signed = |list: &ReleaseList| !list.signers.is_empty();
        Some(
            super::lists(&self.answers)
                .filter(|(_, list)| is_signed(list))
                .count(),
        )
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
        PackageFacts {
            machines: packages::machines(self.memo, subject, self.search),
            ..PackageFacts::default()
        }
    }

    fn check_packages(
        &mut self,
        subject: CheckedLock<'_>,
        wanted: &WantedPlatforms,
        attributions: &Attributions,
    ) -> Option<CheckedPackages> {
        let checked = packages::check(self.memo, subject, self.search, attributions, Some(wanted));
        self.failures
            .extend(checked.failures.into_iter().map(CheckError::Packages));
        Some(CheckedPackages {
            findings: checked.findings,
            facts: checked.facts,
            verdict: checked.verdict,
        })
    }
}
