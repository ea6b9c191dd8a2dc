//! The last sentence about a root, and the comparison of its lock file before and after.

use super::provenance;
use super::rows;
use crate::diag::counted_as;
use crate::hash::Hash;
use crate::locker::Locked;
use crate::lockfile::{self, Document, Places};
use crate::report::{RootResult, Sentence, Tone};
use crate::resolve::Goals;
use crate::review::{FileComparison, LockSide};
use crate::run::root::{LockText, Root};
use crate::run::unseen::{CallNames, UnseenParts};

/// The state of the lock file at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LockEnding {
    UpToDate,
    Written,
    WouldWrite,
}

/// Says how it ended.
pub(super) fn verdict(
    ending: LockEnding,
    locked: &Locked,
    goals: &Goals,
    root: &Root,
    written: &str,
) -> Sentence {
    let path = root.lock_path.display();
    let adds_nothing = locked
        .providers
        .iter()
        .all(|outcome| outcome.added.is_empty());
    let text = match (ending, &root.lock) {
        // Nothing is known of the entries that were left alone.
        (LockEnding::UpToDate, _) if goals.others.is_none() => {
            let names: Vec<String> = locked
                .providers
                .iter()
                .map(|outcome| outcome.provider.short(root.flavor))
                .collect();
            format!("{path} is up to date for {}", names.join(", "))
        }
        (LockEnding::UpToDate, _) => format!("{path} is up to date"),
        (LockEnding::Written, Some(old)) if adds_nothing => {
            format!("updated {path}{}", changes(old, locked, written))
        }
        (LockEnding::Written, old) => {
            let verb = if old.is_some() { "updated" } else { "created" };
            let moved = locked
                .providers
                .iter()
                .filter(|outcome| outcome.moved_from.is_some());
            let versions = match moved.count() {
                0 => String::new(),
                n => format!("; {}", counted_as(n, "version moved", "versions moved")),
            };
            format!("{verb} {path}{versions}{}", provenance::added(locked))
        }
        (LockEnding::WouldWrite, old) => {
            let verb = match old {
                Some(old) if adds_nothing => format!("change{}", changes(old, locked, written)),
                Some(_) => "change".to_owned(),
                None => "be created".to_owned(),
            };
            let text = format!("{path} would {verb}; nothing was written");
            return Sentence::warning(text);
        }
    };
    // A package that matches nothing recorded is no error (`locker` rules 2.4), but no good news either.
    let has_unexplained = locked
        .providers
        .iter()
        .any(|outcome| outcome.unexplained > 0);
    let tone = if has_unexplained {
        Tone::Warning
    } else {
        Tone::Good
    };
    Sentence { tone, text }
}

/// Says how it ended in words that many roots share.
pub(super) fn outcome(
    ending: LockEnding,
    locked: &Locked,
    goals: &Goals,
    root: &Root,
    text: &str,
) -> String {
    let adds_nothing = locked
        .providers
        .iter()
        .all(|outcome| outcome.added.is_empty());
    match (ending, &root.lock) {
        (LockEnding::UpToDate, _) if goals.move_something() => {
            "no version to move, lock file up to date".to_owned()
        }
        (LockEnding::UpToDate, _) => "lock file up to date".to_owned(),
        (LockEnding::Written, Some(old)) if adds_nothing => {
            format!("lock file updated{}", changes(old, locked, text))
        }
        (LockEnding::Written, Some(_)) => "lock file updated".to_owned(),
        (LockEnding::Written, None) => "lock file created".to_owned(),
        (LockEnding::WouldWrite, Some(old)) if adds_nothing => {
            let changes = changes(old, locked, text);
            format!("lock file would change{changes}; nothing was written")
        }
        (LockEnding::WouldWrite, Some(_)) => {
            "lock file would change; nothing was written".to_owned()
        }
        (LockEnding::WouldWrite, None) => {
            "lock file would be created; nothing was written".to_owned()
        }
    }
}

