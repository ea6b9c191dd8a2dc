//! The least age of a release: the part of a policy that needs the dates of releases.

use std::collections::BTreeMap;
use std::time::SystemTime;

use super::subject::CheckedLock;
use crate::addr::ProviderAddr;
use crate::diag::{Diagnostic, Finding, rules};
use crate::package::calendar::day;
use crate::package::{AgePolicy, ReleaseDates, Youth};

/// Checks that each locked release is as old as the project file of that name requires. A release without a
/// known date is skipped.
#[must_use]
pub fn check(
    subject: CheckedLock<'_>,
    policy: &AgePolicy,
    dates: &BTreeMap<ProviderAddr, ReleaseDates>,
    now: SystemTime,
    project_file: &str,
) -> Vec<Finding> {
    let min_age = policy.min_age;
    let mut findings = Vec::new();
    for (provider, dates) in dates {
        let Some(youth) = policy.youth(dates, now) else {
            continue;
        };
        let version = &subject.document.lock.providers[provider].version;
        let (title, wait) = match youth {
            Youth::Recent { until, .. } => (
                format!(
                    "{provider} {version} is younger than {min_age}, the least age that {project_file} \
                     allows"
                ),
                until.map_or(String::new(), |until| {
                    format!("wait until {}; ", day(until))
                }),
            ),
            Youth::Undated => (
                format!(
                    "nothing states the date of {provider} {version}, and {project_file} refuses such \
                     releases"
                ),
                String::new(),
            ),
        };
        // A locked version stays even if it is too young (`locker` rules 3.3), so the version must be named.
        let help = subject.advice.update.named_in(|update| {
            format!("{wait}`{update}` with an older version behind `{provider}@` moves to that one")
        });
        let diagnostic = Diagnostic::error(rules::RELEASE_TOO_YOUNG, title)
            .at(subject.file, subject.version(provider), youth.seen_at(now))
            .help(help);
        findings.push(Finding::about(provider, diagnostic));
    }
    findings
}
