//! The one line at the end: what happened, and whether it is alarming.

use std::collections::{BTreeMap, BTreeSet};

use super::causes::{Cause, Risk};
use super::diff::{ChangeKind, ProviderChange};
use super::explain::ExplainedChange;
use super::file::{FileCause, FileReview};
use crate::addr::ProviderAddr;
use crate::version::ScopeChange;

/// What all changes come to.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Verdict {
    /// How much the worst of them matters.
    pub risk: Risk,
    /// What happened, in one sentence.
    pub text: String,
}

/// How many names are listed before the rest is counted.
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
    if risk >= Risk::Warning {
        text += &alarming(&files, name);
    } else if !files.is_empty() {
        text += ", nothing alarming";
    }
    Verdict { risk, text }
}

/// Counts what happened, in the order in which kinds are listed.
fn happened(files: &[(&str, &FileReview)]) -> String {
    let mut groups: BTreeMap<Group, BTreeSet<&ProviderAddr>> = BTreeMap::new();
    for one in files.iter().flat_map(|(_, review)| &review.providers) {
        let group = group(one);
        groups.entry(group).or_default().insert(one.change.addr());
    }
    // Without constraints every version is within them; this is mentioned only if all are so.
    if groups.contains_key(&Group::Within) {
        let free = groups.remove(&Group::Unconstrained).unwrap_or_default();
        groups.entry(Group::Within).or_default().extend(free);
    }
    let mut parts: Vec<String> = Vec::new();
    for (group, addrs) in groups {
        let noun = match (parts.is_empty(), addrs.len()) {
            (false, _) => "",
            (true, 1) => " provider",
            (true, _) => " providers",
        };
        parts.push(format!("{}{noun} {}", addrs.len(), group.words()));
    }
    if parts.is_empty() {
        return of_files(files).to_owned();
    }
    parts.join(", ")
}

/// Returns what happened where no entry changed.
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

/// What happened to a provider, in the order in which it is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Group {
    Added,
    Removed,
    OtherSource,
    /// Upgraded to what the constraints of before allow: the everyday case.
    Within,
    /// Upgraded, and neither side records constraints.
    Unconstrained,
    Widened,
    Against,
    Downgraded,
    OtherHashes,
    FewerHashes,
    MoreHashes,
    OtherConstraints,
    SameConstraints,
}

impl Group {
    fn words(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Removed => "removed",
            Self::OtherSource => "from another source",
            Self::Within => "upgraded within constraints",
            Self::Unconstrained => "upgraded",
            Self::Widened => "upgraded with new constraints",
            Self::Against => "upgraded against the constraints",
            Self::Downgraded => "downgraded",
            Self::OtherHashes => "with other hashes under the same version",
            Self::FewerHashes => "with fewer hashes",
            Self::MoreHashes => "with more hashes",
            Self::OtherConstraints => "with other constraints",
            Self::SameConstraints => "with constraints written in another way",
        }
    }
}

/// Of several kinds the one counts that changes most at the next `init`.
const GROUPS: [(ChangeKind, Group); 9] = [
    (ChangeKind::Added, Group::Added),
    (ChangeKind::Removed, Group::Removed),
    (ChangeKind::HostSwitched, Group::OtherSource),
    (ChangeKind::NamespaceSwitched, Group::OtherSource),
    (ChangeKind::Downgraded, Group::Downgraded),
    (ChangeKind::HashesReplaced, Group::OtherHashes),
    (ChangeKind::HashesRemoved, Group::FewerHashes),
    (ChangeKind::HashesAdded, Group::MoreHashes),
    (ChangeKind::ConstraintsChanged, Group::OtherConstraints),
];

fn group(one: &ExplainedChange) -> Group {
    let ExplainedChange {
        change, explained, ..
    } = one;
    let mut kinds = GROUPS
        .iter()
        .filter(|(kind, _)| change.kinds.contains(kind));
    let is_upgrade = change.kinds.contains(&ChangeKind::Upgraded);
    match kinds.next().map(|(_, group)| *group) {
        Some(group) if group < Group::Within => group,
        _ if is_upgrade => upgraded(change),
        Some(Group::OtherConstraints)
            if explained
                .causes
                .contains(&Cause::Constraints(ScopeChange::Same)) =>
        {
            Group::SameConstraints
        }
        Some(group) => group,
        None => Group::OtherHashes,
    }
}

fn upgraded(change: &ProviderChange) -> Group {
    let (Some(old), Some(new)) = (change.before(), change.now()) else {
        return Group::Unconstrained;
    };
    let (before, now) = (&old.lock.constraints, &new.lock.constraints);
    if before.is_empty() && now.is_empty() {
        Group::Unconstrained
    } else if !now.allows(&new.lock.version) {
        Group::Against
    } else if before.allows(&new.lock.version) {
        Group::Within
    } else {
        Group::Widened
    }
}

