//! Keys of locked releases that expire soon, or have expired.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use super::subject::CheckedLock;
use crate::addr::ProviderAddr;
use crate::diag::{Diagnostic, Finding, counted, rules};
use crate::package::calendar::{ago, day};

/// The time before the end of a key when a note announces it.
const NOTICE: Duration = Duration::from_secs(60 * 24 * 60 * 60);

/// Says of a release which of its keys, by fingerprint, expire within 60 days, or have expired.
pub fn sentences(
    release: &str,
    keys: &BTreeMap<String, SystemTime>,
    now: SystemTime,
) -> impl Iterator<Item = String> {
    keys.iter()
        .filter(move |(_, end)| **end <= now + NOTICE)
        .map(move |(fingerprint, end)| {
            let key = fingerprint.get(24..).unwrap_or(fingerprint);
            let verb = if *end <= now { "expired" } else { "expires" };
            let (day, ago) = (day(*end), ago(*end, now));
            format!("the key of {release}, {key}, {verb} on {day}, {ago}")
        })
}

/// Says one of these [`sentences`] for all roots that it concerns.
#[must_use]
pub fn of_roots(sentence: &str, roots: usize) -> String {
    let roots = counted(roots, "root");
    format!("{sentence} ({roots}); see `lockctl explain key-expires`")
}

/// Reports keys that expire within 60 days, or have expired.
#[must_use]
pub fn check<'k>(
    subject: CheckedLock<'_>,
    ends: impl IntoIterator<Item = (&'k ProviderAddr, &'k BTreeMap<String, SystemTime>)>,
    now: SystemTime,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (provider, keys) in ends {
        let Some(entry) = subject.document.lock.providers.get(provider) else {
            continue;
        };
        for title in sentences(&format!("{provider} {}", entry.version), keys, now) {
            let help = "the locked release stays valid for the programs; later releases need another key or a longer \
                        life of this one, so look for an announcement of the publisher";
            let diagnostic = Diagnostic::note(rules::KEY_EXPIRES, title)
                .at(
                    subject.file,
                    subject.version(provider),
                    "the signed release",
                )
                .help(help);
            findings.push(Finding::about(provider, diagnostic));
        }
    }
    findings
}
