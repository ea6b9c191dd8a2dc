//! Checks that need packages or registries, which this room does not know.

use std::collections::BTreeMap;

use super::groups::Groups;
use super::inputs::RootInputs;
use super::known::{ClaimGaps, PackageFacts, PackagesVerdict};
use super::subject::CheckedLock;
use crate::addr::ProviderAddr;
use crate::coverage::Attributions;
use crate::diag::Finding;
use crate::hash::Hash;
use crate::package::{SignerKey, WantedPlatforms};

/// The packages and the registries that a root is compared with.
///
/// [`run`](super::run) calls [`ask`](Self::ask) before everything that depends on answers.
pub trait SourceChecks {
    /// Asks registries about locked releases, and keeps their answers. Returns the number of signed lists among
    /// them; `None` if no registry was to be asked.
    fn ask(&mut self, subject: CheckedLock<'_>) -> Option<usize>;

    /// Returns true if registries were to be asked.
    fn asks(&self) -> bool;

    /// Returns true if a registry answered about the locked release of a provider.
    fn has_answer(&self, provider: &ProviderAddr) -> bool;

    /// Returns true if the signed list of the locked release has a hash.
    fn is_listed(&self, provider: &ProviderAddr, hash: &Hash) -> bool;

    /// Compares a lock file with the answers of registries about its entries.
    fn compare(&self, subject: CheckedLock<'_>, attributions: &Attributions) -> Vec<Finding>;

    /// Returns the platforms whose `h1:` a registry states, and an entry lacks.
    fn claim_gaps(&self, subject: CheckedLock<'_>, attributions: &Attributions) -> ClaimGaps;

    /// Returns the keys that signed the locked releases, by the answers of registries; none of a key means that
    /// nothing signs it.
    fn signers(&self) -> BTreeMap<ProviderAddr, Vec<SignerKey>>;

    /// Checks the part of a policy that depends on the answers of registries: the age and the signers of releases.
    fn check_policy(
        &mut self,
        root: &RootInputs<'_>,
        groups: &Groups,
        subject: CheckedLock<'_>,
    ) -> Vec<Finding>;

    /// Returns the packages of this machine for locked or required providers.
    fn machines(&mut self, subject: CheckedLock<'_>) -> PackageFacts;

    /// Checks packages; `None` if there is no disk to look at.
    fn check_packages(
        &mut self,
        subject: CheckedLock<'_>,
        wanted: &WantedPlatforms,
        attributions: &Attributions,
    ) -> Option<CheckedPackages>;
}

/// The result of checking the packages of a root.
#[derive(Debug)]
pub struct CheckedPackages {
    /// The faults of packages.
    pub findings: Vec<Finding>,
    /// The hashes that packages prove.
    pub facts: PackageFacts,
    /// The packages that were checked.
    pub verdict: PackagesVerdict,
}

/// No packages and no registries.
#[derive(Clone, Copy, Debug)]
pub struct NoSources;

impl SourceChecks for NoSources {
    fn ask(&mut self, _: CheckedLock<'_>) -> Option<usize> {
        None
    }

    fn asks(&self) -> bool {
        false
    }

    fn has_answer(&self, _: &ProviderAddr) -> bool {
        false
    }

    fn is_listed(&self, _: &ProviderAddr, _: &Hash) -> bool {
        false
    }

    fn compare(&self, _: CheckedLock<'_>, _: &Attributions) -> Vec<Finding> {
        Vec::new()
    }

    fn claim_gaps(&self, _: CheckedLock<'_>, _: &Attributions) -> ClaimGaps {
        ClaimGaps::new()
    }

    fn signers(&self) -> BTreeMap<ProviderAddr, Vec<SignerKey>> {
        BTreeMap::new()
    }

    fn check_policy(&mut self, _: &RootInputs<'_>, _: &Groups, _: CheckedLock<'_>) -> Vec<Finding> {
        Vec::new()
    }

    fn machines(&mut self, _: CheckedLock<'_>) -> PackageFacts {
        PackageFacts::default()
    }

    fn check_packages(
        &mut self,
        _: CheckedLock<'_>,
        _: &WantedPlatforms,
        _: &Attributions,
    ) -> Option<CheckedPackages> {
        None
    }
}
