//! Locked releases, compared with the memory of the project file.

use std::collections::BTreeMap;

use super::job::LockJob;
use crate::addr::ProviderAddr;
use crate::authenticate::Signer;
use crate::locker::{Locked, ProviderOutcome};
use crate::package::SignerKey;
use crate::report::RootResult;
use crate::run::root::Root;
use crate::verify;

impl LockJob<'_, '_> {
    /// Warns of steps down: they are for people to judge, and `verify` reports them until they are accepted.
    pub(super) fn warn_of_steps_down(&self, root: &Root, locked: &Locked, result: &mut RootResult) {
        let project = root.project();
        if project.trust.memory.is_empty() {
            return;
        }
        let signers: BTreeMap<ProviderAddr, Vec<SignerKey>> = locked
            .providers
            .iter()
            // A package of a mirror says nothing of its signature.
            .filter(|outcome| !outcome.signers.is_empty() || outcome.is_unsigned_release)
            .map(
                |ProviderOutcome {
                     provider, signers, ..
                 }| {
                    (provider.clone(), signers.iter().map(Signer::key).collect())
                },
            )
            .collect();
        let builds = self.session.facts.builds(root, &locked.lock);
        let steps = verify::steps_down(&locked.lock, project, root.flavor, &signers, &builds);
        for (provider, step) in steps {
            let name = provider.short(root.flavor);
            let version = &locked.lock.providers[provider].version;
            result.warn(format!(
                "{name} {version} is {step}: `verify` reports it until it is accepted, and `lockctl explain {}` \
                 says how",
                step.rule()
            ));
        }
    }
}
