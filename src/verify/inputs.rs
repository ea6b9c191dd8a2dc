//! One root as it was read: the values that checks compare.

use std::path::Path;

use super::subject::{Advice, Subject};
use crate::diag::{Diagnostic, FileId, Severity, rules};
use crate::flavor::{Flavor, FlavorChoice};
use crate::lockfile::Document;
use crate::project::Project;
use crate::requirement::{CoreVersion, Requirements};

/// A root as it was read.
#[derive(Clone, Copy, Debug)]
pub struct RootInputs<'a> {
    /// Whose rules apply.
    pub flavor: Flavor,
    /// What is stated about that.
    pub choice: FlavorChoice,
    /// Where the lock file is, or would be, as messages name it.
    pub lock_path: &'a Path,
    /// The lock file; `None` if there is none.
    pub lock: Option<LockInput<'a>>,
    /// The configuration; `None` if it was not read.
    pub configuration: Option<ConfigurationInput<'a>>,
    /// What the project file states; the default if there is none.
    pub project: &'a Project,
    /// The project file, as messages name it.
    pub project_file: &'a str,
    /// Commands to be named in advice.
    pub advice: &'a Advice,
}

/// A lock file as it was read.
#[derive(Clone, Copy, Debug)]
pub struct LockInput<'a> {
    /// Its text.
    pub file: FileId,
    /// Its bytes.
    pub bytes: &'a [u8],
    /// What was understood of it.
    pub document: &'a Document,
    /// What is wrong with it.
    pub diagnostics: &'a [Diagnostic],
}

/// The configuration of a root as it was read.
#[derive(Clone, Copy, Debug)]
pub struct ConfigurationInput<'a> {
    /// What it requires.
    pub requirements: &'a Requirements,
    /// What its modules require of the program itself.
    pub core_versions: &'a [CoreVersion],
    /// What is wrong with it.
    pub diagnostics: &'a [Diagnostic],
}

impl<'a> RootInputs<'a> {
    /// Returns what is required, if that is known.
    #[must_use]
    pub fn requirements(&self) -> Option<&'a Requirements> {
        let configuration = self.configuration.filter(|_| !self.is_unread());
        configuration.map(|configuration| configuration.requirements)
    }

    /// Returns whether the configuration has errors behind which requirements may be missing.
    pub(super) fn is_unread(&self) -> bool {
        self.configuration.is_some_and(|configuration| {
            let mut diagnostics = configuration.diagnostics.iter();
            // A module that must be visible and is not is a finding; the rest can be checked.
            diagnostics
                .any(|one| one.severity == Severity::Error && one.code != rules::MODULE_NOT_VISIBLE)
        })
    }

    /// Returns what the checks of a lock file are about.
    pub(super) fn subject(&self, lock: LockInput<'a>) -> Subject<'a> {
        Subject {
            document: lock.document,
            file: lock.file,
            flavor: self.flavor,
            requirements: self.requirements(),
            advice: self.advice,
        }
    }
}
