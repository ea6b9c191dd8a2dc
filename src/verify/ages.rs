//! The least age of a release: the part of a policy that needs the dates of releases.

use std::time::SystemTime;

use super::subject::CheckedLock;
use super::upstream::Dates;
use crate::addr::ProviderAddr;
use crate::diag::{Diagnostic, Finding, rules};
use crate::package::calendar::day;
use crate::package::{AgePolicy, Youth};

/// Checks that each locked release is as old as the project file of that name wants. A release whose
/// registry gave no answer is passed over.
#[must_use]
pub fn check(
    subject: CheckedLock<'_>,
    policy: &AgePolicy,
    dates: &Dates,
    now: SystemTime,
    project_file: &str,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (provider, dates) in dates {
        if let Some(youth) = policy.youth(dates, now) {
            findings.push(too_young(
                subject,
                provider,
                policy,
                youth,
                now,
                project_file,
            ));
        }
    }
    findings
}

fn too_young(
    subject: CheckedLock<'_>,
    provider: &ProviderAddr,
    policy: &AgePolicy,
    youth: Youth,
    now: SystemTime,
    project_file: &str,
) -> Finding {
    let version = &subject.document.lock.providers[provider].version;
    let min_age = policy.min_age;
    let older = |wait: &str| {
        subject.advice.update.named_in(|update| {
            format!("{wait}`{update} {provider}@VERSION` moves to an older version")
        })
    };
    let (title, help) = match youth {
        Youth::Recent { until, .. } => {
            let wait = until.map(|until| format!("wait until {}; ", day(until)));
            let title = format!(
                "{provider} {version} is younger than {min_age}, the least age that {project_file} allows"
            );
            (title, older(&wait.unwrap_or_default()))
        }
        Youth::Undated => {
            let title = format!(
                "nothing states the date of {provider} {version}, and {project_file} refuses such releases"
            );
            (title, older(""))
        }
    };
    let diagnostic = Diagnostic::error(rules::RELEASE_TOO_YOUNG, title)
        .at(subject.file, subject.version(provider), youth.seen_at(now))
        .help(help);
    Finding::about(provider, diagnostic)
}
