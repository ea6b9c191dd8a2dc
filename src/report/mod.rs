//! What a command has to say, as values, and its renderings.
//!
//! This room knows no command: a command fills a [`Report`]; [`human`], [`json`], [`markdown`] and
//! [`graph`] render it. What programs of CI read is rendered from a [`Checked`]: [`sarif`],
//! [`github`] and [`junit`]. Everything that came from outside is made harmless for a terminal here,
//! and only here.

mod changes;
mod checked;
pub mod github;
pub mod graph;
pub mod human;
pub mod json;
pub mod junit;
pub mod markdown;
pub mod page;
pub mod reading;
mod result;
pub mod sarif;
mod snippet;
#[cfg(test)]
mod tests;
mod tree;

pub use changes::{Change, Changes, Linked, Remark};
pub use checked::{CHECK_FORMATS, CheckFormat, Checked};
pub use result::{
    CommandResult, Entry, FileResult, Files, PackageResult, RootResult, Sentence, Shown, Subject,
};
pub use tree::Tree;

use crate::diag::{self, Diagnostic};

/// Everything a command says to people.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// Results, for standard output.
    pub results: Vec<Block>,
    /// What went wrong and what is worth knowing, for standard error.
    pub notes: Vec<Block>,
    /// What can be drawn; empty, unless the command has a picture to show.
    pub graph: graph::Graph,
}

/// One piece of a report.
#[derive(Clone, Debug, PartialEq)]
pub enum Block {
    /// A line that stands above what follows.
    Heading(String),
    /// A fault in a file, shown with its lines.
    Diagnostic(Diagnostic),
    /// An operation that failed.
    Failure(Failure),
    /// Rows of cells, in columns.
    Table(Vec<Vec<String>>),
    /// Plain lines.
    Lines(Vec<String>),
    /// What changed in a file.
    Changes(Changes),
    /// Lines that hang below one another.
    Tree(Tree),
    /// A page of documentation, in Markdown of the kind that [`page`] reads, to be wrapped at this many
    /// columns.
    Page(String, usize),
    /// A remark, with the word `note` or `warning` before it.
    Remark(Tone, String),
    /// The last line: how it ended.
    Verdict(Tone, String),
}

impl Block {
    /// Returns whether it is worth knowing, and no more.
    #[must_use]
    pub fn is_note(&self) -> bool {
        match self {
            Self::Remark(tone, _) => *tone == Tone::Note,
            Self::Diagnostic(diagnostic) => diagnostic.severity == diag::Severity::Note,
            _ => false,
        }
    }
}

/// How good the news is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tone {
    /// All is well.
    Good,
    /// Worth knowing.
    Note,
    /// Will bite somebody.
    Warning,
    /// Is wrong.
    Bad,
}

/// An operation that failed.
#[derive(
    Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, schemars::JsonSchema,
)]
pub struct Failure {
    /// What failed.
    pub title: String,
    /// Why, outermost cause first.
    pub causes: Vec<String>,
    /// What to do next.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
}

impl Failure {
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
