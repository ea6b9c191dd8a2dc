//! Checks that need sources of packages: mirrors and directories at hand, and registries.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use super::groups::Groups;
use super::inputs::RootInputs;
use super::known::{ClaimGaps, KnownHashes, PackageFacts};
use super::packages::{
    self, InstallSource, PackageMemo, PackageOrigin, PackagePlace, PackageSearch, RootCount,
    Single, Unscanned,
};
use super::run::RootVerdict;
use super::subject::CheckedLock;
use super::upstream::{self, Registries};
use super::{ages, signers, stated};
use crate::addr::ProviderAddr;
use crate::authenticate::Signer;
use crate::coverage::Attributions;
use crate::diag::{Finding, Severity};
use crate::hash::Hash;
use crate::locker::LockError;
use crate::package::WantedPlatforms;

pub(super) use super::upstream::Answers;

/// The packages and the registries that a root is compared with.
pub struct SourceChecks<'a, 'm> {
    /// The packages to check; `None` without a disk.
    pub packages: Option<PackageChecks<'a, 'm>>,
    /// The registries to ask.
    pub upstream: Upstream<'a, 'm>,
}

/// The packages that are checked.
pub struct PackageChecks<'a, 'm> {
    /// The packages that were hashed so far in the run.
    pub memo: &'a mut PackageMemo<'m>,
    /// Directories laid out as mirrors, in the order in which the program asks them.
    pub places: &'a [PackagePlace],
    /// Packages that the user names one by one.
    pub singles: &'a [Single],
    /// The number of roots, since a package that the user names may belong to another one.
    pub scope: RootCount,
    /// Returns the sources from which the program installs a provider, in its order.
    pub sources: &'a dyn Fn(&ProviderAddr) -> Vec<InstallSource>,
    /// The program may use a cached package of which the lock file holds no hash.
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

/// The packages that were checked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PackagesVerdict {
    /// The number of packages of each origin that match a recorded hash.
    pub verified: BTreeMap<PackageOrigin, usize>,
    /// The number of packages that do not, or that cannot be hashed.
    pub not_verified: usize,
    /// Those that the user named and that belong to no entry of this lock file.
    pub unplaced: Vec<PathBuf>,
}

/// The reason why a check could not be done.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
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

impl<'a, 'm> SourceChecks<'a, 'm> {
    /// Returns checks that look at no package and ask no registry.
    #[must_use]
    pub fn none() -> Self {
        Self {
            packages: None,
            upstream: Upstream::NotAsked,
        }
    }

    /// Asks registries about locked releases, if they are to be asked.
    pub(super) fn ask(&mut self, subject: CheckedLock<'_>, verdict: &mut RootVerdict) -> Answers {
        let answers = match &mut self.upstream {
            Upstream::NotAsked => return Answers::new(),
            Upstream::Blocked => {
                verdict.failures.push(CheckError::NotAsked);
                Answers::new()
            }
            Upstream::Ask(registries) => {
                let (answers, errors) = registries.ask(subject);
                verdict
                    .failures
                    .extend(errors.into_iter().map(CheckError::Release));
                answers
            }
        };
        let signed_lists = answers
            .values()
            .filter_map(|answer| answer.list.as_ref())
            // OpenTofu accepts lists that no key signs (`authenticate` rules 4.1).
            .filter(|list| !list.signers.is_empty())
            .count();
        verdict.signed_lists = Some(signed_lists);
        answers
    }

    /// Returns the packages of this machine for locked or required providers.
    pub(super) fn machines(&mut self, subject: CheckedLock<'_>) -> PackageFacts {
        let mut facts = PackageFacts::default();
        if let Some(packages) = &mut self.packages {
            let no_facts = Attributions::new();
            let search = packages.search(None, &no_facts);
            facts.machines = packages::machines(packages.memo, subject, search);
        }
        facts
    }

    /// Checks packages, and returns the hashes that they prove.
    pub(super) fn check_packages(
        &mut self,
        subject: CheckedLock<'_>,
        wanted: &WantedPlatforms,
        attributions: &Attributions,
        verdict: &mut RootVerdict,
    ) -> PackageFacts {
        let Some(packages) = &mut self.packages else {
            return PackageFacts::default();
        };
        let search = packages.search(Some(wanted), attributions);
        let checked = packages::check(packages.memo, subject, search);
        verdict.findings.extend(checked.findings);
        let mut unplaced = Vec::new();
        for (path, mut finding) in checked.unplaced {
            if packages.scope == RootCount::Several {
                // It may belong to another root; if not, that is reported once for all of them.
                finding.diagnostic.severity = Severity::Note;
            }
            verdict.findings.push(finding);
            unplaced.push(path);
        }
        verdict
            .failures
            .extend(checked.failures.into_iter().map(CheckError::Packages));
        verdict.packages = Some(PackagesVerdict {
            verified: checked.verified,
            not_verified: checked.not_verified,
            unplaced,
        });
        PackageFacts {
            known: checked.known,
            zips: KnownHashes::new(),
            installed: checked.installed,
            refused: checked.refused,
            altered: checked.altered,
            machines: checked.machines,
        }
    }

    /// Checks the part of a policy that depends on the answers of registries: the age and the signers of
    /// releases.
    pub(super) fn check_policy(
        &mut self,
        root: &RootInputs<'_>,
        groups: &Groups,
        subject: CheckedLock<'_>,
        answers: &Answers,
    ) -> Vec<Finding> {
        let Some(policy) = &root.project.policy else {
            return Vec::new();
        };
        let mut findings = Vec::new();
        if let (Some(age), Upstream::Ask(registries)) = (policy.age(), &mut self.upstream)
            && groups.compare_with_policy()
        {
            // Dates take requests of their own (`sources` rules 11), so they wait for a policy that needs them.
            let dates = registries.dates(subject, answers);
            let now = registries.now();
            findings.extend(ages::check(subject, &age, &dates, now, root.project_file));
        }
        if self.asks() && groups.compare_with_policy() {
            let signers = answers
                .iter()
                .filter_map(|(provider, answer)| {
                    let signers = answer.list.as_ref()?.signers.iter();
                    Some((provider.clone(), signers.map(Signer::key).collect()))
                })
                .collect();
            findings.extend(signers::check(subject, policy, &signers, root.project_file));
        }
        findings
    }

    /// Returns true if registries were to be asked.
    pub(super) fn asks(&self) -> bool {
        !matches!(self.upstream, Upstream::NotAsked)
    }
}

/// Compares a lock file with the answers of registries about its entries.
pub(super) fn compare(
    subject: CheckedLock<'_>,
    answers: &Answers,
    attributions: &Attributions,
) -> Vec<Finding> {
    let mut findings = upstream::check(subject, answers);
    findings.extend(stated::check(subject, answers, attributions));
    findings
}

/// Returns the platforms whose `h1:` a registry states, and an entry lacks.
pub(super) fn claim_gaps(
    subject: CheckedLock<'_>,
    answers: &Answers,
    attributions: &Attributions,
) -> ClaimGaps {
    stated::gaps(subject, answers, attributions)
}

/// Returns true if the signed list of the locked release has a hash.
pub(super) fn is_listed(answers: &Answers, provider: &ProviderAddr, hash: &Hash) -> bool {
    upstream::signed_list(answers, provider).is_some_and(|list| list.hashes.contains(hash))
}
