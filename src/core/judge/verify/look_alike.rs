//! Providers whose names may have been mistaken for others.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::levels;
use super::subject::CheckedLock;
use crate::addr::{self, ProviderAddr};
use crate::diag::{Diagnostic, Finding, Help, RootCommand, rules};
use crate::flavor::Flavor;
use crate::project::Project;
use crate::requirement::Requirements;

/// Reports providers in the lock file with such a name.
pub(super) fn check(subject: CheckedLock<'_>) -> Vec<Finding> {
    warnings(subject.document.lock.providers.keys())
        .into_iter()
        .map(|(addr, diagnostic)| {
            let header = subject.header(addr);
            let diagnostic = diagnostic
                .at(subject.file, header, "locked here")
                .help(help(&subject.advice.why(addr)));
            Finding::about(addr, diagnostic)
        })
        .collect()
}

/// Reports providers with such a name that are about to be locked for the first time; `locked` are the others.
///
/// Each has the level that the project file states for the rule.
#[must_use]
pub fn newly_locked<'p>(
    new: &BTreeSet<&'p ProviderAddr>,
    locked: impl Iterator<Item = &'p ProviderAddr>,
    requirements: &Requirements,
    project: &Project,
    flavor: Flavor,
) -> Vec<Finding> {
    let all: BTreeSet<&ProviderAddr> = locked.chain(new.iter().copied()).collect();
    let mut findings = Vec::new();
    for (addr, mut diagnostic) in warnings(all.iter().copied()) {
        if !new.contains(addr) {
            continue;
        }
        let required = requirements.providers.get(addr);
        if let Some(place) = required.and_then(|places| places.first()) {
            diagnostic = diagnostic.at(place.file, place.span, "required here");
        }
        let why = RootCommand::new(format!("lockctl why {addr}"));
        findings.push(Finding::about(addr, diagnostic.help(help(&why))));
    }
    levels::apply(findings, &[], project, flavor).0
}

fn help(why: &RootCommand) -> Help {
    why.named_in(|why| {
        format!(
            "compare the address with the documentation of the provider, and correct `source`; `{why}` shows which \
             module requires it"
        )
    })
}

/// Warns of providers whose namespace is one typing error away from that of a known publisher, or of
/// another one of them.
fn warnings<'p>(
    providers: impl Iterator<Item = &'p ProviderAddr> + Clone,
) -> Vec<(&'p ProviderAddr, Diagnostic)> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for addr in providers.clone() {
        *counts.entry(addr.namespace()).or_default() += 1;
    }
    // A name is compared only with those of more providers, or else those before it, so that one of a pair is blamed.
    let rank = |addr: &'p ProviderAddr| (Reverse(counts[addr.namespace()]), addr.namespace());
    let mut ranked: Vec<_> = providers.clone().map(|addr| (rank(addr), addr)).collect();
    ranked.sort_unstable();
    let mut warnings = Vec::new();
    for addr in providers {
        let before = ranked.partition_point(|(known, _)| *known < rank(addr));
        let known = ranked[..before].iter().map(|(_, known)| *known);
        let Some(look_alike) = addr::look_alike(addr, known) else {
            continue;
        };
        let title = format!("{addr} has a name that is easy to confuse: {look_alike}");
        let diagnostic = Diagnostic::warning(rules::LOOK_ALIKE_PROVIDER, title);
        warnings.push((addr, diagnostic));
    }
    warnings
}
