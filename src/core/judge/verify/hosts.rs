//! Providers of one name from several hosts, which are several providers.

use std::collections::BTreeMap;

use super::subject::CheckedLock;
use crate::addr::ProviderAddr;
use crate::diag::{Diagnostic, Finding, Severity, rules};

/// Reports providers that are locked from several hosts under one namespace and type.
pub(super) fn mixed(subject: CheckedLock<'_>) -> Vec<Finding> {
    let Some(requirements) = subject.requirements else {
        return Vec::new();
    };
    let mut named: BTreeMap<(&str, &str), Vec<&ProviderAddr>> = BTreeMap::new();
    for provider in subject.document.lock.providers.keys() {
        let name = (provider.namespace(), provider.type_name());
        named.entry(name).or_default().push(provider);
    }
    let from = |provider: &ProviderAddr| format!("from {}", provider.hostname());
    let mut findings = Vec::new();
    for ((namespace, type_name), providers) in named {
        let [others @ .., last] = &*providers else {
            continue;
        };
        if others.is_empty() {
            continue;
        }
        let required = providers
            .iter()
            .filter(|provider| requirements.providers.contains_key(**provider))
            .count();
        let title = format!(
            "{namespace}/{type_name} is locked from {} hosts",
            providers.len()
        );
        // A warning if the configuration or the state requires more than one of them. Otherwise a note: each
        // program drops the entries that only the other one needs (`lockfile` rules 5.4).
        let (severity, help) = if required > 1 {
            let help = subject.advice.why(last).named_in(|why| {
                format!(
                    "they are different providers: to use one, give every module the same source address; \
                     `{why}` shows who requires that one"
                )
            });
            (Severity::Warning, help)
        } else {
            let help = format!(
                "they are different providers: `{} init` keeps those that configuration or state \
                 requires, and drops the others",
                subject.flavor.command()
            );
            (Severity::Note, help.into())
        };
        let mut diagnostic = Diagnostic::warning(rules::HOSTS_MIXED, title)
            .at(subject.file, subject.header(last), from(last))
            .help(help);
        diagnostic.severity = severity;
        for provider in others {
            diagnostic = diagnostic.see(subject.file, subject.header(provider), from(provider));
        }
        findings.push(Finding::about(last, diagnostic));
    }
    findings
}
