//! The last sentence about a root, and the comparison of its lock file before and after.

use super::{LockOptions, rows};
use crate::diag::{FileId, counted, counted_as};
use crate::locker::{Locked, ProviderOutcome};
use crate::lockfile::{self, Places};
use crate::report::{RootResult, Sentence, Tone};
use crate::resolve::Goals;
use crate::review::{FileComparison, LockSide};
use crate::run::root::Root;
use crate::run::unseen::{CallNames, UnseenParts};

/// The state of the lock file at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LockEnding {
    UpToDate,
    Written,
    WouldWrite,
}

impl LockEnding {
    /// Returns the state after a run whose text differs from that of the lock file, or not.
    pub(super) fn after(is_changed: bool, options: &LockOptions) -> Self {
        if !is_changed {
            Self::UpToDate
        } else if options.writes() {
            Self::Written
        } else {
            Self::WouldWrite
        }
    }

    /// The word for entries or hashes that the text leaves out; where nothing is written, they are still to be removed.
    pub(super) fn removed(self) -> &'static str {
        match self {
            Self::UpToDate | Self::Written => "removed",
            Self::WouldWrite => "to remove",
        }
    }

    /// Counts hashes that the lock file lacked.
    pub(super) fn hashes_added(self, count: usize) -> String {
        match self {
            Self::UpToDate | Self::Written => counted_as(count, "hash added", "hashes added"),
            Self::WouldWrite => counted_as(count, "hash to add", "hashes to add"),
        }
    }
}

/// Reports how it ended: of the file by its name, and in words that many roots share.
pub(super) fn report(
    result: &mut RootResult,
    ending: LockEnding,
    locked: &Locked,
    goals: &Goals,
    root: &Root,
    written: &str,
) {
    let what = changes(ending, locked, goals, root, written);
    let text = |file: &str| match (ending, &root.lock) {
        (LockEnding::UpToDate, _) => format!("{file} is up to date{what}"),
        (LockEnding::Written, Some(_)) => format!("updated {file}{what}"),
        (LockEnding::Written, None) => format!("created {file}{what}"),
        (LockEnding::WouldWrite, Some(_)) => {
            format!("{file} would change{what}; nothing was written")
        }
        (LockEnding::WouldWrite, None) => {
            format!("{file} would be created{what}; nothing was written")
        }
    };
    // A package that matches nothing recorded is no error (`locker` rules 2.4), but no good news either.
    let is_bad = ending == LockEnding::WouldWrite
        || locked
            .providers
            .iter()
            .any(|outcome| outcome.unexplained > 0);
    let tone = if is_bad { Tone::Warning } else { Tone::Good };
    let path = root.lock_path.display().to_string();
    conclude(result, tone, text("lock file"), text(&path));
}

/// Sets the verdict on a root, and the same in words that many roots share.
pub(super) fn conclude(result: &mut RootResult, tone: Tone, shared: String, text: String) {
    result.lock_mut().outcome = Some(shared);
    result.verdict = Some(Sentence { tone, text });
}

/// Says what changed where no row of an entry and no remark does: constraints, or the layout alone.
fn changes(ending: LockEnding, locked: &Locked, goals: &Goals, root: &Root, text: &str) -> String {
    let outcomes = || locked.providers.iter();
    let before = match (ending, &root.lock) {
        // Nothing is known of the entries that were left alone.
        (LockEnding::UpToDate, _) if goals.others.is_none() => {
            let names = outcomes().map(|outcome| outcome.provider.short(root.flavor));
            return format!(" for {}", names.collect::<Vec<_>>().join(", "));
        }
        (LockEnding::Written | LockEnding::WouldWrite, Some(before)) => before,
        _ => return String::new(),
    };
    let old = &before.document.lock;
    let has_row = |outcome: &ProviderOutcome| {
        // An entry that is converted has another address, and perhaps no new hash.
        !old.providers.contains_key(&outcome.provider)
            || !outcome.added.is_empty()
            || !outcome.replaced.is_empty()
            || !outcome.dropped.hashes.is_empty()
            || outcome.moved_from.is_some()
    };
    if outcomes().any(has_row) {
        return String::new();
    }
    if !locked.removed.is_empty() {
        let count = counted(locked.removed.len(), "provider");
        return format!("; {count} {}", ending.removed());
    }
    let is_stale = |outcome: &&ProviderOutcome| {
        let new = &locked.lock.providers[&outcome.provider];
        let old = old.providers.get(&outcome.provider);
        old.is_some_and(|old| old.constraints != new.constraints)
    };
    let stale = outcomes().filter(is_stale).count();
    if stale > 0 {
        return format!("; the constraints of {}", counted(stale, "provider"));
    }
    // The text locks the same, and only its layout differs.
    if lockfile::has_crlf_only(&before.bytes, text) {
        return "; line ends only (CRLF)".to_owned();
    }
    let places = || before.document.places.values();
    let is_in_order = |places: &Places| places.listed.is_sorted_by(|(a, _), (b, _)| a < b);
    let are_in_order = places().is_sorted_by_key(|places| places.header.start);
    let header = lockfile::header_of(&before.bytes);
    let parts = [
        ("header", header == lockfile::header_of(text.as_bytes())),
        ("order of entries", are_in_order),
        ("order of hashes", places().all(is_in_order)),
    ];
    let changed: Vec<&str> = parts
        .into_iter()
        .filter(|(_, is_same)| !is_same)
        .map(|(part, _)| part)
        .collect();
    match &*changed.join(" and ") {
        "" => "; layout only".to_owned(),
        parts => format!("; {parts} only"),
    }
}

/// Compares the lock file with the text that would replace it.
pub(super) fn comparison(root: &Root, locked: &Locked, text: &str) -> FileComparison {
    let old = root.lock.as_ref().map(|lock| LockSide {
        bytes: lock.bytes.to_vec(),
        document: lock.document.clone(),
        diagnostics: lock.diagnostics.clone(),
        flavor: root.flavor,
    });
    let new = LockSide::read(FileId::ALONE, text.as_bytes().to_vec(), root.flavor);
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
    let text = "requires no provider that is named".to_owned();
    let of_root = format!("{}: {text}", root.dir.display());
    conclude(result, Tone::Good, text, of_root);
}

/// Reports a root in whose visible configuration nothing requires a provider.
pub(super) fn nothing_required(result: &mut RootResult, root: &Root, unseen: &UnseenParts<'_>) {
    let remark = if unseen.loaded.requirements.unseen_calls.is_empty() {
        None
    } else {
        unseen.remark(CallNames::Listed, "and may require providers")
    };
    result.changed = Some(false);
    let (tone, text) = match remark {
        None => (
            Tone::Good,
            "no provider is required, so there is nothing to lock",
        ),
        Some(_) => (
            Tone::Warning,
            "no visible module requires a provider, so nothing was locked",
        ),
    };
    let remark = remark.map_or_else(String::new, |remark| format!("; {remark}"));
    let of_root = format!("{}: {text}{remark}", root.dir.display());
    conclude(result, tone, text.to_owned(), of_root);
}
