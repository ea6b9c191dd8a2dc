//! Pinned signing keys, which a check without registries cannot compare with signatures.

use super::subject::CheckedLock;
use crate::addr::ProviderAddr;
use crate::diag::{Diagnostic, Finding, rules};
use crate::package::KeyId;
use crate::project::Policy;

/// Reports pinned keys that were not compared, because registries were not asked and no fact knows the
/// signers.
#[must_use]
pub(super) fn not_compared(
    subject: CheckedLock<'_>,
    policy: &Policy,
    project_file: &str,
    is_known: impl Fn(&ProviderAddr) -> bool,
) -> Vec<Finding> {
    let mut notes = Vec::new();
    for (provider, key) in pinned(subject, policy) {
        if is_known(provider) {
            continue;
        }
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
        notes.push(Finding::about(provider, diagnostic));
    }
    notes
}

/// Lists the locked providers that have a pinned key.
pub(super) fn pinned<'a>(
    subject: CheckedLock<'a>,
    policy: &'a Policy,
) -> Vec<(&'a ProviderAddr, &'a KeyId)> {
    let mut pinned = Vec::new();
    for provider in subject.document.lock.providers.keys() {
        let pin = policy
            .keys
            .iter()
            .find(|pin| pin.provider.means(provider, subject.flavor));
        pinned.extend(pin.map(|pin| (provider, &pin.key)));
    }
    pinned
}
