//! The least and the greatest age of a release: the part of a policy that needs the dates of releases.

use std::time::SystemTime;

use super::subject::CheckedLock;
use crate::addr::ProviderAddr;
use crate::diag::{Diagnostic, Finding, rules};
use crate::package::calendar::day;
use crate::package::{ReleaseDates, Youth};
use crate::project::Policy;

/// Checks that each locked release is as old as the project file of that name requires, and not too old. A release
/// without a known date is skipped.
#[must_use]
pub fn check<'d>(
    subject: CheckedLock<'_>,
    policy: &Policy,
    dates: impl IntoIterator<Item = (&'d ProviderAddr, &'d ReleaseDates)>,
    now: SystemTime,
    project_file: &str,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (provider, dates) in dates {
        findings.extend(too_old(
            subject,
            policy,
            (provider, dates),
            now,
            project_file,
        ));
        let Some(age) = policy.age(provider, subject.flavor) else {
            continue;
        };
        let Some(youth) = age.youth(dates, now) else {
            continue;
        };
        let min_age = age.min_age;
        let version = &subject.document.lock.providers[provider].version;
        let (title, wait) = match youth {
            Youth::Recent { until, .. } => (
                format!(
                    "{provider} {version} is younger than {min_age}, the least age that {project_file} \
                     allows"
                ),
                until.map_or(String::new(), |until| {
                    format!("wait until {}, when {project_file} allows it; ", day(until))
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
        let mut help = subject.advice.update.for_provider(
            format_args!("{}@VERSION", provider.short(subject.flavor)),
            wait,
            " moves to an older version: write it for VERSION",
        );
        // Only the reader knows an older version.
        help.command = None;
        let diagnostic = Diagnostic::error(rules::RELEASE_TOO_YOUNG, title)
            .at(subject.file, subject.version(provider), youth.seen_at(now))
            .help(help);
        findings.push(Finding::about(provider, diagnostic));
    }
    findings
}

/// Reports a release that is older than the greatest age.
fn too_old(
    subject: CheckedLock<'_>,
    policy: &Policy,
    (provider, dates): (&ProviderAddr, &ReleaseDates),
    now: SystemTime,
    project_file: &str,
) -> Option<Finding> {
    let (max_age, date) = (policy.max_age?, dates.latest()?);
    let until = date.time.checked_add(max_age.duration())?;
    if until > now {
        return None;
    }
    let version = &subject.document.lock.providers[provider].version;
    let title = format!(
        "{provider} {version} is older than {max_age}, the greatest age that {project_file} allows"
    );
    let help = subject.advice.update.for_provider(
        provider.short(subject.flavor),
        "",
        " moves to the newest version that the constraints allow",
    );
    let diagnostic = Diagnostic::note(rules::RELEASE_TOO_OLD, title)
        .at(subject.file, subject.version(provider), date.seen_at(now))
        .help(help);
    Some(Finding::about(provider, diagnostic))
}
