//! The provenance of hashes in words, above all of those that nothing proves.

use std::collections::{BTreeMap, BTreeSet};

use crate::diag::{self, counted_as, rules};
use crate::hash::Scheme;
use crate::locker::{Locked, ProviderOutcome};
use crate::package::Provenance;
use crate::report::RootResult;

/// Reports a release that no key signs.
pub(super) fn remarks(result: &mut RootResult, outcome: &ProviderOutcome, name: &str) {
    if outcome.is_unsigned_release {
        let host = outcome.provider.hostname();
        let text = format!("{name} is not signed: {host} names no key, and OpenTofu accepts that");
        let rule = diag::named(rules::RELEASE_UNSIGNED);
        result.ruled(rule, &outcome.provider, text);
    }
}

/// Counts the hashes of a root that rest on signed facts, by the key that signed them.
pub(super) fn count_attested(result: &mut RootResult, locked: &Locked) {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for outcome in &locked.providers {
        for hash in &locked.lock.providers[&outcome.provider].hashes {
            if outcome.provenance(hash) == Provenance::Attested
                && let Some(key) = outcome.evidence.attested_by(hash)
            {
                *counts.entry(key).or_default() += 1;
            }
        }
    }
    for (key, count) in counts {
        let hashes = counted_as(count, "h1: is", "h1: are");
        result.remark(format!(
            "{hashes} attested by {key}, and not computed here; `lockctl lock --prove` downloads and checks the packages"
        ));
    }
}

/// Counts the hashes of a root that are claimed, and names who claims them; in every run, whether they are
/// new or not.
pub(super) fn count(result: &mut RootResult, locked: &Locked) {
    let (mut hashes, mut providers, mut hosts) = (0, 0, BTreeSet::new());
    let mut is_provable = false;
    for outcome in &locked.providers {
        let before = hashes;
        for hash in &locked.lock.providers[&outcome.provider].hashes {
            if outcome.provenance(hash) == Provenance::Claimed {
                hashes += 1;
                is_provable |= hash.scheme() == Scheme::H1;
                hosts.extend(outcome.evidence.of(hash).and_then(|seen| seen.stated_by));
            }
        }
        providers += usize::from(hashes > before);
    }
    if hashes == 0 {
        return;
    }
    let hosts: Vec<String> = hosts.into_iter().collect();
    // A download yields an `h1:` and no `zh:`, so `--prove` proves nothing about a `zh:` alone.
    let advice = if is_provable {
        "; `lockctl lock --prove` downloads and checks the packages"
    } else {
        ""
    };
    let (are, them) = if hashes == 1 {
        ("is", "it")
    } else {
        ("are", "them")
    };
    result.remark(format!(
        "{} of {} {are} claimed by {}, and nothing proves {them}{advice}",
        counted_as(hashes, "hash", "hashes"),
        counted_as(providers, "provider", "providers"),
        hosts.join(" and "),
    ));
}
