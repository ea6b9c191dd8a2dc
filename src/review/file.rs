//! What changed in a lock file as a whole, beside and above its entries.

use std::fmt;

use super::causes::Risk;
use super::diff::{LockDiff, diff};
use super::explain::ExplainedChange;
use crate::diag::{Diagnostic, FileId, has_errors};
use crate::flavor::{Flavor, Program};
use crate::lockfile::{self, Document, LockFile};

/// A lock file as it was read, one side of a comparison.
#[derive(Clone, Debug)]
pub struct LockSide {
    /// What the file holds.
    pub bytes: Vec<u8>,
    /// What was understood of that.
    pub document: Document,
    /// What is wrong with it.
    pub diagnostics: Vec<Diagnostic>,
    /// Whose rules it was read by.
    pub flavor: Flavor,
}

/// A change of a file, explained.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileReview {
    /// What changed about the file as a whole, what matters most first.
    pub causes: Vec<FileCause>,
    /// What differs in its entries, what matters most first, then by address.
    pub providers: Vec<ExplainedChange>,
    /// How many entries are the same on both sides.
    pub unchanged: usize,
}

/// One change of a file as a whole.
///
/// Displayed as a clause: no capital letter, no period.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FileCause {
    /// The file is new.
    Added,
    /// The file was removed.
    Deleted,
    /// The file was removed with the configuration beside it.
    RootDeleted,
    /// The file had another path.
    Renamed {
        /// Which.
        from: String,
    },
    /// A merge of it is not finished.
    Unmerged,
    /// It can be read in part only.
    Broken,
    /// It could be read in part only.
    WasBroken,
    /// The header is that of the other program.
    HeaderSwitched(Program),
    /// It begins with the header of a program, as it had not.
    HeaderAdded,
    /// The header of the programs was removed.
    HeaderLost,
    /// Comments of an author were removed.
    CommentsLost(usize),
    /// The lines end in another way: with `\r\n` or no longer so.
    LineEnds,
    /// The same is locked, in other bytes.
    FormatOnly,
}

/// What changed about a lock file as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(test, schemars(rename = "FileKind"))]
#[non_exhaustive]
pub enum FileChangeKind {
    /// It is new.
    Added,
    /// It was removed.
    Deleted,
    /// It had another path.
    Renamed,
    /// A merge of it is not finished.
    Unmerged,
    /// It can be read in part only.
    Broken,
    /// It could be read in part only.
    WasBroken,
    /// The header is that of the other program.
    HeaderSwitched,
    /// It begins with the header of a program, as it had not.
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
    /// Returns what kind of change it is.
    #[must_use]
    pub fn kind(&self) -> FileChangeKind {
        match self {
            Self::Added => FileChangeKind::Added,
            Self::Deleted | Self::RootDeleted => FileChangeKind::Deleted,
            Self::Renamed { .. } => FileChangeKind::Renamed,
            Self::Unmerged => FileChangeKind::Unmerged,
            Self::Broken => FileChangeKind::Broken,
            Self::WasBroken => FileChangeKind::WasBroken,
            Self::HeaderSwitched(_) => FileChangeKind::HeaderSwitched,
            Self::HeaderAdded => FileChangeKind::HeaderAdded,
            Self::HeaderLost => FileChangeKind::HeaderLost,
            Self::CommentsLost(_) => FileChangeKind::CommentsLost,
            Self::LineEnds => FileChangeKind::LineEnds,
            Self::FormatOnly => FileChangeKind::FormatOnly,
        }
    }

    /// Returns how much it matters.
    #[must_use]
    pub fn risk(&self) -> Risk {
        match self {
            Self::Deleted | Self::Unmerged | Self::Broken => Risk::Warning,
            Self::WasBroken | Self::HeaderSwitched(_) | Self::CommentsLost(_) => Risk::Notice,
            Self::Added
            | Self::RootDeleted
            | Self::Renamed { .. }
            | Self::HeaderAdded
            | Self::HeaderLost
            | Self::LineEnds
            | Self::FormatOnly => Risk::Routine,
        }
    }
}

