//! One provider by name, from several hosts: which are several providers.

use std::collections::BTreeMap;

use super::subject::Subject;
use crate::addr::ProviderAddr;
use crate::diag::{Diagnostic, Finding, Severity, rules};

/// Reports providers that are locked from several hosts under one namespace and type.
///
/// It is a warning where the configuration or the state requires more than one of them. Otherwise it
/// is a note: each program drops the entries that only the other one needs (`lockfile` rules 5.4).
pub(super) fn mixed<'a>(subject: Subject<'a>) -> impl Iterator<Item = Finding> + 'a {
    let mut named: BTreeMap<(&str, &str), Vec<&ProviderAddr>> = BTreeMap::new();
    for provider in subject.document.lock.providers.keys() {
        let name = (provider.namespace(), provider.type_name());
        named.entry(name).or_default().push(provider);
    }
    let several = named.into_iter().filter(|(_, own)| own.len() > 1);
    several.filter_map(move |(_, own)| finding(subject, &own))
}

fn finding(subject: Subject<'_>, own: &[&ProviderAddr]) -> Option<Finding> {
    let (first, others) = own.split_first()?;
    let (last, between) = others.split_last()?;
    let required = &subject.requirements?.providers;
    let both = own.iter().filter(|one| required.contains_key(one)).count() > 1;
    let name = format!("{}/{}", first.namespace(), first.type_name());
    let title = format!("{name} is locked from {} hosts", own.len());
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
