//! Keys of locked releases that expire soon, or have expired.

use std::time::{Duration, SystemTime};

use super::known::KeyEnds;
use super::subject::CheckedLock;
use crate::diag::{Diagnostic, Finding, rules};
use crate::package::calendar::{ago, day};

/// The time before the end of a key when a note announces it.
const NOTICE: Duration = Duration::from_secs(60 * 24 * 60 * 60);

/// Reports keys that expire within 60 days, or have expired.
#[must_use]
pub fn check(subject: CheckedLock<'_>, ends: &KeyEnds, now: SystemTime) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (provider, keys) in ends {
        let Some(entry) = subject.document.lock.providers.get(provider) else {
            continue;
        };
        for (fingerprint, end) in keys.iter().filter(|(_, end)| **end <= now + NOTICE) {
            let key = fingerprint.get(24..).unwrap_or(fingerprint);
            let verb = if *end <= now { "expired" } else { "expires" };
            let title = format!(
                "the key of {provider} {}, {key}, {verb} on {}, {}",
                entry.version,
                day(*end),
                ago(*end, now)
            );
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
