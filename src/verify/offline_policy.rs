//! The policy by facts alone: pinned keys, least ages and signatures where no registry is asked.
//!
//! A fact about a release keeps the keys and dates of its signature, so that both can be compared without a
//! request. What no fact knows is unchecked, and the summary says so.

use std::collections::BTreeMap;

use super::inputs::RootInputs;
use super::known::LockedReleases;
use super::subject::CheckedLock;
use super::{ages, keys, signers};
use crate::addr::ProviderAddr;
use crate::diag::{Finding, Level, rules};
use crate::package::{ReleaseDates, SignerKey};

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

/// Checks the policy of a project file as far as facts reach, and returns what they leave unchecked.
#[must_use]
pub(super) fn check(
    root: &RootInputs<'_>,
    subject: CheckedLock<'_>,
    known: &LockedReleases,
) -> (Vec<Finding>, Vec<UncheckedPolicy>) {
    let releases = &known.releases;
    let project = root.project;
    let locked = || {
        subject
            .document
            .lock
            .providers
            .keys()
            .filter(|provider| !provider.is_builtin(subject.flavor))
    };
    let is_off = |rule: &str, provider: &ProviderAddr| {
        project
            .rule(rule, Some(provider), subject.flavor)
            .is_some_and(|setting| setting.level == Level::Off)
    };
    let mut unchecked = Vec::new();
    let mut count =
        |setting, providers: Vec<&ProviderAddr>, is_known: &dyn Fn(&ProviderAddr) -> bool| {
            let row = UncheckedPolicy {
                setting,
                unchecked: providers
                    .iter()
                    .filter(|provider| !is_known(provider))
                    .count(),
                providers: providers.len(),
            };
            unchecked.extend(Some(row).filter(|row| row.unchecked > 0));
        };
    let is_signed = |provider: &ProviderAddr| releases.contains_key(provider);
    let mut findings = Vec::new();
    if let Some(policy) = &project.policy {
        if let Some(age) = policy.age() {
            let dates: BTreeMap<ProviderAddr, ReleaseDates> = releases
                .iter()
                .filter(|(_, release)| release.dates.latest().is_some())
                .map(|(provider, release)| (provider.clone(), release.dates.clone()))
                .collect();
            let (now, name) = (known.now, root.project_file);
            findings.extend(ages::check(subject, &age, &dates, now, name));
            let concerned = locked()
                .filter(|provider| !is_off(rules::RELEASE_TOO_YOUNG, provider))
                .collect();
            count("min_age", concerned, &|provider| {
                dates.contains_key(provider)
            });
        }
        let signed: BTreeMap<ProviderAddr, Vec<SignerKey>> = releases
            .iter()
            .map(|(provider, release)| {
                (provider.clone(), release.signers.iter().cloned().collect())
            })
            .collect();
        let name = root.project_file;
        findings.extend(keys::not_compared(subject, policy, name, is_signed));
        findings.extend(signers::check(subject, policy, &signed, name));
        let pinned = keys::pinned(subject, policy)
            .into_iter()
            .map(|(provider, _)| provider)
            .filter(|provider| !is_off(rules::KEY_NOT_ALLOWED, provider))
            .collect();
        count("pinned keys", pinned, &is_signed);
    }
    if project.trust.require_signature.is_some() {
        count("require_signature", locked().collect(), &is_signed);
    }
    (findings, unchecked)
}
