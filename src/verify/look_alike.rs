//! Providers whose names may have been mistaken for others.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::subject::CheckedLock;
use crate::addr::{RankedProvider, look_alikes};
use crate::diag::{Diagnostic, Finding, rules};

/// Reports providers whose namespace is one typing error away from that of a known publisher, or of
/// another provider in the lock file.
pub(super) fn check(subject: CheckedLock<'_>) -> Vec<Finding> {
    let providers = &subject.document.lock.providers;
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for addr in providers.keys() {
        *counts.entry(addr.namespace()).or_default() += 1;
    }
    // Of two namespaces that resemble each other the one with fewer providers is reported, or else the second.
    let namespaces: BTreeSet<(Reverse<usize>, &str)> = counts
        .into_iter()
        .map(|(namespace, count)| (Reverse(count), namespace))
        .collect();
    let ranks: BTreeMap<&str, usize> = namespaces
        .iter()
        .enumerate()
        .map(|(rank, (_, namespace))| (*namespace, rank))
        .collect();
    let ranked: Vec<RankedProvider<'_>> = providers
        .keys()
        .map(|addr| RankedProvider {
            addr,
            rank: ranks[addr.namespace()],
        })
        .collect();
    let mut findings = Vec::new();
    for (addr, look_alike) in providers.keys().zip(look_alikes(&ranked, &ranked)) {
        let Some(look_alike) = look_alike else {
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
