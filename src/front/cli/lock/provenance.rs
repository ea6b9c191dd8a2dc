//! The provenance of hashes in words, above all of those that nothing proves.

use std::collections::BTreeSet;

use crate::diag::{self, counted_as, rules};
use crate::hash::Scheme;
use crate::locker::{Locked, ProviderOutcome};
use crate::package::Provenance;
use crate::report::RootResult;

/// Reports a release that no key signs, and registries that gave no answer.
pub(super) fn remarks(result: &mut RootResult, outcome: &ProviderOutcome, name: &str) {
    if outcome.is_unsigned_release {
        let host = outcome.provider.hostname();
        let text = format!("{name} is not signed: {host} names no key, and OpenTofu accepts that");
        let rule = diag::named(rules::RELEASE_UNSIGNED);
        result.ruled(rule, &outcome.provider, text);
    }
    for unanswered in &outcome.unanswered {
        let cause = &unanswered.cause;
        // That it does not have the release is an answer.
        if !cause.is_unknown_provider() && !cause.lacks_platform() {
            result.warn(format!(
                "what {} states of {name} could not be fetched, so its packages were downloaded: {cause}",
                unanswered.host
            ));
        }
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

/// Counts the added hashes by their provenance.
#[derive(Default)]
struct AddedHashes {
    signed: usize,
    proven: usize,
    /// Those of the proven ones that are known by a fact of an earlier run.
    by_fact: usize,
    /// Computed from packages of releases that no key signs.
    unsigned: usize,
    claimed: usize,
    /// Computed from packages of a mirror.
    computed: usize,
}

impl AddedHashes {
    fn of(locked: &Locked) -> Self {
        let mut counts = Self::default();
        for outcome in &locked.providers {
            for hash in &outcome.added {
                match outcome.provenance(hash) {
                    Provenance::Signed => counts.signed += 1,
                    Provenance::Proven => {
                        counts.proven += 1;
                        counts.by_fact += usize::from(outcome.evidence.is_by_fact(hash));
                    }
                    Provenance::Claimed => counts.claimed += 1,
                    // OpenTofu accepts releases without a key; packages of mirrors are unsigned for another reason.
                    Provenance::Computed if outcome.is_unsigned_release => counts.unsigned += 1,
                    Provenance::Computed | Provenance::Kept => counts.computed += 1,
                }
            }
        }
        counts
    }

    /// Describes the hashes that a registry or a fact vouches for; `None` if there are none.
    fn vouched(&self) -> Option<String> {
        let all = self.signed + self.proven + self.unsigned + self.claimed;
        let counts: Vec<String> = [
            (self.signed, "signed"),
            (self.proven, "proven"),
            (self.unsigned, "computed"),
            (self.claimed, "claimed"),
        ]
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!("{count} {word}"))
        .collect();
        let earlier = match self.by_fact {
            0 => String::new(),
            n if n == self.proven => " by an earlier run".to_owned(),
            n => format!(" ({n} by an earlier run)"),
        };
        let added = counted_as(all, "hash added", "hashes added");
        (all > 0).then(|| format!("{added}: {}{earlier}", counts.join(", ")))
    }
}

/// Describes the hashes that a run replaced, removed and added; begins with `; ` unless it is empty.
pub(in crate::front::cli) fn added(locked: &Locked) -> String {
    let counts = AddedHashes::of(locked);
    let vouched = counts.vouched();
    let computed = match (counts.computed, &vouched) {
        (0, _) => None,
        (n, Some(_)) => Some(format!(
            "{} computed from a mirror and not covered by a signature",
            counted_as(n, "more hash was", "more hashes were")
        )),
        (1, None) => Some(
            "the added hash was computed from a mirror and is not covered by a signature"
                .to_owned(),
        ),
        (n, None) => Some(format!(
            "the {n} added hashes were computed from a mirror and are not covered by a signature"
        )),
    };
    taken_out(locked)
        .chain(vouched)
        .chain(computed)
        .map(|part| format!("; {part}"))
        .collect()
}

/// Counts the hashes that were replaced, and those that were dropped.
pub(super) fn taken_out(locked: &Locked) -> impl Iterator<Item = String> {
    let (mut replaced, mut dropped) = (0, 0);
    for outcome in &locked.providers {
        replaced += outcome.replaced.len();
        dropped += outcome.dropped.hashes.len();
    }
    [
        (replaced, "wrong hash replaced", "wrong hashes replaced"),
        (dropped, "hash removed", "hashes removed"),
    ]
    .into_iter()
    .filter(|(count, ..)| *count > 0)
    .map(|(count, singular, plural)| counted_as(count, singular, plural))
}
