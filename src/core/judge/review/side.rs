//! A lock file as one side of a comparison.

use crate::diag::{Diagnostic, FileId, has_errors};
use crate::flavor::Flavor;
use crate::lockfile::{self, Document};

/// A lock file as it was read, one side of a comparison.
#[derive(Clone, Debug)]
pub struct LockSide {
    /// The bytes of the file.
    pub bytes: Vec<u8>,
    /// The entries and comments that could be read.
    pub document: Document,
    /// The faults of the file.
    pub diagnostics: Vec<Diagnostic>,
    /// The flavor by whose rules it was read.
    pub flavor: Flavor,
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

    /// Returns true if some of it could not be read.
    #[must_use]
    pub fn is_broken(&self) -> bool {
        has_errors(&self.diagnostics)
    }
}
