//! Changes of a lock file as a whole, beside those of its entries.

use std::cmp::Reverse;

use super::causes::Risk;
use super::diff::{LockDiff, diff};
use super::explain::{ExplainedChange, explain};
use super::faults::{self, FaultyBlocks};
use super::pins::PinChange;
use super::side::LockSide;
use crate::flavor::Program;

/// A change of a file, explained.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileReview {
    /// The changes of the file as a whole, the highest risk first.
    pub causes: Vec<FileCause>,
    /// The changes of its entries, the highest risk first, then by address.
    pub providers: Vec<ExplainedChange>,
    /// The changes of pinned modules, if it is a file of them, the highest risk first.
    pub pins: Vec<PinChange>,
    /// The number of entries that are the same on both sides.
    pub unchanged: usize,
    /// The path of the file before, if it had another one.
    pub old_path: Option<String>,
    /// The program whose header the file has now.
    pub header: Option<Program>,
    /// The number of comments of an author that were removed.
    pub lost_comments: usize,
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
    /// The file was removed with the configuration beside it, or with its directory.
    // Its name is that of `Deleted`: the difference is only in the risk.
    #[serde(rename = "deleted")]
    #[cfg_attr(feature = "schema", schemars(skip))]
    RootDeleted,
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

impl FileCause {
    /// Returns the risk of the change.
    #[must_use]
    pub fn risk(self) -> Risk {
        match self {
            Self::Deleted | Self::Unmerged | Self::Broken => Risk::Warning,
            Self::WasBroken | Self::HeaderSwitched | Self::CommentsLost => Risk::Notice,
            Self::Added
            | Self::RootDeleted
            | Self::Renamed
            | Self::HeaderAdded
            | Self::HeaderLost
            | Self::LineEnds
            | Self::FormatOnly => Risk::Routine,
        }
    }
}

impl FileReview {
    /// Returns the highest risk of all changes.
    #[must_use]
    pub fn risk(&self) -> Risk {
        self.providers
            .iter()
            .map(|change| change.explained.risk)
            .chain(self.causes.iter().map(|cause| cause.risk()))
            .chain(self.pins.iter().map(|change| change.risk))
            .max()
            .unwrap_or_default()
    }

    /// Returns a change of the file as a whole as a clause: no capital letter, no period.
    #[must_use]
    pub fn clause(&self, cause: FileCause) -> String {
        let fixed = match cause {
            FileCause::Added => "the file is new",
            FileCause::Deleted => {
                "the file was removed, so the next init selects versions anew and accepts any package"
            }
            FileCause::RootDeleted => "the file was removed with its root",
            FileCause::Renamed => {
                let from = self.old_path.as_deref().unwrap_or_default();
                return format!("the file was moved from {from}");
            }
            FileCause::Unmerged => "a merge of the file is not finished: run `lockctl resolve`",
            FileCause::Broken => "the file is broken: only what can be read is compared",
            FileCause::WasBroken => "the file was broken: only what could be read is compared",
            FileCause::HeaderSwitched if self.header == Some(Program::OpenTofu) => {
                "the header is that of `tofu init` now"
            }
            FileCause::HeaderSwitched => "the header is that of `terraform init` now",
            FileCause::HeaderAdded => "a program wrote its header above the file",
            FileCause::HeaderLost => "the header of the program was removed",
            FileCause::CommentsLost if self.lost_comments == 1 => {
                "1 comment of an author was removed: the programs keep none"
            }
            FileCause::CommentsLost => {
                let count = self.lost_comments;
                return format!(
                    "{count} comments of an author were removed: the programs keep none"
                );
            }
            FileCause::LineEnds => "the line ends changed (CRLF or LF)",
            FileCause::FormatOnly => "the same is locked, written in another form",
        };
        fixed.to_owned()
    }

    /// Returns true if nothing changed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.causes.is_empty() && self.providers.is_empty() && self.pins.is_empty()
    }

    /// Adds that nothing is left that the file belongs to, if the file was removed.
    pub fn without_root(&mut self) {
        for cause in &mut self.causes {
            if *cause == FileCause::Deleted {
                *cause = FileCause::RootDeleted;
            }
        }
    }

    /// Adds that the file had another path before.
    #[must_use]
    pub fn renamed(mut self, from: String) -> Self {
        self.causes.retain(|cause| *cause != FileCause::FormatOnly);
        self.causes.push(FileCause::Renamed);
        self.old_path = Some(from);
        self
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
    causes.sort_by_key(|cause| Reverse(cause.risk()));
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
        header: new.and_then(|side| side.document.header),
        lost_comments: lost_comments(old, new),
    }
}

fn file_causes(
    old: Option<&LockSide>,
    new: Option<&LockSide>,
    lock_diff: &LockDiff,
) -> Vec<FileCause> {
    let mut causes = Vec::new();
    // A fault that is the same on both sides is no change.
    let is_same = old.map(|side| &side.bytes) == new.map(|side| &side.bytes);
    if old.is_some_and(LockSide::is_broken) && !is_same {
        causes.push(FileCause::WasBroken);
    }
    if new.is_some_and(LockSide::is_broken) && !is_same {
        causes.push(FileCause::Broken);
    }
    let (old, new) = match (old, new) {
        (None, None) => return causes,
        (None, Some(_)) => {
            causes.push(FileCause::Added);
            return causes;
        }
        (Some(_), None) => {
            causes.push(FileCause::Deleted);
            return causes;
        }
        (Some(old), Some(new)) => (old, new),
    };
    causes.extend(header(old.document.header, new.document.header));
    // Every save drops all comments but those of the header (`lockfile` rules 1.8).
    if lost_comments(Some(old), Some(new)) > 0 {
        causes.push(FileCause::CommentsLost);
    }
    if has_carriage_returns(&old.bytes) != has_carriage_returns(&new.bytes) {
        causes.push(FileCause::LineEnds);
    }
    // New line ends are part of a new form: `fmt` changes both at once.
    let is_same = causes.is_empty() || causes == [FileCause::LineEnds];
    if is_same && lock_diff.providers.is_empty() && old.bytes != new.bytes {
        causes.clear();
        causes.push(FileCause::FormatOnly);
    }
    causes
}

/// Counts the comments that were removed; a file that comes or goes loses none.
fn lost_comments(old: Option<&LockSide>, new: Option<&LockSide>) -> usize {
    match (old, new) {
        (Some(old), Some(new)) => old.document.comments.saturating_sub(new.document.comments),
        _ => 0,
    }
}

fn has_carriage_returns(bytes: &[u8]) -> bool {
    bytes.windows(2).any(|pair| pair == b"\r\n")
}

fn header(old: Option<Program>, new: Option<Program>) -> Option<FileCause> {
    // Each program writes its own header when it saves (`lockfile` rules 5.4); other tools write none
    // (`lockfile` rules 5.5).
    match (old, new) {
        (Some(old), Some(new)) if old != new => Some(FileCause::HeaderSwitched),
        (None, Some(_)) => Some(FileCause::HeaderAdded),
        (Some(_), None) => Some(FileCause::HeaderLost),
        _ => None,
    }
}
