//! Providers that have another address now.

use super::subject::CheckedLock;
use crate::diag::{Diagnostic, Finding, rules};

/// Reports locked providers that are known to have another address now.
pub(super) fn check(subject: CheckedLock<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for provider in subject.document.lock.providers.keys() {
        let Some(successor) = provider.successor() else {
            continue;
        };
        let new = successor.short(subject.flavor);
        let name = provider.short(subject.flavor);
        let replace = subject.advice.replace(&name, &new);
        let diagnostic = Diagnostic::note(rules::PROVIDER_MOVED, format!("{name} moved to {new}"))
            .at(subject.file, subject.header(provider), "locked here")
            .help(replace.run(" to follow it"));
        findings.push(Finding::about(provider, diagnostic));
    }
    findings
}
