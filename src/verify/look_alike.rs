//! Providers whose names may have been mistaken for others.

use super::subject::CheckedLock;
use crate::addr::{ProviderAddr, look_alike};
use crate::diag::{Diagnostic, Finding, rules};

/// Reports providers whose namespace is one typing error away from that of a known publisher, or of
/// another provider in the lock file.
pub(super) fn check(subject: CheckedLock<'_>) -> Vec<Finding> {
    let providers = &subject.document.lock.providers;
    let count_in = |namespace: &str| {
        providers
            .keys()
            .filter(|addr| addr.namespace() == namespace)
            .count()
    };
    // Of two namespaces that resemble each other the one with fewer providers is reported, or else the second.
    let is_before = |a: &ProviderAddr, b: &ProviderAddr| {
        let (of_a, of_b) = (count_in(a.namespace()), count_in(b.namespace()));
        of_a > of_b || of_a == of_b && a.namespace() < b.namespace()
    };
    let mut findings = Vec::new();
    for addr in providers.keys() {
        let others = providers.keys().filter(|other| is_before(other, addr));
        let Some(look_alike) = look_alike(addr, others) else {
            continue;
        };
        let title = format!("{addr} has a name that is easy to confuse: {look_alike}");
        let diagnostic = Diagnostic::warning(rules::LOOK_ALIKE_PROVIDER, title)
            .at(subject.file, subject.header(addr), "locked here")
            .help(format!(
                "compare the address with the documentation of the provider, and correct `source`; \
                 `lockctl why {addr}` shows which module requires it"
            ));
        findings.push(Finding::about(addr, diagnostic));
    }
    findings
}
