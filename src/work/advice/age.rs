//! Advice on releases that are too young.

use std::time::SystemTime;

use crate::diag::RootCommand;
use crate::locker::{AgeSearch, PassedOver};
use crate::package::Youth;
use crate::package::calendar::day;

/// Maximum number of releases that are named as too young.
const MAX_NAMED: usize = 5;

/// Says which releases were passed over on the way to the selected one; `None` if none were.
pub(crate) fn passed_over(name: &str, search: &AgeSearch) -> Option<String> {
    if search.passed_over.is_empty() {
        return None;
    }
    let named = named(search, |release| {
        format!(
            "{} ({})",
            release.version,
            release.youth.seen_at(search.now)
        )
    });
    let verb = match search.passed_over.len() {
        1 => "was",
        _ => "were",
    };
    Some(format!(
        "{name} {} {verb} passed over: a release must be at least {} old",
        named.join(", "),
        search.policy.min_age
    ))
}

/// Lists why no release is old enough.
pub(crate) fn causes(search: &AgeSearch) -> Vec<String> {
    let mut causes = named(search, |release| {
        let until = until(release).map(|until| format!("; old enough on {}", day(until)));
        let (version, until) = (&release.version, until.unwrap_or_default());
        format!("{version}: {}{until}", release.youth.seen_at(search.now))
    });
    if search.not_asked > 0 {
        causes.push(format!(
            "the {} newest versions were looked at, {} others were not",
            search.passed_over.len(),
            search.not_asked
        ));
    }
    causes
}

/// Says what to do where no release is old enough; `update` is the command that moves versions of the root.
pub(crate) fn help(search: &AgeSearch, name: &str, update: &RootCommand) -> String {
    let accepts_any = search
        .passed_over
        .first()
        .map_or_else(String::new, |release| {
            let update = update.with(format!("{name}@{} --min-age 0d", release.version));
            format!("; `{update}` accepts any age")
        });
    let first = search
        .passed_over
        .iter()
        .filter_map(|release| Some((until(release)?, &release.version)));
    match first.min_by_key(|(until, _)| *until) {
        // The search ends after 30 releases (`locker` rules 3.3): an older one that was not checked may be old
        // enough now, so waiting may not be necessary.
        _ if search.not_asked > 0 => {
            format!(
                "state a constraint that only older versions meet, or a shorter least age{accepts_any}"
            )
        }
        Some((until, version)) => format!(
            "wait until {}, when {version} is old enough, or state a shorter least age{accepts_any}",
            day(until)
        ),
        None => "nothing states a date of these releases: to accept them, leave out `undated = \
                 \"refuse\"` in the policy of the project file"
            .to_owned(),
    }
}

/// Returns when a release becomes old enough, if that is known.
pub(crate) fn until(release: &PassedOver) -> Option<SystemTime> {
    match release.youth {
        Youth::Recent { until, .. } => until,
        Youth::Undated => None,
    }
}

/// Says something of each release that is too young; of the first few, if there are many.
fn named(search: &AgeSearch, say: impl Fn(&PassedOver) -> String) -> Vec<String> {
    let all = &search.passed_over;
    let mut named: Vec<String> = all.iter().take(MAX_NAMED).map(say).collect();
    if all.len() > MAX_NAMED {
        named.push(format!("and {} more", all.len() - MAX_NAMED));
    }
    named
}
