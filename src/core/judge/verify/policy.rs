//! The group *policy*: the providers, keys and versions that a team allows (`project` rules 2.2).
//!
//! [`allowed`] judges one root by the project file that governs it.

use std::collections::{BTreeMap, BTreeSet};

use super::levels;
use super::subject::CheckedLock;
use crate::addr::ProviderAddr;
use crate::diag::{Diagnostic, Finding, rules};
use crate::flavor::Flavor;
use crate::project::{Policy, PolicyRefusal, Project, SettingPlace};
use crate::requirement::Requirements;
use crate::version::{Operator, Version};

/// Checks that every provider that is locked, or required and not locked yet, is one that the
/// project file of that name allows, and so is its version.
#[must_use]
pub fn allowed(subject: CheckedLock<'_>, policy: &Policy, project_file: &str) -> Vec<Finding> {
    let entries = &subject.document.lock.providers;
    let required = subject
        .requirements
        .into_iter()
        .flat_map(|requirements| requirements.providers.keys());
    let providers: BTreeSet<&ProviderAddr> = entries.keys().chain(required).collect();
    let mut findings = Vec::new();
    for provider in providers {
        let version = entries.get(provider).map(|entry| &entry.version);
        let Some(refusal) = policy.refusal(provider, version, subject.flavor) else {
            continue;
        };
        let mut diagnostic = refused(refusal, provider, version, project_file);
        let required = subject
            .requirements
            .and_then(|requirements| requirements.providers.get(provider)?.first());
        let note = "required here";
        let is_locked = version.is_some();
        if refusal.rule() == rules::VERSION_NOT_ALLOWED {
            let name = provider.short(subject.flavor);
            let update = &subject.advice.update;
            let is_pinned = subject.requirements.is_some_and(|requirements| {
                requirements
                    .constraints(provider)
                    .iter()
                    .any(|term| term.operator() == Operator::Exact)
            });
            // With `= 1.2.3` every other version is excluded, and `update` alone would fail.
            let help = if is_pinned {
                let after = format!(
                    " moves to a newer version that {project_file} allows, and changes the constraint"
                );
                update.with("--edit").for_provider(name, "", after)
            } else {
                let after = format!(
                    " moves to a version that {project_file} allows; with --edit it changes constraints that exclude \
                     all of them"
                );
                update.for_provider(name, "", after)
            };
            diagnostic = diagnostic
                .at(subject.file, subject.version(provider), "locked here")
                .help(help);
        } else if is_locked {
            diagnostic = diagnostic.at(subject.file, subject.header(provider), "locked here");
            if let Some(place) = required {
                diagnostic = diagnostic.see(place.file, place.span, note);
            }
        } else if let Some(place) = required {
            diagnostic = diagnostic.at(place.file, place.span, note);
        }
        if let Some((place, note)) = stated(refusal) {
            diagnostic = diagnostic.see(place.file, place.span, note);
        }
        findings.push(Finding::about(provider, diagnostic));
    }
    findings
}

/// Reports providers that are about to be locked and that the project file of that name does not allow; each with
/// its version, where that is certain.
///
/// Each has the level that the project file states for the rule, and only an error forbids to lock.
#[must_use]
pub fn not_lockable<'p>(
    project: &Project,
    project_file: &str,
    providers: impl Iterator<Item = (&'p ProviderAddr, Option<&'p Version>)>,
    requirements: &Requirements,
    flavor: Flavor,
) -> Vec<Finding> {
    let Some(policy) = &project.policy else {
        return Vec::new();
    };
    let mut findings = Vec::new();
    let providers: BTreeMap<_, _> = providers.collect();
    for (provider, version) in providers {
        let Some(refusal) = policy.refusal(provider, version, flavor) else {
            continue;
        };
        let mut diagnostic = refused(refusal, provider, version, project_file);
        let required = requirements.providers.get(provider);
        if let Some(place) = required.and_then(|places| places.first()) {
            diagnostic = diagnostic.see(place.file, place.span, "required here");
        }
        let (SettingPlace { file, span }, note) = match (refusal, stated(refusal)) {
            (PolicyRefusal::NotAllowed(place), _) => (place, "only these are allowed"),
            (_, Some(stated)) => stated,
            (_, None) => continue,
        };
        findings.push(Finding::about(provider, diagnostic.at(file, span, note)));
    }
    let (reported, _) = levels::apply(findings, &[], project, flavor);
    reported
}

