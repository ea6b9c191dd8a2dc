//! What `lockctl lock` says of how hashes are known, most of all of those that nothing proves.

use std::collections::BTreeSet;

use super::result::taken_out;
use crate::diag::{self, counted_as};
use crate::flavor::Flavor;
use crate::hash::Scheme;
use crate::locker::{Locked, ProviderOutcome};
use crate::package::Provenance;
use crate::report::RootResult;

/// Says that no key signs a release, and that a registry gave no answer.
pub(super) fn remarks(result: &mut RootResult, one: &ProviderOutcome, flavor: Flavor) {
    let name = format!("{} {}", one.provider.short(flavor), one.version);
    if one.is_unsigned_release {
        let host = one.provider.hostname();
        let text = format!("{name} is not signed: {host} names no key, and OpenTofu accepts that");
        result.ruled(diag::named("release-unsigned"), &one.provider, text);
    }
    for unanswered in &one.unanswered {
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

/// Says how many hashes of a root are claimed, and by whom; in every run, whether they are new or not.
pub(super) fn count(result: &mut RootResult, locked: &Locked) {
    let (mut hashes, mut providers, mut hosts) = (0, 0, BTreeSet::new());
    let mut is_provable = false;
    for one in &locked.providers {
        let entry = &locked.lock.providers[&one.provider];
        let claimed = entry.hashes.iter();
        let claimed = claimed.filter(|hash| one.provenance(hash) == Provenance::Claimed);
        let before = hashes;
        for hash in claimed {
            hashes += 1;
            is_provable |= hash.scheme() == Scheme::H1;
            hosts.extend(one.evidence.of(hash).and_then(|seen| seen.stated_by));
        }
        providers += usize::from(hashes > before);
    }
    if hashes == 0 {
        return;
    }
    let hosts: Vec<String> = hosts.into_iter().collect();
    let advice = match is_provable {
        true => "; `lockctl lock --prove` downloads and checks the packages",
        false => "",
    };
    result.remark(format!(
        "{} of {} {} claimed by {}, and nothing proves {}{advice}",
        counted_as(hashes, "hash", "hashes"),
        counted_as(providers, "provider", "providers"),
        if hashes == 1 { "is" } else { "are" },
        hosts.join(" and "),
        if hashes == 1 { "it" } else { "them" },
    ));
}

/// Says how the added hashes are known.
pub(super) fn added(locked: &Locked) -> String {
    let (mut signed, mut proven, mut claimed, mut computed, mut known) = (0, 0, 0, 0, 0);
    let mut unsigned = 0;
    for one in &locked.providers {
        for hash in &one.added {
            match one.provenance(hash) {
                Provenance::Signed => signed += 1,
                Provenance::Proven => {
                    proven += 1;
                    known += usize::from(one.evidence.is_by_fact(hash));
                }
                Provenance::Claimed => claimed += 1,
                Provenance::Computed if one.is_unsigned_release => unsigned += 1,
                Provenance::Computed | Provenance::Kept => computed += 1,
            }
        }
    }
    let mut parts: Vec<String> = taken_out(locked).collect();
    let listed = signed + proven + unsigned + claimed;
    if listed > 0 {
        let counts = [
            (signed, "signed"),
            (proven, "proven"),
            (unsigned, "computed"),
            (claimed, "claimed"),
        ];
        let counts = counts.into_iter();
        let counts = counts.filter(|(n, _)| *n > 0);
        let counts: Vec<String> = counts.map(|(n, word)| format!("{n} {word}")).collect();
        let all = counted_as(listed, "hash added", "hashes added");
        let earlier = match known {
            0 => String::new(),
            all if all == proven => " by an earlier run".to_owned(),
            some => format!(" ({some} by an earlier run)"),
        };
        parts.push(format!("{all}: {}{earlier}", counts.join(", ")));
    }
    match computed {
        0 => {}
        n if listed > 0 => parts.push(format!(
            "{} computed from a mirror and not covered by a signature",
            counted_as(n, "more hash was", "more hashes were")
        )),
        1 => parts.push(
            "the added hash was computed from a mirror and is not covered by a signature"
                .to_owned(),
        ),
        n => parts.push(format!(
            "the {n} added hashes were computed from a mirror and are not covered by a signature"
        )),
    }
    let parts = parts.into_iter().map(|part| format!("; {part}"));
    parts.collect()
}