/// Lists what a reader has to look at, the worst first.
fn alarming(files: &[(&str, &FileReview)], name: impl Fn(&ProviderAddr) -> String) -> String {
    let several = files.len() > 1;
    let mut text = String::new();
    for risk in [Risk::Danger, Risk::Warning] {
        // What is alarming, with the files in which it is unless it is a file itself.
        let mut found: Vec<(String, Vec<&str>)> = Vec::new();
        for (path, review) in files {
            let own = review.providers.iter();
            for one in own.filter(|one| one.explained.risk == risk) {
                let name = name(one.change.addr());
                match found.iter_mut().find(|(known, _)| *known == name) {
                    Some((_, paths)) => paths.push(path),
                    None => found.push((name, vec![path])),
                }
            }
            if review.causes.iter().any(|cause| cause.risk() == risk) {
                let of_file = if several { path } else { "the file itself" };
                found.push((of_file.to_owned(), Vec::new()));
            }
        }
        if found.is_empty() {
            continue;
        }
        let more = found.len().saturating_sub(MAX_NAMES);
        found.truncate(MAX_NAMES);
        let names = found.into_iter().map(|(name, mut paths)| {
            paths.dedup();
            match (several, paths.len()) {
                (false, _) | (true, 0) => name,
                (true, 1) => format!("{name} in {}", paths[0]),
                (true, count) => format!("{name} in {} and {} more", paths[0], count - 1),
            }
        });
        let names: Vec<String> = names.collect();
        text += &format!("; {}: {}", risk.name(), names.join(", "));
        if more > 0 {
            text += &format!(" and {more} more");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::Texts;
    use crate::flavor::Flavor;
    use crate::review::{LockSide, review};

    /// Returns the verdict on entries that are written as `TYPE VERSION CONSTRAINTS | HASHES`.
    fn text_of(old: &[&str], new: &[&str]) -> String {
        let text = |lines: &[&str]| {
            let entries = lines.iter().map(|line| {
                let (head, hashes) = line.split_once('|').unwrap_or((line, ""));
                let mut words = head.splitn(3, ' ');
                let mut next = || words.next().unwrap_or_default().trim();
                let (name, version, constraints) = (next(), next(), next());
                let hashes = hashes.split_whitespace();
                let hashes: String = hashes.map(|hash| format!("\"h1:{hash}\", ")).collect();
                let constraints = match constraints {
                    "" => String::new(),
                    text => format!("constraints = \"{text}\"\n"),
                };
                format!(
                    "provider \"x.io/a/{name}\" {{\nversion = \"{version}\"\n{constraints}hashes = [{hashes}]\n}}\n"
                )
            });
            entries.collect::<String>()
        };
        let file = Texts::default().add("", Vec::new());
        let texts = [old, new].map(text);
        let read = |text: String| {
            let side = LockSide::read(file, text.into_bytes(), Flavor::Terraform1_16);
            let faults: Vec<&str> = side.diagnostics.iter().map(|one| &*one.title).collect();
            assert!(
                faults.iter().all(|title| title.contains("hashes")),
                "{faults:?}"
            );
            side
        };
        let [old, new] = texts.map(read);
        let review = review(Some(&old), Some(&new));
        verdict(&[("x", &review)], |addr| addr.type_name().to_owned()).text
    }

    #[track_caller]
    fn check(old: &[&str], new: &[&str], wanted: &str) {
        assert_eq!(text_of(old, new), wanted, "{old:?} -> {new:?}");
    }

    #[test]
    fn each_provider_is_counted_once_for_what_matters_most() {
        check(&["a 1.0.0 | x"], &["a 1.0.0 | x"], "nothing changed");
        check(
            &["a 1.0.0 | x"],
            &["a 1.1.0 | y"],
            "1 provider upgraded, nothing alarming",
        );
        check(
            &["a 1.0.0 ~> 1.0 | x", "b 1.0.0 | x"],
            &["a 1.1.0 ~> 1.0 | y", "b 1.1.0 | y"],
            "2 providers upgraded within constraints, nothing alarming",
        );
        check(
            &["a 1.0.0 ~> 1.0 | x", "b 1.0.0 ~> 1.0 | x", "c 1.0.0 | x"],
            &[
                "a 1.0.0 ~> 1.0 | x y",
                "b 1.0.0 >= 1.0.0 | x y",
                "c 1.0.0 >= 1.0.0 | x",
            ],
            "2 providers with more hashes, 1 with other constraints, nothing alarming",
        );
        check(
            &["a 1.1.0 ~> 1.1 | x"],
            &["a 1.1.0 >= 1.0.0, ~> 1.1 | x"],
            "1 provider with constraints written in another way, nothing alarming",
        );
        check(
            &["a 1.1.0 ~> 1.1 | x", "b 1.0.0 ~> 1.0 | x"],
            &["a 2.1.0 ~> 2.1 | y", "b 3.0.0 ~> 1.0 | y"],
            "1 provider upgraded with new constraints, 1 upgraded against the constraints, nothing alarming",
        );
        check(
            &["a 1.1.0 | x", "b 1.0.0 | x y"],
            &["a 1.0.0 | y", "b 1.0.0 | x"],
            "1 provider downgraded, 1 with fewer hashes; warning: a, b",
        );
        check(
            &["a 1.1.0 | x"],
            &["a 1.1.0 ~> 1.0 | y"],
            "1 provider with other hashes under the same version; danger: a",
        );
    }
}
