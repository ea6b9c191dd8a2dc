//! The one line at the end: what happened, and whether somebody has to look.

use std::collections::{BTreeMap, BTreeSet};

use super::causes::Risk;
use super::diff::{Kind, ProviderChange};
use super::file::{FileCause, FileReview};
use crate::addr::ProviderAddr;

/// What to think of all changes together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// How much the worst of them matters.
    pub risk: Risk,
    /// What happened, and where to look; no capital letter, no period.
    pub text: String,
}

/// How many names are told before the rest is counted.
const MAX_NAMES: usize = 3;

/// Sums up the changes of files, each with the name of the file; `name` spells an address.
#[must_use]
pub fn verdict(files: &[(&str, &FileReview)], name: impl Fn(&ProviderAddr) -> String) -> Verdict {
    let all = files.iter().filter(|(_, review)| !review.is_empty());
    let files: Vec<(&str, &FileReview)> = all.copied().collect();
    let worst = files.iter().map(|(_, review)| review.risk()).max();
    let risk = worst.unwrap_or_default();
    let mut text = happened(&files);
    if files.len() > 1 {
        text += &format!(" in {} lock files", files.len());
    }
    match risk < Risk::Warning {
        true if files.is_empty() => {}
        true => text += ", nothing alarming",
        false => text += &alarming(&files, name),
    }
    Verdict { risk, text }
}

/// Counts what happened, in the order in which kinds are told.
fn happened(files: &[(&str, &FileReview)]) -> String {
    let mut counts: BTreeMap<(Option<Kind>, &str), BTreeSet<&ProviderAddr>> = BTreeMap::new();
    for (change, _) in files.iter().flat_map(|(_, review)| &review.providers) {
        let group = (change.kinds.first().copied(), group(change));
        counts.entry(group).or_default().insert(change.addr());
    }
    let mut parts: Vec<String> = Vec::new();
    for ((_, words), addrs) in counts {
        let noun = match (parts.is_empty(), addrs.len()) {
            (false, _) => "",
            (true, 1) => " provider",
            (true, _) => " providers",
        };
        parts.push(format!("{}{noun} {words}", addrs.len()));
    }
    if parts.is_empty() {
        return of_files(files).to_owned();
    }
    parts.join(", ")
}

/// Says what happened where no entry changed.
fn of_files(files: &[(&str, &FileReview)]) -> &'static str {
    let mut causes = files.iter().flat_map(|(_, review)| &review.causes);
    match causes.next() {
        None => "nothing changed",
        Some(FileCause::FormatOnly) if causes.all(|cause| *cause == FileCause::FormatOnly) => {
            "nothing but the formatting changed"
        }
        Some(_) => "no entry of a provider changed",
    }
}

/// Returns what happened to a provider, in the words of the verdict.
fn group(change: &ProviderChange) -> &'static str {
    match change.kinds.first() {
        Some(Kind::Added) => "added",
        Some(Kind::Removed) => "removed",
        Some(Kind::HostSwitched | Kind::NamespaceSwitched) => "from another source",
        Some(Kind::Upgraded) => upgraded(change),
        Some(Kind::Downgraded) => "downgraded",
        Some(Kind::ConstraintsChanged) => "with other constraints",
        Some(Kind::HashesAdded) => "with more hashes",
        Some(Kind::HashesRemoved) => "with fewer hashes",
        Some(Kind::HashesReplaced) | None => "with other hashes under the same version",
    }
}

/// An upgrade that the constraints of before allow is the everyday one.
fn upgraded(change: &ProviderChange) -> &'static str {
    let (Some(old), Some(new)) = (change.before(), change.now()) else {
        return "upgraded";
    };
    let (before, now) = (&old.lock.constraints, &new.lock.constraints);
    if before.is_empty() && now.is_empty() {
        "upgraded"
    } else if !now.allows(&new.lock.version) {
        "upgraded against the constraints"
    } else if before.allows(&new.lock.version) {
        "upgraded within constraints"
    } else {
        "upgraded with new constraints"
    }
}

/// Names what somebody has to look at, the worst first.
fn alarming(files: &[(&str, &FileReview)], name: impl Fn(&ProviderAddr) -> String) -> String {
    let several = files.len() > 1;
    let mut text = String::new();
    for risk in [Risk::Danger, Risk::Warning] {
        let mut names: Vec<String> = Vec::new();
        for (path, review) in files {
            if review.causes.iter().any(|cause| cause.risk() == risk) {
                names.push(match several {
                    true => (*path).to_owned(),
                    false => "the file itself".to_owned(),
                });
            }
            let own = review.providers.iter();
            let own = own.filter(|(_, explained)| explained.risk == risk);
            names.extend(own.map(|(change, _)| name(change.addr())));
        }
        let mut seen = BTreeSet::new();
        names.retain(|name| seen.insert(name.clone()));
        if names.is_empty() {
            continue;
        }
        let more = names.len().saturating_sub(MAX_NAMES);
        names.truncate(MAX_NAMES);
        text += &format!("; {}: {}", risk.name(), names.join(", "));
        if more > 0 {
            text += &format!(" and {more} more");
        }
    }
    text
}
