//! `source_checks` of a build without the feature `fetch`, which has no sources of packages: nothing is
//! compared with packages or registries.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::marker::PhantomData;

use super::groups::Groups;
use super::inputs::RootInputs;
use super::known::{ClaimGaps, PackageFacts};
use super::run::RootVerdict;
use super::subject::CheckedLock;
use crate::addr::ProviderAddr;
use crate::coverage::Attributions;
use crate::diag::Finding;
use crate::hash::Hash;
use crate::package::WantedPlatforms;

/// The answers of registries, none of which is ever asked.
pub(super) type Answers = BTreeMap<ProviderAddr, Infallible>;

/// The packages and the registries that a root is compared with: none.
#[derive(Debug)]
pub struct SourceChecks<'a, 'm>(PhantomData<(&'a (), &'m ())>);

/// The packages that were checked: always none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PackagesVerdict {}

/// The reason why something could not be checked; without sources there is none.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CheckError {}

impl SourceChecks<'_, '_> {
    /// Returns checks that look at no package and ask no registry.
    #[must_use]
    pub fn none() -> Self {
        Self(PhantomData)
    }

    #[expect(clippy::unused_self, reason = "with sources it is needed")]
    pub(super) fn ask(&mut self, _: CheckedLock<'_>, _: &mut RootVerdict) -> Answers {
        Answers::new()
    }

    #[expect(clippy::unused_self, reason = "with sources it is needed")]
    pub(super) fn machines(&mut self, _: CheckedLock<'_>) -> PackageFacts {
        PackageFacts::default()
    }

    #[expect(clippy::unused_self, reason = "with sources it is needed")]
    pub(super) fn check_packages(
        &mut self,
        _: CheckedLock<'_>,
        _: &WantedPlatforms,
        _: &Attributions,
        _: &mut RootVerdict,
    ) -> PackageFacts {
        PackageFacts::default()
    }

    #[expect(clippy::unused_self, reason = "with sources it is needed")]
    pub(super) fn check_policy(
        &mut self,
        _: &RootInputs<'_>,
        _: &Groups,
        _: CheckedLock<'_>,
        _: &Answers,
    ) -> Vec<Finding> {
        Vec::new()
    }

    /// Returns true if registries were to be asked: never.
    #[expect(clippy::unused_self, reason = "with sources it is needed")]
    pub(super) fn asks(&self) -> bool {
        false
    }
}

/// Compares a lock file with the answers of registries about its entries: there are none.
pub(super) fn compare(_: CheckedLock<'_>, _: &Answers, _: &Attributions) -> Vec<Finding> {
    Vec::new()
}

/// Returns the platforms whose `h1:` a registry states: there are none.
pub(super) fn claim_gaps(_: CheckedLock<'_>, _: &Answers, _: &Attributions) -> ClaimGaps {
    ClaimGaps::new()
}

/// Returns true if the signed list of the locked release has a hash; there is no list.
pub(super) fn is_listed(_: &Answers, _: &ProviderAddr, _: &Hash) -> bool {
    false
}
