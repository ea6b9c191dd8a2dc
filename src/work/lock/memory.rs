//! Locked releases, compared with the memory of the project file.

use super::job::LockJob;
use crate::changes;
use crate::locker::{Locked, ProviderOutcome};
use crate::report::RootResult;
use crate::run::root::Root;
use crate::verify::{self, AskedAttestations, KnownOrigins, LockedReleases, LockedSigners};

impl LockJob<'_, '_> {
    /// Asks for attestations, if that is wanted. The lock file does not depend on them, so what cannot be
    /// asked is a warning.
    pub(super) fn attestations(
        &mut self,
        root: &Root,
        locked: &Locked,
        result: &mut RootResult,
    ) -> AskedAttestations {
        let Some(attester) = &mut self.attester else {
            return AskedAttestations::default();
        };
        let found = attester.of_root(root, &locked.lock, &|provider| {
            let outcome = locked
                .providers
                .iter()
                .find(|it| it.provider == *provider)?;
            let hashes = locked.lock.providers.get(provider)?.hashes.iter();
            // Only a package that was downloaded in this run has an address.
            hashes
                .filter_map(|hash| outcome.evidence.of(hash)?.package)
                .next()
        });
        let found = match found {
            Ok(found) => found,
            Err(failure) => {
                result.fail(failure);
                return AskedAttestations::default();
            }
        };
        for failure in &found.failures {
            result.warn(changes::sentence(failure).text);
        }
        for (provider, reason) in &found.asked.invalid {
            result.warn(format!(
                "a package of {provider} counts as not attested: {reason}"
            ));
        }
        found.asked
    }

    /// Warns of steps down: they are for people to judge, and `verify` reports them until they are accepted.
    pub(super) fn warn_of_steps_down(
        &self,
        root: &Root,
        locked: &Locked,
        asked: AskedAttestations,
        result: &mut RootResult,
    ) {
        let project = root.project();
        if project.trust.memory.is_empty() {
            return;
        }
        let stated: LockedSigners = locked
            .providers
            .iter()
            // A package of a mirror says nothing of its signature.
            .filter(|outcome| !outcome.signers.is_empty() || outcome.is_unsigned_release)
            .map(
                |ProviderOutcome {
                     provider, signers, ..
                 }| {
                    (
                        provider.clone(),
                        signers.iter().map(|signer| signer.key.clone()).collect(),
                    )
                },
            )
            .collect();
        let releases = LockedReleases {
            asked,
            ..self
                .session
                .facts
                .releases(root, &locked.lock, self.session.world)
        };
        let known = KnownOrigins {
            locked: &releases,
            stated: Some(&stated),
            releases: &|provider| self.session.facts.known_signers(root, provider),
            builds: &self.session.facts.builds(root, &locked.lock),
        };
        let steps = verify::steps_down(&locked.lock, project, root.flavor, known);
        for (provider, step) in steps {
            let name = provider.short(root.flavor);
            let version = &locked.lock.providers[provider].version;
            result.warn(format!(
                "{name} {version} is {}: `verify` reports it until it is accepted, and `lockctl explain {}` says how",
                step.in_full(),
                step.rule
            ));
        }
    }
}
