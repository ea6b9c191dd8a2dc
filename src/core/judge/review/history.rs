//! The changes of providers in the past states of a lock file.

use std::collections::{BTreeMap, BTreeSet};

use super::diff::{ProviderChange, diff};
use super::explain::ExplainedChange;
use crate::addr::{AddrError, ProviderAddr};
use crate::flavor::Flavor;
use crate::lockfile::LockFile;

/// One step in the history of a lock file, as a commit made it; states have names of type `V`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistoryStep<V> {
    /// The state before; `None` if there was no file.
    pub old: Option<V>,
    /// The state after; `None` if there is no file any more.
    pub new: Option<V>,
    /// The states that a merge could have taken besides `old`: those of its other parents.
    pub others: Vec<Option<V>>,
}

/// The change of one provider by a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistoryChange {
    /// The index of the step, counted from the newest.
    pub step: usize,
    /// The difference between the entries, with the causes that these show.
    pub explained: ExplainedChange,
}

/// The providers that a history is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HistoryFilter {
    /// Every provider of the file.
    All,
    /// Providers of a type, from any registry and namespace.
    Type(String),
    /// One provider, and before that those that it replaced.
    Provider(ProviderAddr),
}

impl HistoryFilter {
    /// Reads a type as in `aws`, or an address as in `hashicorp/aws`.
    ///
    /// # Errors
    /// If the text is no address.
    pub fn parse(text: &str, flavor: Flavor) -> Result<Self, AddrError> {
        let addr = ProviderAddr::parse(text, flavor)?;
        Ok(if text.contains('/') {
            Self::Provider(addr)
        } else {
            Self::Type(addr.type_name().to_owned())
        })
    }
}

/// Explains the changes of each step, the newest first, as the steps are given.
///
/// `locks` holds the states that could be read. A step to a state that could not be read is
/// skipped, and the next one is compared with the last state before that could be. An entry that a merge took
/// from one of its parents as it was is no change of the merge.
///
/// ```
/// use std::collections::BTreeMap;
///
/// use lockctl_core::diag::FileId;
/// use lockctl_core::flavor::Flavor;
/// use lockctl_core::lockfile;
/// use lockctl_core::review::{ChangeKind, HistoryFilter, HistoryStep, history};
///
/// let text = b"provider \"registry.terraform.io/hashicorp/null\" {\n  version = \"3.2.4\"\n}\n";
/// let (document, _) = lockfile::parse(FileId::ALONE, text, Flavor::Terraform1_16);
/// let locks = BTreeMap::from([("first", document.lock)]);
/// let steps = [HistoryStep {
///     old: None,
///     new: Some("first"),
///     others: Vec::new(),
/// }];
/// let changes = history(&steps, &locks, &HistoryFilter::All);
/// assert!(changes[0].explained.change.kinds.contains(&ChangeKind::Added));
/// ```
#[must_use]
pub fn history<V: Ord>(
    steps: &[HistoryStep<V>],
    locks: &BTreeMap<V, LockFile>,
    filter: &HistoryFilter,
) -> Vec<HistoryChange> {
    let nothing = LockFile::default();
    // Grows on the way into the past: a provider that was replaced is part of the history of the other one.
    let mut wanted = BTreeSet::new();
    if let HistoryFilter::Provider(addr) = filter {
        wanted.insert(addr.clone());
    }
    let mut changes = Vec::new();
    for (index, step) in steps.iter().enumerate() {
        let new = match &step.new {
            // A commit that removed the file removed all entries.
            None => &nothing,
            Some(name) => match locks.get(name) {
                Some(lock) => lock,
                None => continue,
            },
        };
        let old = step
            .old
            .as_ref()
            .and_then(|name| last_readable(name, &steps[index + 1..], locks));
        let others: Vec<&LockFile> = step
            .others
            .iter()
            .filter_map(|name| match name {
                Some(name) => locks.get(name),
                // A parent without the file has no entries: a merge may take their absence over.
                None => Some(&nothing),
            })
            .collect();
        for change in diff(old.unwrap_or(&nothing), new).providers {
            let now = change.now().map(|side| &side.lock);
            let before = change.before().map(|side| &side.addr);
            // A merge has the entry, or has none, as one of its other parents.
            let is_taken_over = others.iter().any(|other| {
                // A provider that replaced another one was taken over only if that one was removed there, too.
                let is_removed = before.is_none_or(|addr| {
                    addr == change.addr() && now.is_some() || !other.providers.contains_key(addr)
                });
                other.providers.get(change.addr()) == now && is_removed
            });
            if is_taken_over {
                continue;
            }
            if is_wanted(&change, filter, &mut wanted) {
                changes.push(HistoryChange {
                    step: index,
                    explained: ExplainedChange::of(change),
                });
            }
        }
    }
    changes
}

