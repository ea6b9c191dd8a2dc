//! Changes of a lock file as a whole, beside those of its entries.

use std::cmp::Reverse;

use super::causes::Risk;
use super::diff::{LockDiff, diff};
use super::explain::{ExplainedChange, explain};
use super::faults::{self, FaultyBlocks};
use super::pins::PinChange;
use super::side::LockSide;
use crate::flavor::{Flavor, Program};

/// A change of a file, explained.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileReview {
    /// The changes of the file as a whole, the highest risk first.
    pub causes: Vec<FileChange>,
    /// The changes of its entries, the highest risk first, then by address.
    pub providers: Vec<ExplainedChange>,
    /// The changes of pinned modules, if it is a file of them, the highest risk first.
    pub pins: Vec<PinChange>,
    /// The number of entries that are the same on both sides.
    pub unchanged: usize,
    /// The path of the file before, if it had another one.
    pub old_path: Option<String>,
}

/// A change of a lock file as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileChange {
    /// The kind of the change.
    pub kind: FileCause,
    /// The risk of the change.
    pub risk: Risk,
    /// A clause: no capital letter, no period.
    pub text: String,
}

/// A kind of change of a lock file as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", schemars(rename = "FileKind"))]
#[non_exhaustive]
pub enum FileCause {
    /// The file is new.
    Added,
    /// The file was removed.
    Deleted,
    /// The file had another path.
    Renamed,
    /// A merge of it is not finished.
    Unmerged,
    /// Only a part of the file can be read.
    Broken,
    /// Only a part of the file before could be read.
    WasBroken,
    /// The header is that of the other program.
    HeaderSwitched,
    /// The file begins with the header of a program; it had none before.
    HeaderAdded,
    /// The header of the programs was removed.
    HeaderLost,
    /// Comments of an author were removed.
    CommentsLost,
    /// The lines end in another way.
    LineEnds,
    /// The same is locked, in other bytes.
    FormatOnly,
}

impl FileChange {
    fn new(kind: FileCause, risk: Risk, text: impl Into<String>) -> Self {
        let text = text.into();
        Self { kind, risk, text }
    }
}

impl FileReview {
    /// Returns the highest risk of all changes.
    #[must_use]
    pub fn risk(&self) -> Risk {
        self.providers
            .iter()
            .map(|change| change.explained.risk)
            .chain(self.causes.iter().map(|cause| cause.risk))
            .chain(self.pins.iter().map(|change| change.risk))
            .max()
            .unwrap_or_default()
    }

    /// Returns true if nothing changed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.causes.is_empty() && self.providers.is_empty() && self.pins.is_empty()
    }

    /// Adds that nothing is left that the file belongs to, if the file was removed.
    pub fn without_root(&mut self) {
        for cause in &mut self.causes {
            if cause.kind == FileCause::Deleted {
                let text = "the file was removed with its root";
                *cause = FileChange::new(FileCause::Deleted, Risk::Routine, text);
            }
        }
    }

    /// Adds that the file had another path before.
    #[must_use]
    pub fn renamed(mut self, from: String) -> Self {
        self.causes
            .retain(|cause| cause.kind != FileCause::FormatOnly);
        let text = format!("the file was moved from {from}");
        let renamed = FileChange::new(FileCause::Renamed, Risk::Routine, text);
        self.causes.push(renamed);
        self.old_path = Some(from);
        self
    }

    /// Adds that a merge of the file is not finished, and the command that finishes it.
    pub fn unmerged(&mut self, resolve: &str) {
        let text = format!("a merge of the file is not finished: run `{resolve}`");
        let unmerged = FileChange::new(FileCause::Unmerged, Risk::Warning, text);
        self.causes.insert(0, unmerged);
    }
}

