//! The policy by facts alone: pinned keys, least ages and signatures where no registry is asked.
//!
//! A fact about a release keeps the keys and dates of its signature, so that both can be compared without a
//! request. What no fact knows is unchecked, and the summary says so.

use super::inputs::RootInputs;
use super::known::LockedReleases;
use super::subject::CheckedLock;
use super::{ages, signers};
use crate::addr::ProviderAddr;
use crate::diag::{Finding, Level, rules};
use crate::project::Policy;

/// Checks the policy of a project file as far as facts reach, and returns the names of the settings that they leave
/// unchecked for some provider.
#[must_use]
pub(super) fn check(
    root: &RootInputs<'_>,
    subject: CheckedLock<'_>,
    known: &LockedReleases,
) -> (Vec<Finding>, Vec<&'static str>) {
    let project = root.project;
    let (mut findings, mut unchecked) = (Vec::new(), Vec::new());
    if let Some(policy) = &project.policy {
        // A fact may hold no date; then the age is unknown.
        let dated = locked(subject).filter_map(|provider| {
            let dates = &known.releases.get(provider)?.dates;
            dates.latest().map(|_| (provider, dates))
        });
        let name = root.project_file;
        findings.extend(ages::check(subject, policy, dated, known.now, name));
        let signers = |provider: &ProviderAddr| known.signers(provider);
        let is_known = |provider: &ProviderAddr| signers(provider).is_some();
        findings.extend(signers::not_compared(subject, policy, name, is_known));
        findings.extend(signers::check(subject, policy, signers, name));
        unchecked.extend(unchecked_policy(root, subject, known, policy));
    }
    // Only the facts of a release say who signed it; without them the check is named as left out.
    let mut unsigned = locked(subject).filter(|addr| !known.releases.contains_key(*addr));
    let is_remembered = |provider: &ProviderAddr| {
        let remembered = project.trust.remembered(provider, root.flavor);
        remembered.is_some_and(|remembered| remembered.signed_by.is_some())
    };
    if unsigned.clone().any(is_remembered) {
        unchecked.push("remembered keys");
    }
    if project.trust.require_signature.is_some() && unsigned.next().is_some() {
        unchecked.push("require_signature");
    }
    (findings, unchecked)
}

fn locked(subject: CheckedLock<'_>) -> impl Clone + Iterator<Item = &ProviderAddr> {
    subject
        .document
        .lock
        .providers
        .keys()
        .filter(move |provider| !provider.is_builtin(subject.flavor))
}

/// Lists the settings of a policy that facts leave unchecked for a provider, unless their rule is off for it.
fn unchecked_policy(
    root: &RootInputs<'_>,
    subject: CheckedLock<'_>,
    known: &LockedReleases,
    policy: &Policy,
) -> Vec<&'static str> {
    let flavor = subject.flavor;
    let is_on = |rule: &str, provider: &ProviderAddr| {
        root.project
            .rule(rule, Some(provider), flavor)
            .is_none_or(|setting| setting.level != Level::Off)
    };
    let is_undated = |rule: &str, provider: &ProviderAddr| {
        let release = known.releases.get(provider);
        release.is_none_or(|release| release.dates.latest().is_none()) && is_on(rule, provider)
    };
    let min_age = locked(subject)
        .filter(|provider| policy.age(provider, flavor).is_some())
        .any(|provider| is_undated(rules::RELEASE_TOO_YOUNG, provider));
    let max_age = policy.max_age.is_some()
        && locked(subject).any(|provider| is_undated(rules::RELEASE_TOO_OLD, provider));
    let keys = signers::pinned(subject, policy)
        .iter()
        .any(|(provider, _)| {
            known.signers(provider).is_none() && is_on(rules::KEY_NOT_ALLOWED, provider)
        });
    [
        ("min_age", min_age),
        ("max_age", max_age),
        ("pinned keys", keys),
    ]
    .into_iter()
    .filter(|(_, is_left)| *is_left)
    .map(|(setting, _)| setting)
    .collect()
}