/// Returns true for a change that the filter wants; an address before it joins the wanted ones.
fn is_wanted(
    change: &ProviderChange,
    filter: &HistoryFilter,
    wanted: &mut BTreeSet<ProviderAddr>,
) -> bool {
    match filter {
        HistoryFilter::All => true,
        HistoryFilter::Type(name) => change.addr().type_name() == name,
        HistoryFilter::Provider(_) => {
            let before = change.before().map(|side| &side.addr);
            let is_wanted =
                wanted.contains(change.addr()) || before.is_some_and(|addr| wanted.contains(addr));
            if is_wanted {
                wanted.extend(before.cloned());
            }
            is_wanted
        }
    }
}

/// Finds a state, or the last one before it that could be read.
fn last_readable<'l, V: Ord>(
    name: &V,
    older: &[HistoryStep<V>],
    locks: &'l BTreeMap<V, LockFile>,
) -> Option<&'l LockFile> {
    let mut name = name;
    let mut older = older.iter();
    loop {
        if let Some(lock) = locks.get(name) {
            return Some(lock);
        }
        let made = older.find(|step| step.new.as_ref() == Some(name))?;
        name = made.old.as_ref()?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::Hashes;
    use crate::lockfile::ProviderLock;
    use crate::version::Constraints;

    const FLAVOR: Flavor = Flavor::Terraform1_16;

    /// A lock file from entries `ADDRESS=VERSION`.
    fn file(text: &str) -> LockFile {
        let entries = text.split_whitespace().map(|entry| {
            let (addr, version) = entry.split_once('=').unwrap();
            let lock = ProviderLock {
                version: version.parse().unwrap(),
                constraints: Constraints::default(),
                hashes: Hashes::default(),
            };
            (ProviderAddr::parse(addr, FLAVOR).unwrap(), lock)
        });
        LockFile {
            providers: entries.collect(),
        }
    }

    /// Checks steps `OLD -> NEW [| OTHER …]`, the newest first, against lines `STEP TYPE KIND …`.
    ///
    /// States are written as what they hold: `-` is no file, `?…` one that cannot be read.
    #[track_caller]
    fn check(steps: &[&str], filter: &HistoryFilter, wanted: &[&str]) {
        let state = |text: &str| Some(text.trim().to_owned()).filter(|text| text != "-");
        let steps = steps.iter().map(|step| {
            let mut parts = step.split('|');
            let (old, new) = parts.next().unwrap().split_once("->").unwrap();
            HistoryStep {
                old: state(old),
                new: state(new),
                others: parts.map(state).collect(),
            }
        });
        let steps: Vec<HistoryStep<String>> = steps.collect();
        let states = steps.iter().flat_map(|step| {
            let sides = [&step.old, &step.new];
            sides.into_iter().chain(&step.others).flatten()
        });
        let readable = states.filter(|name| !name.starts_with('?'));
        let locks = readable.map(|name| (name.clone(), file(name))).collect();
        let changes = history(&steps, &locks, filter);
        let found = changes.iter().map(|changed| {
            let change = &changed.explained.change;
            let kinds: Vec<&str> = change.kinds.iter().map(|kind| kind.name()).collect();
            let name = change.addr().type_name();
            format!("{} {name} {}", changed.step, kinds.join(" "))
        });
        assert_eq!(found.collect::<Vec<_>>(), wanted, "{steps:?}");
    }

    #[test]
    fn each_step_is_compared_with_the_last_readable_state() {
        let steps = [
            "?broken -> a/x=2.0.0",
            "a/x=1.0.0 -> ?broken",
            "- -> a/x=1.0.0",
        ];
        check(&steps, &HistoryFilter::All, &["0 x upgraded", "2 x added"]);
        check(&["a/x=1.0.0 -> -"], &HistoryFilter::All, &["0 x removed"]);
    }

    #[test]
    fn a_merge_changes_only_what_no_parent_has() {
        let merge = "a/x=1.0.0 a/y=1.0.0 -> a/x=2.0.0 a/y=3.0.0 | a/x=2.0.0 a/y=2.0.0";
        check(&[merge], &HistoryFilter::All, &["0 y upgraded"]);
        let removed = "a/x=1.0.0 a/y=1.0.0 -> a/x=1.0.0 | -";
        check(&[removed], &HistoryFilter::All, &[]);
    }

    #[test]
    fn what_a_provider_replaced_is_part_of_its_history() {
        let steps = [
            "a/x=1.1.0 c/y=1.0.0 -> b/x=1.1.0 c/y=1.0.0",
            "a/x=1.0.0 -> a/x=1.1.0 c/y=1.0.0",
        ];
        let filter = |text| HistoryFilter::parse(text, FLAVOR).unwrap();
        check(
            &steps,
            &filter("b/x"),
            &["0 x namespace-switched", "1 x upgraded"],
        );
        check(
            &steps,
            &filter("a/x"),
            &["0 x namespace-switched", "1 x upgraded"],
        );
        check(&steps, &filter("y"), &["1 y added"]);
    }
}