/// Compares two states of a lock file and explains what changed; `None` is a file that is not
/// there.
#[must_use]
pub fn review(old: Option<&LockSide>, new: Option<&LockSide>) -> FileReview {
    let blocks = [&FaultyBlocks::of(old), &FaultyBlocks::of(new)];
    let [before, now] = &faults::entries(blocks, |change| explain(change).risk);
    let mut lock_diff = diff(before, now);
    faults::add(&mut lock_diff, blocks, [before, now]);
    let mut causes = file_causes(old, new, &lock_diff);
    causes.sort_by_key(|cause| Reverse(cause.risk));
    let mut providers: Vec<ExplainedChange> = lock_diff
        .providers
        .into_iter()
        .map(ExplainedChange::of)
        .collect();
    // The sort is stable: of equal risk the order of addresses stays.
    providers.sort_by_key(|change| Reverse(change.explained.risk));
    FileReview {
        pins: Vec::new(),
        causes,
        providers,
        unchanged: lock_diff.unchanged,
        old_path: None,
    }
}

fn file_causes(
    old: Option<&LockSide>,
    new: Option<&LockSide>,
    lock_diff: &LockDiff,
) -> Vec<FileChange> {
    let mut causes = Vec::new();
    // A fault that is the same on both sides is no change.
    let is_same = old.map(|side| &side.bytes) == new.map(|side| &side.bytes);
    if old.is_some_and(LockSide::is_broken) && !is_same {
        let text = "the file was broken: only what could be read is compared";
        causes.push(FileChange::new(FileCause::WasBroken, Risk::Notice, text));
    }
    if new.is_some_and(LockSide::is_broken) && !is_same {
        let text = "the file is broken: only what can be read is compared";
        causes.push(FileChange::new(FileCause::Broken, Risk::Warning, text));
    }
    let (old, new) = match (old, new) {
        (None, None) => return causes,
        (None, Some(_)) => {
            causes.push(FileChange::new(
                FileCause::Added,
                Risk::Routine,
                "the file is new",
            ));
            return causes;
        }
        (Some(_), None) => {
            let text = "the file was removed, so the next init selects versions anew and accepts any package";
            causes.push(FileChange::new(FileCause::Deleted, Risk::Warning, text));
            return causes;
        }
        (Some(old), Some(new)) => (old, new),
    };
    causes.extend(header(old.document.header, new.document.header));
    // Every save drops all comments but those of the header (`lockfile` rules 1.8).
    let (before, now) = (old.document.comments, new.document.comments);
    if let lost @ 1.. = before.saturating_sub(now) {
        let were = if lost == 1 {
            "comment of an author was"
        } else {
            "comments of an author were"
        };
        let text = format!("{lost} {were} removed: the programs keep none");
        causes.push(FileChange::new(FileCause::CommentsLost, Risk::Notice, text));
    }
    if has_carriage_returns(&old.bytes) != has_carriage_returns(&new.bytes) {
        let text = "the line ends changed (CRLF or LF)";
        causes.push(FileChange::new(FileCause::LineEnds, Risk::Routine, text));
    }
    // New line ends are part of a new form: `fmt` changes both at once.
    let is_same = causes.iter().all(|cause| cause.kind == FileCause::LineEnds);
    if is_same && lock_diff.providers.is_empty() && old.bytes != new.bytes {
        let text = "the same is locked, written in another form";
        return vec![FileChange::new(FileCause::FormatOnly, Risk::Routine, text)];
    }
    causes
}

/// Compares the headers: each program writes its own when it saves (`lockfile` rules 5.4), other tools write none
/// (`lockfile` rules 5.5).
fn header(old: Option<Program>, new: Option<Program>) -> Option<FileChange> {
    Some(match (old, new) {
        (Some(before), Some(now)) if before != now => {
            let program = Flavor::newest(now).command();
            let text = format!("the header is that of `{program} init` now");
            FileChange::new(FileCause::HeaderSwitched, Risk::Notice, text)
        }
        (None, Some(_)) => {
            let text = "a program wrote its header above the file";
            FileChange::new(FileCause::HeaderAdded, Risk::Routine, text)
        }
        (Some(_), None) => {
            let text = "the header of the program was removed";
            FileChange::new(FileCause::HeaderLost, Risk::Routine, text)
        }
        _ => return None,
    })
}

fn has_carriage_returns(bytes: &[u8]) -> bool {
    bytes.windows(2).any(|pair| pair == b"\r\n")
}
