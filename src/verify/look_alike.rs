//! Providers whose names may have been mistaken for others.

use super::subject::Subject;
use crate::addr::{ProviderAddr, look_alike};
use crate::diag::{Diagnostic, Finding, rules};

/// Reports providers whose namespace is one typing error away from that of a known publisher, or of
/// another provider in the lock file.
pub(super) fn check(subject: Subject<'_>) -> Vec<Finding> {
    let providers = &subject.document.lock.providers;
    let of = |namespace: &str| {
        let all = providers.keys();
        all.filter(|addr| addr.namespace() == namespace).count()
    };
    // Of two that resemble each other the one with fewer providers is reported, or else the second.
    let is_before = |one: &ProviderAddr, other: &ProviderAddr| {
        let (own, others) = (of(one.namespace()), of(other.namespace()));
        own > others || own == others && one.namespace() < other.namespace()
    };
    let found = providers.keys().filter_map(|addr| {
        let others = providers.keys().filter(|other| is_before(other, addr));
        let found = look_alike(addr, others)?;
        let title = format!("{addr} has a name that is easy to confuse: {found}");
        let diagnostic = Diagnostic::warning(rules::LOOK_ALIKE_PROVIDER, title)
            .at(subject.file, subject.header(addr), "locked here")
            .help(format!(
                "compare the address with the documentation of the provider, and correct `source`; \
                 `lockctl why {addr}` shows which module requires it"
            ));
        Some(Finding::about(addr, diagnostic))
    });
    found.collect()
}
