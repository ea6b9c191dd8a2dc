//! Pinned signing keys, of which a check without registries can only say that nothing was compared with them.

use super::subject::Subject;
use crate::addr::ProviderAddr;
use crate::diag::{Diagnostic, Finding, rules};
use crate::package::KeyId;
use crate::project::Policy;

/// Says which pinned keys nothing was compared with, because registries were not asked.
#[must_use]
pub fn not_compared(subject: Subject<'_>, policy: &Policy, project_file: &str) -> Vec<Finding> {
    let pinned = pinned(subject, policy).into_iter();
    let notes = pinned.map(|(provider, key)| {
        let title = format!("the key of {provider} is compared with --upstream only");
        let remark = format!("{} is pinned in {project_file}", key.as_str());
        let diagnostic = Diagnostic::note(rules::KEY_NOT_COMPARED, title)
            .at(subject.file, subject.header(provider), remark)
            .help(
                subject
                    .advice
                    .verify
                    .with("--upstream")
                    .run(" where the registry can be reached"),
            );
        Finding::about(provider, diagnostic)
    });
    notes.collect()
}

/// Lists the locked providers that have a pinned key.
pub(super) fn pinned<'a>(
    subject: Subject<'a>,
    policy: &'a Policy,
) -> Vec<(&'a ProviderAddr, &'a KeyId)> {
    let providers = subject.document.lock.providers.keys();
    let pinned = providers.filter_map(|provider| {
        let mut keys = policy.keys.iter();
        let own = keys.find(|pin| pin.provider.means(provider, subject.flavor));
        own.map(|pin| (provider, &pin.key))
    });
    pinned.collect()
}
