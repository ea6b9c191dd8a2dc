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

/// Checks the policy of a project file as far as facts reach, and returns the names of the settings that they leave
/// unchecked for some provider.
#[must_use]
pub(super) fn check(
    root: &RootInputs<'_>,
    subject: CheckedLock<'_>,
    known: &LockedReleases,
) -> (Vec<Finding>, Vec<&'static str>) {
    let (project, name, flavor) = (root.project, root.project_file, subject.flavor);
    let (mut findings, mut unchecked) = (Vec::new(), Vec::new());
    let locked = || {
        let providers = subject.document.lock.providers.keys();
        providers.filter(|provider| !provider.is_builtin(flavor))
    };
    let is_known = |provider: &ProviderAddr| known.releases.contains_key(provider);
    let is_off = |rule: &str, provider: &ProviderAddr| {
        let setting = project.rule(rule, Some(provider), flavor);
        setting.is_some_and(|setting| setting.level == Level::Off)
    };
    let mut leave = |setting, is_left: bool| unchecked.extend(is_left.then_some(setting));
    if let Some(policy) = &project.policy {
        // A fact may hold no date; then the age is unknown.
        let dates = |provider: &ProviderAddr| {
            let dates = &known.releases.get(provider)?.dates;
            dates.latest().map(|_| dates)
        };
        let dated = locked().filter_map(|provider| Some((provider, dates(provider)?)));
        findings.extend(ages::check(subject, policy, dated, known.now, name));
        let is_undated = |rule: &str, provider: &ProviderAddr| {
            dates(provider).is_none() && !is_off(rule, provider)
        };
        let is_limited = |provider: &&ProviderAddr| policy.age(provider, flavor).is_some();
        let mut young = locked().filter(is_limited);
        leave(
            "min_age",
            young.any(|provider| is_undated(rules::RELEASE_TOO_YOUNG, provider)),
        );
        let mut old = locked().filter(|_| policy.max_age.is_some());
        leave(
            "max_age",
            old.any(|provider| is_undated(rules::RELEASE_TOO_OLD, provider)),
        );
        findings.extend(signers::not_compared(subject, policy, name, is_known));
        let known_signers = |provider: &ProviderAddr| known.signers(provider);
        findings.extend(signers::check(subject, policy, known_signers, name));
        let pinned = signers::pinned(subject, policy);
        let is_left = |provider: &ProviderAddr| {
            !is_known(provider) && !is_off(rules::KEY_NOT_ALLOWED, provider)
        };
        leave(
            "pinned keys",
            pinned.iter().any(|(provider, _)| is_left(provider)),
        );
    }
    // Only the facts of a release say who signed it; without them the check is named as left out.
    let is_remembered = |provider: &&ProviderAddr| {
        let remembered = project.trust.remembered(provider, root.flavor);
        remembered.is_some_and(|remembered| remembered.signed_by.is_some())
    };
    let mut remembered = locked().filter(is_remembered);
    leave(
        "remembered keys",
        remembered.any(|provider| !is_known(provider)),
    );
    if project.trust.require_signature.is_some() {
        leave(
            "require_signature",
            locked().any(|provider| !is_known(provider)),
        );
    }
    (findings, unchecked)
}