impl fmt::Display for FileCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Added => f.write_str("the file is new"),
            Self::Deleted => f.write_str(
                "the file was removed, so the next init selects versions anew and accepts any package",
            ),
            Self::RootDeleted => f.write_str("the file was removed with the configuration"),
            Self::Renamed { from } => write!(f, "the file was moved from {from}"),
            Self::Unmerged => {
                f.write_str("a merge of the file is not finished: run `lockctl resolve`")
            }
            Self::Broken => f.write_str("the file is broken: only what can be read is compared"),
            Self::WasBroken => {
                f.write_str("the file was broken: only what could be read is compared")
            }
            Self::HeaderSwitched(program) => {
                let command = match program {
                    Program::Terraform => "terraform init",
                    Program::OpenTofu => "tofu init",
                };
                write!(
                    f,
                    "the header is that of `{command}` now"
                )
            }
            Self::HeaderAdded => f.write_str("a program wrote its header above the file"),
            Self::HeaderLost => f.write_str("the header of the program was removed"),
            Self::CommentsLost(1) => {
                f.write_str("1 comment of an author was removed: the programs keep none")
            }
            Self::CommentsLost(count) => {
                write!(
                    f,
                    "{count} comments of an author were removed: the programs keep none"
                )
            }
            Self::LineEnds => f.write_str("the line ends changed (CRLF or LF)"),
            Self::FormatOnly => f.write_str("the same is locked, written in another form"),
        }
    }
}

impl LockSide {
    /// Reads a lock file.
    #[must_use]
    pub fn read(file: FileId, bytes: Vec<u8>, flavor: Flavor) -> Self {
        let (document, diagnostics) = lockfile::parse(file, &bytes, flavor);
        Self {
            bytes,
            document,
            diagnostics,
            flavor,
        }
    }

    /// Returns whether something in it could not be understood.
    #[must_use]
    pub fn is_broken(&self) -> bool {
        has_errors(&self.diagnostics)
    }
}

impl FileReview {
    /// Returns how much the worst of it matters.
    #[must_use]
    pub fn risk(&self) -> Risk {
        let of_entries = self.providers.iter().map(|one| one.explained.risk);
        let of_file = self.causes.iter().map(FileCause::risk);
        of_entries.chain(of_file).max().unwrap_or_default()
    }

    /// Returns whether nothing changed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.causes.is_empty() && self.providers.is_empty()
    }

    /// Adds that the configuration was removed with the file, if the file was removed.
    pub fn without_configuration(&mut self) {
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
        self.causes.push(FileCause::Renamed { from });
        self
    }
}

/// Compares two states of a lock file and explains what changed; `None` is a file that is not
/// there.
#[must_use]
pub fn review(old: Option<&LockSide>, new: Option<&LockSide>) -> FileReview {
    let nothing = LockFile::default();
    let before = old.map_or(&nothing, |side| &side.document.lock);
    let now = new.map_or(&nothing, |side| &side.document.lock);
    let found = diff(before, now);
    let mut causes = of_file(old, new, &found);
    causes.sort_by_key(|cause| std::cmp::Reverse(cause.risk()));
    let explained = found.providers.into_iter().map(ExplainedChange::of);
    let mut providers: Vec<ExplainedChange> = explained.collect();
    providers.sort_by_key(|one| std::cmp::Reverse(one.explained.risk));
    FileReview {
        causes,
        providers,
        unchanged: found.unchanged,
    }
}

fn of_file(old: Option<&LockSide>, new: Option<&LockSide>, found: &LockDiff) -> Vec<FileCause> {
    let mut causes = Vec::new();
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
    match old.document.comments.saturating_sub(new.document.comments) {
        0 => {}
        lost => causes.push(FileCause::CommentsLost(lost)),
    }
    if has_carriage_returns(&old.bytes) != has_carriage_returns(&new.bytes) {
        causes.push(FileCause::LineEnds);
    }
    let only_line_ends = causes == [FileCause::LineEnds];
    let is_same = causes.is_empty() || only_line_ends;
    if is_same && found.providers.is_empty() && old.bytes != new.bytes {
        causes.clear();
        causes.push(FileCause::FormatOnly);
    }
    causes
}

fn has_carriage_returns(bytes: &[u8]) -> bool {
    bytes.windows(2).any(|pair| pair == b"\r\n")
}

fn header(old: Option<Program>, new: Option<Program>) -> Option<FileCause> {
    match (old, new) {
        (Some(old), Some(new)) if old != new => Some(FileCause::HeaderSwitched(new)),
        (None, Some(_)) => Some(FileCause::HeaderAdded),
        (Some(_), None) => Some(FileCause::HeaderLost),
        _ => None,
    }
}
