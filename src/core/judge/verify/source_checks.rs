//! Checks that need packages or registries, which this room does not know.

use super::groups::Groups;
use super::inputs::RootInputs;
use super::known::{ClaimGaps, LockedSigners, PackageFacts, PackagesVerdict};
use super::subject::CheckedLock;
use crate::addr::ProviderAddr;
use crate::coverage::Attributions;
use crate::diag::Finding;
use crate::hash::Hash;
use crate::package::WantedPlatforms;

/// The packages and the registries that a root is compared with.
///
/// [`run`](super::run) calls [`ask`](Self::ask) before everything that depends on answers. The answers here are those
/// of a run without packages and registries.
pub trait SourceChecks {
    /// Asks registries about locked releases, and keeps their answers. Returns the number of signed lists among
    /// them; `None` if no registry was to be asked.
    fn ask(&mut self, _subject: CheckedLock<'_>) -> Option<usize> {
        None
    }

    /// Returns true if registries were to be asked.
    fn asks(&self) -> bool {
        false
    }

    /// Returns true if a registry answered about the locked release of a provider.
    fn has_answer(&self, _provider: &ProviderAddr) -> bool {
        false
    }

    /// Returns true if the signed list of the locked release has a hash.
    fn is_listed(&self, _provider: &ProviderAddr, _hash: &Hash) -> bool {
        false
    }

    /// Compares a lock file with the answers of registries about its entries.
    fn compare(&self, _subject: CheckedLock<'_>, _: &Attributions) -> Vec<Finding> {
        Vec::new()
    }

    /// Returns the platforms whose `h1:` a registry states, and an entry lacks.
    fn claim_gaps(&self, _subject: CheckedLock<'_>, _: &Attributions) -> ClaimGaps {
        ClaimGaps::new()
    }

    /// Returns the keys that signed the locked releases, by the answers of registries; none of a key means that
    /// nothing signs it.
    fn signers(&self) -> LockedSigners {
        LockedSigners::new()
    }

    /// Checks the part of a policy that depends on the answers of registries: the age and the signers of releases.
    fn check_policy(
        &mut self,
        _root: &RootInputs<'_>,
        _: &Groups,
        _subject: CheckedLock<'_>,
    ) -> Vec<Finding> {
        Vec::new()
    }

    /// Returns the packages of this machine for locked or required providers.
    fn machines(&mut self, _subject: CheckedLock<'_>) -> PackageFacts {
        PackageFacts::default()
    }

    /// Checks packages; `None` if there is no disk to look at.
    fn check_packages(
        &mut self,
        _subject: CheckedLock<'_>,
        _wanted: &WantedPlatforms,
        _: &Attributions,
    ) -> Option<CheckedPackages> {
        None
    }
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

impl SourceChecks for NoSources {}
