//! The text about a merge of lock files.

use crate::diag::counted;
use crate::diag::{self, FileId, Finding, has_errors, rules};
use crate::flavor::Flavor;
use crate::lockfile::{self, LockFile};
use crate::report::json::RootStatus;
use crate::report::{ResultEntry, RootResult};
use crate::review::{ChangedBy, MergedFile, MergedPins, UnfinishedReason};
use crate::verify::Advice;

/// The way to resolve conflicts without a command.
pub(super) const EDIT: &str = "edit the blocks between the markers and delete the markers";

/// Reads a side; `None` if it has faults, which are reported. Texts that have one right form get it.
///
/// A fault is reported once: two sides of a text have much in common.
pub(crate) fn side(
    file: FileId,
    bytes: &[u8],
    flavor: Flavor,
    advice: &Advice,
    result: &mut RootResult,
) -> Option<LockFile> {
    let (document, mut diagnostics) = lockfile::parse(file, bytes, flavor);
    advice.add_to(&mut diagnostics, bytes);
    if let Some(repaired) = document.repaired(&diagnostics) {
        for form in document.forms() {
            // Both sides have most of their text in common.
            let text = format!("fixed: {form}");
            let is_said = |entry: &ResultEntry| matches!(entry, ResultEntry::Remark(said) if said.text == text);
            if !result.entries.iter().any(is_said) {
                result.remark(text);
            }
        }
        return Some(repaired.lock);
    }
    let reported: Vec<Finding> = result.findings().cloned().collect();
    let mut news = diagnostics.clone();
    news.retain(|diagnostic| !reported.iter().any(|known| known.diagnostic == *diagnostic));
    result.faults(&news);
    (!has_errors(&diagnostics)).then_some(document.lock)
}

/// Reports how a merge of pinned modules ended, and returns the exit code.
pub(crate) fn pins(place: &str, merged: &MergedPins, result: &mut RootResult) -> u8 {
    for key in merged.conflicts.keys() {
        let text = format!("{place}: module {key} needs manual resolution: both sides moved it");
        let diagnostic = diag::named(rules::CONFLICT_MARKERS).diagnostic(text);
        result.refuse([diagnostic.into()]);
    }
    if merged.conflicts.is_empty() { 0 } else { 1 }
}

/// Reports how a merge ended; `place` comes before each sentence.
pub(crate) fn outcome(place: &str, file: &MergedFile, advice: &Advice, result: &mut RootResult) {
    let counts: Vec<String> = file
        .changed
        .iter()
        .map(|(by, addrs)| {
            let by = match by {
                ChangedBy::Us => "by us",
                ChangedBy::Them => "by them",
                ChangedBy::Both => "by both",
            };
            format!("{} changed {by}", counted(addrs.len(), "provider"))
        })
        .collect();
    if !counts.is_empty() {
        result.remark(format!(
            "{place}merged entry by entry: {}",
            counts.join(", ")
        ));
    }
    for (reason, addrs) in &file.merged.unfinished {
        let shows_version = matches!(
            reason,
            UnfinishedReason::VersionsDiffered | UnfinishedReason::VersionExcluded
        );
        let entries: Vec<String> = addrs
            .iter()
            .map(|addr| match file.merged.lock.providers.get(addr) {
                Some(entry) if shows_version => format!("{addr} {}", entry.version),
                _ => addr.to_string(),
            })
            .collect();
        let mut commands = format!("`{}`", advice.lock.for_root);
        if *reason == UnfinishedReason::VersionExcluded {
            let update = addrs
                .iter()
                .fold(advice.update.clone(), |update, addr| update.with(addr));
            commands += &format!(", or `{update}` if the configuration excludes it");
        }
        let entries = entries.join(", ");
        result.warn(format!("{place}{entries}: {reason}; run {commands}"));
    }
    for (addr, conflict) in &file.merged.conflicts {
        let text = format!("{place}{addr} needs manual resolution: {conflict}");
        result.ruled(diag::named(rules::CONFLICT_MARKERS), addr, text);
        result.status = RootStatus::Findings;
    }
    let lost = match file.lost_comments {
        0 => return,
        1 => "1 comment was".to_owned(),
        n => format!("{n} comments were"),
    };
    result.warn(format!("{place}{lost} not kept, as the program keeps none"));
}

/// Reports how the conflicts of a file are resolved, if any are left; `added` is the advice on `git add`.
pub(crate) fn advise(file: &MergedFile, resolve: &str, added: &str, result: &mut RootResult) {
    let conflicts = &file.merged.conflicts;
    let sides = if conflicts.values().all(|conflict| conflict.has_newer) {
        "newest`, `--prefer ours` or `--prefer theirs"
    } else {
        "ours` or `--prefer theirs"
    };
    if !conflicts.is_empty() {
        result.remark(format!(
            "run `{resolve} --prefer {sides}`, or {EDIT}; then {added}"
        ));
    }
}
