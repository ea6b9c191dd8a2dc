//! The group *upstream*: the claims of a registry about a release, which nothing signs.

use super::{Answers, signed_list};
use crate::addr::ProviderAddr;
use crate::coverage::{Attribution, Attributions};
use crate::diag::{Diagnostic, Finding, counted_as, rules};
use crate::hash::{Hash, Hashes, Scheme};
use crate::locker::{self, FalseClaim, KnownContent, ReleaseList};
use crate::verify::{CheckedLock, ClaimGaps};

/// Compares the claims of registries with their lists, with facts and with the lock file, where the program
/// records claims (`locker` rules 4).
#[must_use]
pub(super) fn check(
    subject: CheckedLock<'_>,
    answers: &Answers,
    attributions: &Attributions,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (provider, entry) in &subject.document.lock.providers {
        let Some(list) = signed_list(answers, provider) else {
            continue;
        };
        // A note: the program accepts such a release, and no change of the lock file could help.
        if list.signers.is_empty() {
            let title = format!("{provider} {} is not signed", entry.version);
            let diagnostic = Diagnostic::note(rules::RELEASE_UNSIGNED, title)
                .at(
                    subject.file,
                    subject.version(provider),
                    "its registry names no key",
                )
                .help(
                    "the program accepts it; ask the authors of the provider to publish their key",
                );
            findings.push(Finding::about(provider, diagnostic));
        }
        let attribution = attributions.get(provider);
        for claims in &list.claims {
            // A stated `h1:` is compared with the fact about its zip (`locker` rules 4.3).
            let false_claims = locker::false_claims(claims, Some(&list.hashes), |_, stated| {
                let fact = attribution?
                    .packages()
                    .find(|fact| stated.hashes.contains(&fact.zh))?;
                Some(KnownContent {
                    h1: vec![fact.h1.clone()],
                    by_fact: true,
                })
            });
            for false_claim in &false_claims {
                findings.push(contradicted(subject, provider, false_claim));
            }
        }
        let claimed = claimed(&entry.hashes, list, attribution);
        if claimed > 0 {
            findings.push(only_stated(subject, provider, claimed));
        }
    }
    findings
}

/// Finds the platforms with an `h1:` that a registry states and the entry lacks, although the `zh:` of the same
/// package is in the signed list (`coverage` rules 1.4).
pub(super) fn gaps(
    subject: CheckedLock<'_>,
    answers: &Answers,
    attributions: &Attributions,
) -> ClaimGaps {
    let mut gaps = ClaimGaps::new();
    for (provider, entry) in &subject.document.lock.providers {
        let Some(list) = signed_list(answers, provider).filter(|list| !list.signers.is_empty())
        else {
            continue;
        };
        let attribution = attributions.get(provider);
        for claims in &list.claims {
            for (platform, package) in &claims.packages {
                let stated = package.hashes.matchable();
                let is_signed = stated.of(Scheme::Zh).any(|zh| list.hashes.contains(zh));
                // A fact about the zip is certain, and decides alone.
                let has_fact = attribution.is_some_and(|attribution| {
                    attribution
                        .packages()
                        .any(|fact| package.hashes.contains(&fact.zh))
                });
                let mut h1 = stated.of(Scheme::H1).peekable();
                let is_lacking = h1.peek().is_some() && !h1.any(|h1| entry.hashes.contains(h1));
                if is_signed && is_lacking && !has_fact {
                    gaps.entry(provider.clone())
                        .or_default()
                        .insert(platform.clone(), claims.by.clone());
                }
            }
        }
    }
    gaps
}

/// Counts the recorded `h1:` that are claimed and that no fact proves.
fn claimed(recorded: &Hashes, list: &ReleaseList, attribution: Option<&Attribution>) -> usize {
    let is_claimed = |h1: &Hash| {
        list.claims
            .iter()
            .flat_map(|claims| claims.packages.values())
            .any(|package| package.hashes.contains(h1))
    };
    let is_proven = |h1: &Hash| {
        attribution.is_some_and(|attribution| attribution.packages().any(|fact| fact.h1 == *h1))
    };
    recorded
        .of(Scheme::H1)
        .filter(|h1| is_claimed(h1) && !is_proven(h1))
        .count()
}

fn contradicted(subject: CheckedLock<'_>, provider: &ProviderAddr, wrong: &FalseClaim) -> Finding {
    let version = &subject.document.lock.providers[provider].version;
    let title = format!("a false hash is stated of {provider} {version}: {wrong}");
    let program = subject.flavor.command();
    // OpenTofu compares nothing of that and would record the hash (`locker` rules 4.3), hence an error. With
    // validation enforced nothing that is stated counts (4.2).
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

fn only_stated(subject: CheckedLock<'_>, provider: &ProviderAddr, claimed: usize) -> Finding {
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
