//! Pinned signing keys against those of signatures: the part of a policy that needs the signers of releases.

use std::collections::BTreeSet;

use super::subject::CheckedLock;
use crate::addr::ProviderAddr;
use crate::diag::{Diagnostic, Finding, rules};
use crate::package::{KeyId, SignerKey};
use crate::project::Policy;

/// Checks that each release is signed by the key that the project file of that name pins for its
/// provider, if it pins one.
///
/// A primary key includes its subkeys; a subkey means itself alone. A release whose signers are unknown is
/// skipped.
#[must_use]
pub fn check<'s>(
    subject: CheckedLock<'_>,
    policy: &Policy,
    signers: impl Fn(&ProviderAddr) -> Option<&'s BTreeSet<SignerKey>>,
    project_file: &str,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (provider, key) in pinned(subject, policy) {
        let Some(signers) = signers(provider) else {
            continue;
        };
        let version = &subject.document.lock.providers[provider].version;
        let mut refuse = |title: String, remark: String, help: &str| {
            let diagnostic = Diagnostic::error(rules::KEY_NOT_ALLOWED, title)
                .at(subject.file, subject.version(provider), remark)
                .help(format!("{project_file} pins {}: {help}", key.as_str()));
            findings.push(Finding::about(provider, diagnostic));
        };
        // With a pin an unsigned release is refused, which the programs accept (`locker` rules 3.4).
        if signers.is_empty() {
            refuse(
                format!("{provider} {version} is not signed, and the policy pins a key"),
                "its registry names no key".to_owned(),
                "find out why the registry does not name that key any more",
            );
        }
        // Each platform may have a list of its own, and every one of them must be signed by the pinned key.
        for signer in signers.iter().filter(|signer| !signer.is(key)) {
            let by_subkey = match &signer.subkey {
                Some(subkey) => format!(", by its subkey {subkey}"),
                None => String::new(),
            };
            refuse(
                format!(
                    "{provider} {version} is signed by key {}, which the policy does not pin",
                    signer.key_id()
                ),
                format!("signed by {}{by_subkey}", signer.fingerprint),
                "only if the publisher says that the key has changed, pin the new one there",
            );
        }
    }
    findings
}

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
