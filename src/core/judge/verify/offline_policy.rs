//! The policy by facts alone: pinned keys, least ages and signatures where no registry is asked.
//!
//! A fact about a release keeps the keys and dates of its signature, so that both can be compared without a
//! request. What no fact knows is unchecked, and the summary says so.

use std::sync::Arc;

use super::inputs::RootInputs;
use super::known::LockedReleases;
use super::subject::CheckedLock;
use super::{ages, keys, signers};
use crate::addr::ProviderAddr;
use crate::diag::{Finding, Level, rules};
use crate::package::ReleaseFact;
use crate::project::Policy;

/// A setting of a project file that was not checked for some providers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UncheckedPolicy {
    /// The name of the setting.
    pub setting: &'static str,
    /// The number of locked providers that it was not checked for.
    pub unchecked: usize,
    /// The number of locked providers that it concerns.
    pub providers: usize,
}

/// A lock file whose policy is checked by facts.
struct OfflinePolicy<'a> {
    root: &'a RootInputs<'a>,
    subject: CheckedLock<'a>,
    known: &'a LockedReleases,
}

/// Checks the policy of a project file as far as facts reach, and returns what they leave unchecked.
#[must_use]
pub(super) fn check(
    root: &RootInputs<'_>,
    subject: CheckedLock<'_>,
    known: &LockedReleases,
) -> (Vec<Finding>, Vec<UncheckedPolicy>) {
    let offline = OfflinePolicy {
        root,
        subject,
        known,
    };
    let (mut findings, mut unchecked) = (Vec::new(), Vec::new());
    if let Some(policy) = &root.project.policy {
        offline.ages(policy, &mut findings, &mut unchecked);
        offline.keys(policy, &mut findings, &mut unchecked);
    }
    if !root.project.trust.memory.is_empty() {
        let is_remembered = |provider: &&ProviderAddr| {
            let remembered = root.project.trust.remembered(provider, root.flavor);
            remembered.is_some_and(|remembered| remembered.signed_by.is_some())
        };
        // Only the facts of a release say who signed it; without them the check is named as left out.
        let is_known = |provider: &ProviderAddr| known.releases.contains_key(provider);
        let concerned = offline.locked().filter(is_remembered);
        unchecked.extend(count("remembered keys", concerned, is_known));
    }
    if root.project.trust.require_signature.is_some() {
        let is_signed = |provider: &ProviderAddr| known.releases.contains_key(provider);
        unchecked.extend(count("require_signature", offline.locked(), is_signed));
    }
    (findings, unchecked)
}

impl<'a> OfflinePolicy<'a> {
    fn locked(&self) -> impl Iterator<Item = &'a ProviderAddr> {
        let flavor = self.subject.flavor;
        self.subject
            .document
            .lock
            .providers
            .keys()
            .filter(move |provider| !provider.is_builtin(flavor))
    }

    fn is_off(&self, rule: &str, provider: &ProviderAddr) -> bool {
        self.root
            .project
            .rule(rule, Some(provider), self.subject.flavor)
            .is_some_and(|setting| setting.level == Level::Off)
    }

    fn ages(
        &self,
        policy: &Policy,
        findings: &mut Vec<Finding>,
        unchecked: &mut Vec<UncheckedPolicy>,
    ) {
        let flavor = self.subject.flavor;
        let has_age = |provider: &&ProviderAddr| policy.age(provider, flavor).is_some();
        if policy.max_age.is_none() && !self.locked().any(|provider| has_age(&provider)) {
            return;
        }
        // A fact may hold no date; then the age is unknown.
        let has_date = |release: &Arc<ReleaseFact>| release.dates.latest().is_some();
        let dated = self
            .known
            .releases
            .iter()
            .filter(|(_, release)| has_date(release))
            .map(|(provider, release)| (provider, &release.dates));
        let (now, project_file) = (self.known.now, self.root.project_file);
        findings.extend(ages::check(self.subject, policy, dated, now, project_file));
        let concerned = |rule| {
            self.locked()
                .filter(move |provider| !self.is_off(rule, provider))
        };
        let is_dated =
            |provider: &ProviderAddr| self.known.releases.get(provider).is_some_and(has_date);
        let young = concerned(rules::RELEASE_TOO_YOUNG).filter(has_age);
        unchecked.extend(count("min_age", young, is_dated));
        let old = concerned(rules::RELEASE_TOO_OLD).filter(|_| policy.max_age.is_some());
        unchecked.extend(count("max_age", old, is_dated));
    }

    fn keys(
        &self,
        policy: &Policy,
        findings: &mut Vec<Finding>,
        unchecked: &mut Vec<UncheckedPolicy>,
    ) {
        if policy.keys.is_empty() {
            return;
        }
        let (subject, name) = (self.subject, self.root.project_file);
        let signers = |provider: &ProviderAddr| self.known.signers(provider);
        let is_known = |provider: &ProviderAddr| signers(provider).is_some();
        findings.extend(keys::not_compared(subject, policy, name, is_known));
        findings.extend(signers::check(subject, policy, signers, name));
        let pinned = keys::pinned(subject, policy)
            .into_iter()
            .map(|(provider, _)| provider)
            .filter(|provider| !self.is_off(rules::KEY_NOT_ALLOWED, provider));
        unchecked.extend(count("pinned keys", pinned, is_known));
    }
}

/// Counts the providers without any fact; `None` if each has one.
fn count<'p>(
    setting: &'static str,
    providers: impl Iterator<Item = &'p ProviderAddr>,
    is_known: impl Fn(&ProviderAddr) -> bool,
) -> Option<UncheckedPolicy> {
    let (mut all, mut unchecked) = (0, 0);
    for provider in providers {
        all += 1;
        unchecked += usize::from(!is_known(provider));
    }
    (unchecked > 0).then_some(UncheckedPolicy {
        setting,
        unchecked,
        providers: all,
    })
}
