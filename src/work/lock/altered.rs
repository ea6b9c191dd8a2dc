//! Installed packages whose recorded hash the packages of the run contradict.

use super::job::LockJob;
use super::opened::OpenRoot;
use crate::coverage::Attributions;
use crate::diag::{Finding, rules};
use crate::locker::{Locked, ProviderOutcome};
use crate::packages::PackagePlace;
use crate::report::Failure;

impl LockJob<'_, '_> {
    /// Returns true if the run judges every recorded hash, not only those of wanted platforms.
    pub(super) fn compares_all(&self) -> bool {
        self.options.check || self.options.prove
    }

    /// Reports the installed packages that have a recorded hash, although the signed package of their platform
    /// has another one.
    ///
    /// # Errors
    /// If the installed packages cannot be read.
    pub(super) fn altered(
        &mut self,
        opened: &OpenRoot,
        locked: &Locked,
    ) -> Result<Vec<Finding>, Failure> {
        let root = &opened.root;
        let Some(lock) = root.lock.as_ref().filter(|_| self.compares_all()) else {
            return Ok(Vec::new());
        };
        let recorded = &lock.document.lock.providers;
        let facts: Attributions = locked
            .providers
            .iter()
            // Without such an outcome, the run has compared every recorded `h1:`, and no package need be hashed
            // again.
            .filter(|outcome| !outcome.not_compared.is_empty())
            .filter_map(|outcome| {
                let ProviderOutcome {
                    provider, version, ..
                } = outcome;
                let hashes = &recorded.get(provider)?.hashes;
                let trusted = self.session.facts.trusted(root);
                let found = self
                    .session
                    .facts
                    .attribute(trusted, provider, version, hashes);
                let is_signed = |platform| !outcome.unsigned.contains(platform);
                let signed = outcome
                    .computed
                    .iter()
                    .filter(|(platform, _)| is_signed(*platform));
                let signed = signed.map(|(platform, h1)| (platform.clone(), h1.clone()));
                Some((provider.clone(), found.with_hashed(signed.collect())))
            })
            .collect();
        if facts.is_empty() {
            return Ok(Vec::new());
        }
        let places = [PackagePlace::installed(
            root.providers_dir(self.session.world.env),
        )];
        let checked = root.packages(lock, &mut self.packages, &places, &facts)?;
        let is_altered = |finding: &Finding| {
            finding.diagnostic.code == rules::PACKAGE_MISMATCH
                && checked.facts.altered.iter().any(|altered| {
                    finding.provider.as_ref() == Some(&altered.id.provider)
                        && finding.platform.as_ref() == Some(&altered.id.platform)
                })
        };
        Ok(checked.findings.into_iter().filter(is_altered).collect())
    }
}
