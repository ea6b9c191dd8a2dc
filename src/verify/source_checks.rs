//! Checks that need sources of packages: mirrors and directories at hand, and registries.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use super::groups::{Group, Groups};
use super::inputs::RootInputs;
use super::known::{KnownHashes, PackageFacts};
use super::packages::{
    self, InstallSource, Memo, Origin, PackagePlace, Scope, Search, Single, Unscanned,
};
use super::run::RootVerdict;
use super::subject::Subject;
use super::upstream::{self, Registries};
use super::{ages, keys, signers, stated};
use crate::addr::ProviderAddr;
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

/// Which packages are checked.
pub struct PackageChecks<'a, 'm> {
    /// What was hashed so far in the run.
    pub memo: &'a mut Memo<'m>,
    /// Directories laid out as mirrors, in the order in which the program asks them.
    pub places: &'a [PackagePlace],
    /// Packages that the user names one by one.
    pub singles: &'a [Single],
    /// Whether a package that the user names may belong to another root.
    pub scope: Scope,
    /// Where the program installs a provider from, in its order.
    pub sources: &'a dyn Fn(&ProviderAddr) -> Vec<InstallSource>,
    /// Whether the program may use a cached package of which the lock file holds no hash.
    pub cache_may_break: bool,
}

impl<'a> PackageChecks<'a, '_> {
    /// Returns where to look, for these platforms.
    fn search<'s>(&self, wanted: Option<&'s WantedPlatforms>, facts: &'s Attributions) -> Search<'s>
    where
        'a: 's,
    {
        Search {
            facts,
            places: self.places,
            singles: self.singles,
            wanted,
            sources: self.sources,
            cache_may_break: self.cache_may_break,
        }
    }
}

/// Whether registries are asked about what is locked.
pub enum Upstream<'a, 'm> {
    /// They are not.
    NotAsked,
    /// They should be, but the CLI configuration has errors, so how to ask is unknown.
    Blocked,
    /// They are.
    Ask(&'a mut Registries<'m>),
}

/// Which packages were checked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PackagesVerdict {
    /// How many, by what they are to the program.
    pub counts: BTreeMap<Origin, usize>,
    /// Those that the user named and that belong to no entry of this lock file.
    pub unplaced: Vec<PathBuf>,
}

/// Why something could not be checked.
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

    /// Asks registries about what is locked, if they are to be asked.
    pub(super) fn ask(&mut self, subject: Subject<'_>, verdict: &mut RootVerdict) -> Answers {
        let answers = match &mut self.upstream {
            Upstream::NotAsked => return Answers::new(),
            Upstream::Blocked => {
                verdict.failures.push(CheckError::NotAsked);
                Answers::new()
            }
            Upstream::Ask(registries) => {
                let (answers, errors) = registries.ask(subject);
                let errors = errors.into_iter().map(CheckError::Release);
                verdict.failures.extend(errors);
                answers
            }
        };
        let lists = answers.values().filter_map(|answer| answer.list.as_ref());
        let signed = lists.filter(|list| !list.signers.is_empty());
        verdict.signed_lists = Some(signed.count());
        answers
    }

    /// Returns the packages of this machine for what is locked or required.
    pub(super) fn machines(&mut self, subject: Subject<'_>) -> PackageFacts {
        let mut facts = PackageFacts::default();
        if let Some(packages) = &mut self.packages {
            let no_facts = Attributions::new();
            let search = packages.search(None, &no_facts);
            facts.machines = packages::machines(packages.memo, subject, search);
        }
        facts
    }

    /// Checks packages, and returns what they prove about the recorded hashes.
    pub(super) fn check_packages(
        &mut self,
        subject: Subject<'_>,
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
            if packages.scope == Scope::OneOfSeveralRoots {
                // It may belong to another root; if not, that is reported once for all of them.
                finding.diagnostic.severity = Severity::Note;
            }
            verdict.findings.push(finding);
            unplaced.push(path);
        }
        let failures = checked.failures.into_iter().map(CheckError::Packages);
        verdict.failures.extend(failures);
        verdict.packages = Some(PackagesVerdict {
            counts: checked.counts,
            unplaced,
        });
        PackageFacts {
            known: checked.known,
            zips: KnownHashes::new(),
            installed: checked.installed,
            refused: checked.refused,
            machines: checked.machines,
        }
    }

    /// Checks the part of a policy that depends on what registries say: the age of releases, and who
    /// signed them.
    pub(super) fn check_policy(
        &mut self,
        root: &RootInputs<'_>,
        groups: &Groups,
        subject: Subject<'_>,
        answers: &Answers,
    ) -> Vec<Finding> {
        let Some(policy) = &root.project.policy else {
            return Vec::new();
        };
        let mut findings = Vec::new();
        if let (Some(age), Upstream::Ask(registries)) = (policy.age(), &mut self.upstream)
            && groups.compare_with_policy()
        {
            let dates = registries.dates(subject, answers);
            let now = registries.now();
            findings.extend(ages::check(subject, &age, &dates, now, root.project_file));
        }
        match self.upstream {
            Upstream::NotAsked if groups.wants(Group::Policy) => {
                findings.extend(keys::not_compared(subject, policy, root.project_file));
            }
            Upstream::Blocked | Upstream::Ask(_) if groups.compare_with_policy() => {
                findings.extend(signers::check(subject, policy, answers, root.project_file));
            }
            _ => {}
        }
        findings
    }
}

/// Compares a lock file with what registries say of its entries.
pub(super) fn compare(
    subject: Subject<'_>,
    answers: &Answers,
    attributions: &Attributions,
) -> Vec<Finding> {
    let mut findings = upstream::check(subject, answers);
    findings.extend(stated::check(subject, answers, attributions));
    findings
}

/// Returns true if the signed list of the locked release has a hash.
pub(super) fn is_listed(answers: &Answers, provider: &ProviderAddr, hash: &Hash) -> bool {
    let list = answers
        .get(provider)
        .and_then(|answer| answer.list.as_ref());
    list.is_some_and(|list| list.hashes.contains(hash))
}
