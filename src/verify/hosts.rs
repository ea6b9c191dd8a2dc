//! Providers of one name from several hosts, which are several providers.

use std::collections::BTreeMap;

use super::subject::CheckedLock;
use crate::addr::ProviderAddr;
use crate::diag::{Diagnostic, Finding, Severity, rules};

/// Reports providers that are locked from several hosts under one namespace and type.
///
/// It is a warning where the configuration or the state requires more than one of them. Otherwise it
/// is a note: each program drops the entries that only the other one needs (`lockfile` rules 5.4).
pub(super) fn mixed<'a>(subject: CheckedLock<'a>) -> impl Iterator<Item = Finding> + 'a {
    let mut named: BTreeMap<(&str, &str), Vec<&ProviderAddr>> = BTreeMap::new();
    for provider in subject.document.lock.providers.keys() {
        let name = (provider.namespace(), provider.type_name());
        named.entry(name).or_default().push(provider);
    }
    named
        .into_values()
        .filter(|providers| providers.len() > 1)
        .filter_map(move |providers| finding(subject, &providers))
}

fn finding(subject: CheckedLock<'_>, providers: &[&ProviderAddr]) -> Option<Finding> {
    let (first, others) = providers.split_first()?;
    let (last, between) = others.split_last()?;
    let required = &subject.requirements?.providers;
    let is_required = |provider: &&&ProviderAddr| required.contains_key(**provider);
    let both = providers.iter().filter(is_required).count() > 1;
    let name = format!("{}/{}", first.namespace(), first.type_name());
    let title = format!("{name} is locked from {} hosts", providers.len());
    let help = if both {
        format!(
            "they are different providers: to use one, give every module the same source address; \
             `lockctl why {last}` shows who requires that one"
        )
    } else {
        format!(
            "they are different providers: `{} init` keeps those that configuration or state \
             requires, and drops the others",
            subject.flavor.command()
        )
    };
    let from = |provider: &ProviderAddr| format!("from {}", provider.hostname());
    let mut diagnostic = Diagnostic::warning(rules::HOSTS_MIXED, title)
        .at(subject.file, subject.header(last), from(last))
        .help(help);
    for provider in std::iter::once(first).chain(between) {
        diagnostic = diagnostic.see(subject.file, subject.header(provider), from(provider));
    }
    if !both {
        diagnostic.severity = Severity::Note;
    }
    Some(Finding::about(last, diagnostic))
}