/// Returns the line of a policy that refuses something, with a note; none for the list of all that is allowed, which
/// the advice names.
fn stated(refusal: PolicyRefusal) -> Option<(SettingPlace, &'static str)> {
    Some(match refusal {
        PolicyRefusal::NotAllowed(_) => return None,
        PolicyRefusal::Host(place) => (place, "only these hosts are allowed"),
        PolicyRefusal::Denied(place) | PolicyRefusal::VersionDenied(place) => {
            (place, "denied here")
        }
        PolicyRefusal::VersionNotAllowed(place) => (place, "only these versions are allowed"),
        PolicyRefusal::Prerelease(place) => (place, "refused here"),
    })
}

/// Says what a policy refuses, and what to do.
fn refused(
    refusal: PolicyRefusal,
    provider: &ProviderAddr,
    version: Option<&Version>,
    project_file: &str,
) -> Diagnostic {
    let version = version.map_or_else(String::new, Version::to_string);
    let another = format!("select a version that {project_file} allows, with `lockctl update`");
    let (title, help) = match refusal {
        PolicyRefusal::NotAllowed(_) => (
            format!("{provider} is not a provider that the policy allows"),
            format!("use another provider, or add \"{provider}\" to `allow` in {project_file}"),
        ),
        PolicyRefusal::Host(_) => (
            format!("{provider} comes from a host that the policy does not allow"),
            format!(
                "use a provider of another host, or add \"{}\" to `hosts` in {project_file}",
                provider.hostname()
            ),
        ),
        PolicyRefusal::Denied(_) => (
            format!("{provider} is a provider that the policy denies"),
            format!("use another provider, which {project_file} does not deny"),
        ),
        PolicyRefusal::VersionDenied(_) => (
            format!("{provider} {version} is a version that the policy denies"),
            another,
        ),
        PolicyRefusal::VersionNotAllowed(_) => (
            format!("{provider} {version} is not a version that the policy allows"),
            another,
        ),
        PolicyRefusal::Prerelease(_) => (
            format!("{provider} {version} is a pre-release, which the policy refuses"),
            another,
        ),
    };
    Diagnostic::error(refusal.rule(), title).help(help)
}

/// Reports entries of a policy that concern none of the locked providers. Exemptions are judged only if it is known
/// which findings they turned off. An entry of `deny` is there for what no root locks.
pub(super) fn unused(
    project: &Project,
    locked: &BTreeSet<(Flavor, &ProviderAddr)>,
    turned_off: Option<&[(Flavor, &Finding)]>,
) -> Vec<Finding> {
    let Some(policy) = &project.policy else {
        return Vec::new();
    };
    let mut unused: Vec<(&str, String, SettingPlace)> = Vec::new();
    let mut judge = |list, name: &str, place, is_used: &dyn Fn(Flavor, &ProviderAddr) -> bool| {
        if !locked.iter().any(|(flavor, addr)| is_used(*flavor, addr)) {
            unused.push((list, name.to_owned(), place));
        }
    };
    let allowed = policy
        .allow
        .iter()
        .flat_map(|list| &list.entries)
        .map(|entry| ("allow", entry));
    let one_version = policy
        .one_version
        .iter()
        .map(|entry| ("one_version", entry));
    for (list, entry) in allowed.chain(one_version) {
        judge(list, &entry.text, entry.place, &|flavor, addr| {
            entry.names(addr, flavor)
        });
    }
    for (host, place) in policy.hosts.iter().flat_map(|list| &list.hosts) {
        judge("hosts", &host.to_string(), *place, &|_, addr| {
            addr.hostname() == host
        });
    }
    for pin in &policy.keys {
        judge(
            "provider",
            pin.provider.text(),
            pin.place,
            &|flavor, addr| pin.provider.means(addr, flavor),
        );
    }
    for setting in policy.exempt.iter().filter(|_| turned_off.is_some()) {
        let has_effect = |(flavor, finding): &(Flavor, &Finding)| {
            let pair = setting.provider.as_ref().zip(finding.provider.as_ref());
            finding.diagnostic.code == setting.rule
                && pair.is_some_and(|(name, addr)| name.means(addr, *flavor))
        };
        if !turned_off.into_iter().flatten().any(has_effect) {
            unused.push(("exempt", setting.rule.to_owned(), setting.place));
        }
    }
    unused
        .into_iter()
        .map(|(list, name, place)| unused_entry(list, &name, place).into())
        .collect()
}

fn unused_entry(list: &str, name: &str, place: SettingPlace) -> Diagnostic {
    let title = format!("{name:?} in `{list}` of the policy concerns nothing that is locked");
    Diagnostic::note(rules::POLICY_UNUSED, title)
        .at(
            place.file,
            place.span,
            "no root of the run has such an entry",
        )
        .help("delete it, unless it is meant for what is to come")
}
