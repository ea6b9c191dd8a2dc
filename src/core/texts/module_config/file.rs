//! A file of a module: what it is for, how it is written, and places in it.

use crate::diag::{FileId, Span};
use crate::flavor::Program;

/// A file of a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModuleFile {
    /// The id of its text.
    pub id: FileId,
    pub(crate) role: ModuleFileRole,
    pub(crate) syntax: Syntax,
    /// The only program that reads it, if not both do.
    pub(crate) only: Option<Program>,
}

impl ModuleFile {
    /// Returns whether it changes what other files declare.
    #[must_use]
    pub fn is_override(self) -> bool {
        self.role == ModuleFileRole::Override
    }
}

/// The role of a file in its module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ModuleFileRole {
    Primary,
    Override,
    Test,
}

/// The syntax of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Syntax {
    Native,
    Json,
}

/// A place in a file of a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SourcePlace {
    /// The file that holds it.
    pub file: FileId,
    /// The range of bytes.
    pub span: Span,
}
