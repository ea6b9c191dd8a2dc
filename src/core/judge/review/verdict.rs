//! The line at the end of a review: the changes in numbers, and the alarming ones by name.

use std::collections::{BTreeMap, BTreeSet};

use super::causes::Risk;
use super::diff::{ChangeKind, ProviderChange};
use super::file::{FileCause, FileReview};
use crate::addr::ProviderAddr;
use crate::diag::counted_as;
use crate::version::{ScopeChange, scope_change};

/// The sum of all changes.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Verdict {
    /// The highest risk of the changes.
    pub risk: Risk,
    /// The changes in one sentence, without a period.
    pub text: String,
}

/// Maximum number of names that are listed; the rest is counted. The line is to be read at a glance.
const MAX_NAMES: usize = 3;

/// Sums up the changes of files, each with the name of the file; `name` spells an address.
#[must_use]
pub fn verdict(files: &[(&str, &FileReview)], name: impl Fn(&ProviderAddr) -> String) -> Verdict {
    let files: Vec<(&str, &FileReview)> = files
        .iter()
        .filter(|(_, review)| !review.is_empty())
        .copied()
        .collect();
    let risk = files
        .iter()
        .map(|(_, review)| review.risk())
        .max()
        .unwrap_or_default();
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

/// Counts the changes of providers, in the order of their groups.
fn happened(files: &[(&str, &FileReview)]) -> String {
    let mut groups: BTreeMap<ChangeGroup, BTreeSet<&ProviderAddr>> = BTreeMap::new();
    for explained in files.iter().flat_map(|(_, review)| &review.providers) {
        let addrs = groups.entry(group(&explained.change)).or_default();
        addrs.insert(explained.change.addr());
    }
    // Without constraints every version is within them; this is mentioned only if all are so.
    if groups.contains_key(&ChangeGroup::Within) {
        let free = groups
            .remove(&ChangeGroup::Unconstrained)
            .unwrap_or_default();
        groups.entry(ChangeGroup::Within).or_default().extend(free);
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
    let pins: usize = files.iter().map(|(_, review)| review.pins.len()).sum();
    if pins > 0 {
        parts.push(counted_as(
            pins,
            "pinned module changed",
            "pinned modules changed",
        ));
    }
    if !parts.is_empty() {
        return parts.join(", ");
    }
    let mut causes = files
        .iter()
        .flat_map(|(_, review)| &review.causes)
        .peekable();
    if causes.peek().is_none() {
        "nothing changed".to_owned()
    } else if causes.all(|cause| cause.kind == FileCause::FormatOnly) {
        "nothing but the formatting changed".to_owned()
    } else {
        "no entry of a provider changed".to_owned()
    }
}

/// A group of changes of providers, in the order of the counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum ChangeGroup {
    Added,
    Removed,
    OtherSource,
    /// Upgraded to a version that the constraints of before allow: the everyday case.
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
    WithFault,
    WithoutFault,
}

impl ChangeGroup {
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
            Self::WithFault => "with a fault",
            Self::WithoutFault => "without its fault",
        }
    }
}

/// The groups of kinds of change. Of several kinds the first one here counts: it changes most at the next
/// `init`.
const GROUPS: [(ChangeKind, ChangeGroup); 11] = [
    (ChangeKind::Added, ChangeGroup::Added),
    (ChangeKind::Removed, ChangeGroup::Removed),
    (ChangeKind::HostSwitched, ChangeGroup::OtherSource),
    (ChangeKind::NamespaceSwitched, ChangeGroup::OtherSource),
    (ChangeKind::Downgraded, ChangeGroup::Downgraded),
    (ChangeKind::HashesReplaced, ChangeGroup::OtherHashes),
    (ChangeKind::HashesRemoved, ChangeGroup::FewerHashes),
    (ChangeKind::HashesAdded, ChangeGroup::MoreHashes),
    (
        ChangeKind::ConstraintsChanged,
        ChangeGroup::OtherConstraints,
    ),
    (ChangeKind::FaultAdded, ChangeGroup::WithFault),
    (ChangeKind::FaultRemoved, ChangeGroup::WithoutFault),
];

fn group(change: &ProviderChange) -> ChangeGroup {
    let first = GROUPS
        .iter()
        .find(|(kind, _)| change.kinds.contains(kind))
        .map(|(_, group)| *group);
    let sides = change.before().zip(change.now());
    match first {
        Some(group) if group < ChangeGroup::Within => group,
        _ if change.kinds.contains(&ChangeKind::Upgraded) => {
            let Some((old, new)) = sides else {
                return ChangeGroup::Unconstrained;
            };
            let (before, now) = (&old.lock.constraints, &new.lock.constraints);
            if before.is_empty() && now.is_empty() {
                ChangeGroup::Unconstrained
            } else if !now.allows(&new.lock.version) {
                // No program writes that: they select only what the constraints allow (`resolve` rules 1.2, 1.3).
                ChangeGroup::Against
            } else if before.allows(&new.lock.version) {
                ChangeGroup::Within
            } else {
                ChangeGroup::Widened
            }
        }
        Some(ChangeGroup::OtherConstraints) => {
            let allows_the_same = sides.is_some_and(|(old, new)| {
                let (before, now) = (&old.lock.constraints, &new.lock.constraints);
                !before.is_empty()
                    && !now.is_empty()
                    && scope_change(before, now) == ScopeChange::Same
            });
            if allows_the_same {
                ChangeGroup::SameConstraints
            } else {
                ChangeGroup::OtherConstraints
            }
        }
        first => first.unwrap_or(ChangeGroup::OtherHashes),
    }
}

/// Lists the providers and files that a reader has to look at, the worst first.
fn alarming(files: &[(&str, &FileReview)], name: impl Fn(&ProviderAddr) -> String) -> String {
    let several = files.len() > 1;
    let mut text = String::new();
    for risk in [Risk::Danger, Risk::Warning] {
        // Providers and modules, each with its files, and files themselves.
        let mut alarms: BTreeMap<String, Vec<&str>> = BTreeMap::new();
        for (path, review) in files {
            let providers = review
                .providers
                .iter()
                .filter(|explained| explained.explained.risk == risk)
                .map(|explained| name(explained.change.addr()));
            let modules = review
                .pins
                .iter()
                .filter(|change| change.risk == risk)
                .map(|change| format!("module {}", change.module));
            for name in providers.chain(modules) {
                alarms.entry(name).or_default().push(path);
            }
            if review.causes.iter().any(|cause| cause.risk == risk) {
                let of_file = if several { path } else { "the file itself" };
                alarms.entry(of_file.to_owned()).or_default();
            }
        }
        if alarms.is_empty() {
            continue;
        }
        // This is one line of a long report, and each alarm has its own place below.
        let more = alarms.len().saturating_sub(MAX_NAMES);
        let names: Vec<String> = alarms
            .into_iter()
            .take(MAX_NAMES)
            .map(|(name, mut paths)| {
                paths.dedup();
                match (several, paths.len()) {
                    (false, _) | (true, 0) => name,
                    (true, 1) => format!("{name} in {}", paths[0]),
                    (true, count) => format!("{name} in {} and {} more", paths[0], count - 1),
                }
            })
            .collect();
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
            let faults: Vec<&str> = side.diagnostics.iter().map(|fault| &*fault.title).collect();
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