/// Lists the changes of a lock file without any added hash.
fn changes(before: &LockText, locked: &Locked, text: &str) -> String {
    let old = &before.document.lock;
    let stale = locked.providers.iter().filter(|outcome| {
        let new = &locked.lock.providers[&outcome.provider];
        let old = old.providers.get(&outcome.provider);
        old.is_some_and(|old| old.constraints != new.constraints)
    });
    let mut parts: Vec<String> = provenance::taken_out(locked).collect();
    match stale.count() {
        0 => {}
        1 => parts.push("the constraints of 1 provider".to_owned()),
        n => parts.push(format!("the constraints of {n} providers")),
    }
    match locked.removed.len() {
        0 => {}
        1 => parts.push("1 provider removed".to_owned()),
        n => parts.push(format!("{n} providers removed")),
    }
    if parts.is_empty() {
        format!("; {}", layout(before, text))
    } else {
        format!("; {}", parts.join(", "))
    }
}

/// Says how the text differs that locks the same.
fn layout(before: &LockText, text: &str) -> String {
    if lockfile::has_crlf_only(&before.bytes, text) {
        return "line ends only (CRLF)".to_owned();
    }
    let document = &before.document;
    let mut parts = Vec::new();
    if lockfile::header_of(&before.bytes) != lockfile::header_of(text.as_bytes()) {
        parts.push("header");
    }
    let entries = document.places.values();
    if !entries.is_sorted_by_key(|places| places.header.start) {
        parts.push("order of entries");
    }
    let is_in_order = |places: &Places| {
        let hashes: Vec<&Hash> = places.listed.iter().map(|(hash, _)| hash).collect();
        hashes.is_sorted_by(|a, b| a < b)
    };
    if !document.places.values().all(is_in_order) {
        parts.push("order of hashes");
    }
    if parts.is_empty() {
        parts.push("layout");
    }
    format!("{} only", parts.join(" and "))
}

/// Compares the lock file with the text that would replace it.
pub(super) fn comparison(root: &Root, locked: &Locked, text: &str) -> FileComparison {
    let old = root.lock.as_ref().map(|lock| LockSide {
        bytes: lock.bytes.to_vec(),
        document: lock.document.clone(),
        diagnostics: lock.diagnostics.clone(),
        flavor: root.flavor,
    });
    let new = LockSide {
        bytes: text.as_bytes().to_vec(),
        document: Document {
            lock: locked.lock.clone(),
            header: Some(root.flavor.program()),
            ..Document::default()
        },
        diagnostics: Vec::new(),
        flavor: root.flavor,
    };
    let path = root.lock_path.display().to_string();
    let mut comparison = FileComparison::of(path, old, Some(new));
    for explained in &mut comparison.review.providers {
        let provider = explained.change.addr();
        let outcome = locked
            .providers
            .iter()
            .find(|outcome| outcome.provider == *provider);
        if let Some(outcome) = outcome {
            explained.owners = rows::platforms_of_changes(outcome);
        }
    }
    comparison
}

/// Reports a root that requires no provider that is to move.
pub(super) fn not_concerned(result: &mut RootResult, root: &Root) {
    result.changed = Some(false);
    result.lock_mut().outcome = Some("no provider that is named is required".to_owned());
    result.verdict = Some(Sentence::good(format!(
        "{}: requires no provider that is named",
        root.dir.display()
    )));
}

/// Reports a root in whose visible configuration nothing requires a provider.
pub(super) fn nothing_required(result: &mut RootResult, root: &Root, unseen: &UnseenParts<'_>) {
    let dir = root.dir.display();
    let remark = if unseen.loaded.requirements.unseen_calls.is_empty() {
        None
    } else {
        unseen.remark(CallNames::Listed, "and may require providers")
    };
    result.changed = Some(false);
    result.lock_mut().outcome = Some(
        match remark {
            None => "no provider is required, so there is nothing to lock",
            Some(_) => "no visible module requires a provider, so nothing was locked",
        }
        .to_owned(),
    );
    result.verdict = Some(match remark {
        None => Sentence::good(format!(
            "{dir}: no provider is required, so there is nothing to lock"
        )),
        Some(remark) => Sentence::warning(format!(
            "{dir}: no visible module requires a provider, so nothing was locked; {remark}"
        )),
    });
}
