//! The result of a command, as one value, and its renderings.
//!
//! A command makes a [`CommandResult`], which holds every fact once, and nothing here depends on a command.
//! [`json`] renders it for programs. What programs of CI read ([`CHECK_FORMATS`]) and the Markdown of
//! checks are rendered from [`Checked`], the same with places resolved. People read [`TextBlock`]s, which
//! each command computes from its result: [`sheet`] puts equal facts of several roots together, [`human`]
//! and [`markdown`] print them, [`graph`] draws. Everything that came from outside is made harmless for
//! a terminal here, and only here.

mod checked;
pub mod fold;
mod folded;
mod formats;
pub mod github;
pub mod graph;
mod groups;
pub mod html;
pub mod human;
pub mod json;
pub mod junit;
mod log_writer;
pub mod markdown;
pub mod notes;
pub mod page;
pub mod reading;
mod result;
mod root;
pub mod rows;
pub mod sarif;
mod several;
pub mod shared;
pub mod sheet;
mod snippet;
mod style;
#[cfg(test)]
mod tests;
mod tree;
mod version;

use crate::diag::{self, Diagnostic};

pub use checked::Checked;
pub use folded::{FoldedFindings, folded};
pub use formats::{CHECK_FORMATS, CheckFormat};
pub use log_writer::{EscapedIn, LogWriter, harmless_text};
pub use result::{
    CLEAN, CheckDetail, CommandResult, ComparedFiles, FAILED, FINDINGS, FileResult, FindingDisplay,
    LockDetail, NotSeen, PackageResult, ResultEntry, ResultSubject, RootDetail, RootResult,
    RootStatus, Sentence,
};
pub use root::{Naming, RootRow};
pub use several::{FaultLine, Several};
pub use sheet::{Cell, Column, RootNames, Row, Screen, Table};
pub use tree::LineTree;
pub use version::VERSION_TEXT;

/// One piece of a report.
#[derive(Clone, Debug, PartialEq)]
pub enum TextBlock {
    /// A line above what follows.
    Heading(String),
    /// A fault in a file, shown with its lines.
    Diagnostic(Diagnostic),
    /// Several faults that have one cause.
    Several(Several),
    /// An operation that failed.
    Failure(Failure),
    /// An operation that failed in many roots, and which these are.
    SharedFailure(Failure, String),
    /// Facts about roots, in columns.
    Table(Table),
    /// The verdicts on single roots, each with the root; bad ones are named in any case.
    Verdicts(RootNames, Vec<(String, Sentence)>),
    /// Lines that are printed as they are.
    Lines(Vec<String>),
    /// Lines that hang below one another.
    Tree(LineTree),
    /// A page of documentation, in Markdown of the kind that [`page`] reads, to be wrapped at this many
    /// columns.
    Page(String, usize),
    /// A remark, with the word `note` or `warning` before it.
    Remark(Tone, String),
    /// The last line: how it ended.
    Verdict(Tone, String),
}

impl TextBlock {
    /// Returns true for something that was found, of which the worst is shown where not everything fits.
    fn is_finding(&self) -> bool {
        matches!(
            self,
            Self::Diagnostic(_)
                | Self::Several(_)
                | Self::Failure(_)
                | Self::SharedFailure(..)
                | Self::Remark(..)
        )
    }

    /// Returns whether it is worth knowing, and no more.
    #[must_use]
    pub fn is_note(&self) -> bool {
        match self {
            Self::Remark(tone, _) => *tone == Tone::Note,
            Self::Diagnostic(diagnostic) => diagnostic.severity == diag::Severity::Note,
            Self::Several(several) => several.severity == diag::Severity::Note,
            _ => false,
        }
    }
}

/// The amount of detail that people want to see.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look {
    /// Notes, hashes and all that repeats itself are shown one by one.
    pub(crate) verbose: bool,
    /// Of several roots, only failures are shown, except by commands that change and judge nothing.
    pub(crate) quiet: bool,
    /// The text becomes Markdown.
    pub(crate) markdown: bool,
    /// The width of text, in columns.
    pub(crate) columns: usize,
}

/// The tone of a sentence, from good to bad news.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tone {
    /// All is well here.
    Good,
    /// A note that changes nothing.
    Note,
    /// Likely to cause a failure.
    Warning,
    /// A fault or a failure.
    Bad,
}

impl Tone {
    /// Returns the tone of a verdict on a whole run, by its exit code.
    #[must_use]
    pub fn of_exit(exit: u8) -> Self {
        match exit {
            0 => Self::Good,
            1 => Self::Warning,
            _ => Self::Bad,
        }
    }
}

/// An operation that failed.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Failure {
    /// The operation that failed, in a few words.
    pub title: String,
    /// The causes, the outermost first.
    pub causes: Vec<String>,
    /// The next step for the user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
}

impl Failure {
    /// Makes a failure without causes and without a next step.
    #[must_use]
    pub fn new(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            ..Self::default()
        }
    }

    /// Adds a cause behind the others.
    #[must_use]
    pub fn because(mut self, cause: impl Into<String>) -> Self {
        self.causes.push(cause.into());
        self
    }

    /// Takes an error apart into what failed and why.
    #[must_use]
    pub fn from_error(error: &dyn std::error::Error) -> Self {
        Self {
            title: error.to_string(),
            causes: diag::causes(error),
            help: None,
        }
    }

    /// Says what to do next.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}
