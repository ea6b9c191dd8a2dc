//! The group *upstream*: what a registry states of a release and nothing signs.

use super::subject::Subject;
use super::upstream::Answers;
use crate::addr::ProviderAddr;
use crate::coverage::{Attribution, Attributions};
use crate::diag::{Diagnostic, Finding, counted_as, rules};
use crate::hash::{Hash, Hashes, Scheme};
use crate::locker::{self, FalseClaim, KnownContent, ReleaseList};
use crate::package::Claims;

/// Compares what registries state with their lists, with facts and with the lock file, where the program
/// records such statements (`locker` rules 4).
#[must_use]
pub(super) fn check(
    subject: Subject<'_>,
    answers: &Answers,
    attributions: &Attributions,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (provider, entry) in &subject.document.lock.providers {
        let Some(list) = answers.get(provider).and_then(|one| one.list.as_ref()) else {
            continue;
        };
        if list.signers.is_empty() {
            findings.push(unsigned(subject, provider));
        }
        let attribution = attributions.get(provider);
        let wrong = list
            .claims
            .iter()
            .flat_map(|claims| contradictions(claims, list, attribution));
        let wrong: Vec<FalseClaim> = wrong.collect();
        findings.extend(wrong.iter().map(|one| contradicted(subject, provider, one)));
        let claimed = claimed(&entry.hashes, list, attribution);
        if claimed > 0 {
            findings.push(only_stated(subject, provider, claimed));
        }
    }
    findings
}

fn contradictions(
    claims: &Claims,
    list: &ReleaseList,
    attribution: Option<&Attribution>,
) -> Vec<FalseClaim> {
    locker::false_claims(claims, Some(&list.hashes), |_, stated| {
        let mut facts = attribution.iter().flat_map(|one| one.packages());
        let fact = facts.find(|fact| stated.hashes.contains(&fact.zh))?;
        Some(KnownContent {
            h1: vec![fact.h1.clone()],
            by_fact: true,
        })
    })
}

/// Counts the recorded `h1:` that are stated and that no fact shows.
fn claimed(recorded: &Hashes, list: &ReleaseList, attribution: Option<&Attribution>) -> usize {
    let is_stated = |hash: &Hash| {
        let mut packages = list
            .claims
            .iter()
            .flat_map(|claims| claims.packages.values());
        packages.any(|package| package.hashes.contains(hash))
    };
    let is_known = |hash: &Hash| {
        let mut facts = attribution.iter().flat_map(|one| one.packages());
        facts.any(|fact| fact.h1 == *hash)
    };
    let h1 = recorded.of(Scheme::H1);
    h1.filter(|hash| is_stated(hash) && !is_known(hash)).count()
}

/// Reports a release for which its registry names no key. It is a note: no change of the lock file could
/// help.
fn unsigned(subject: Subject<'_>, provider: &ProviderAddr) -> Finding {
    let version = &subject.document.lock.providers[provider].version;
    let title = format!("{provider} {version} is not signed");
    let diagnostic = Diagnostic::note(rules::RELEASE_UNSIGNED, title)
        .at(
            subject.file,
            subject.version(provider),
            "its registry names no key",
        )
        .help("the program accepts it; ask the authors of the provider to publish their key");
    Finding::about(provider, diagnostic)
}

fn contradicted(subject: Subject<'_>, provider: &ProviderAddr, wrong: &FalseClaim) -> Finding {
    let version = &subject.document.lock.providers[provider].version;
    let title = format!("a false hash is stated of {provider} {version}: {wrong}");
    let program = subject.flavor.command();
    let diagnostic = Diagnostic::error(rules::STATED_HASH_FALSE, title)
        .at(subject.file, subject.header(provider), "of this provider")
        .help(format!(
            "`{program} init` records what is stated; report it to the operator of the registry, and \
             set OPENTOFU_ENFORCE_GPG_VALIDATION=true until it is corrected"
        ));
    Finding {
        platform: Some(wrong.platform.clone()),
        ..Finding::about(provider, diagnostic)
    }
}

fn only_stated(subject: Subject<'_>, provider: &ProviderAddr, claimed: usize) -> Finding {
    let host = provider.hostname();
    let hashes = counted_as(claimed, "h1: hash", "h1: hashes");
    let title = format!("{provider} has {hashes} that only {host} states");
    let diagnostic = Diagnostic::note(rules::HASHES_CLAIMED, title)
        .at(
            subject.file,
            subject.hashes(provider),
            "nothing proves them",
        )
        .help(
            subject
                .advice
                .lock
                .with("--prove")
                .run(", which downloads and checks the packages"),
        );
    Finding::about(provider, diagnostic)
}
