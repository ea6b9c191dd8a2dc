//! A file of a module: what it is for, how it is written, and places in it.

use crate::diag::{FileId, Span};
use crate::flavor::Program;

/// A file of a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModuleFile {
    /// The file.
    pub id: FileId,
    pub(crate) role: Role,
    pub(crate) syntax: Syntax,
    /// The only program that reads it, if not both do.
    pub(crate) only: Option<Program>,
}

impl ModuleFile {
    /// Returns whether it changes what other files declare.
    #[must_use]
    pub fn is_override(self) -> bool {
        self.role == Role::Override
    }
}

/// What a file is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Primary,
    Override,
    Test,
}

/// How a file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Syntax {
    Native,
    Json,
}

/// Where something stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SourcePlace {
    /// The file.
    pub file: FileId,
    /// The bytes.
    pub span: Span,
}
