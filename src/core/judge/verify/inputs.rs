//! One root as it was read: the values that checks compare.

use std::path::Path;

use super::subject::{Advice, CheckedLock};
use crate::config::Loaded;
use crate::diag::{Diagnostic, FileId, Severity, Span, rules};
use crate::flavor::{Flavor, FlavorChoice};
use crate::lockfile::LockText;
use crate::pins::PinText;
use crate::project::{IgnoredScope, Project};
use crate::requirement::Requirements;

/// A root as it was read.
#[derive(Clone, Copy, Debug)]
pub struct RootInputs<'a> {
    /// The program whose rules apply.
    pub flavor: Flavor,
    /// The choice that led to the flavor.
    pub choice: FlavorChoice,
    /// The file of another tool that states the version of the program; `None` if the user did.
    pub version_file: Option<&'a Path>,
    /// The path of the lock file, existing or not, as messages name it.
    pub lock_path: &'a Path,
    /// The lock file; `None` if there is none.
    pub lock: Option<&'a LockText>,
    /// The configuration; `None` if it was not read.
    pub configuration: Option<&'a Loaded>,
    /// The settings of the project file; the default if there is none.
    pub project: &'a Project,
    /// The project file, as messages name it.
    pub project_file: &'a str,
    /// A policy that counts beside that of the project file, with its name; the project file cannot weaken it.
    pub shared: Option<(&'a Project, &'a str)>,
    /// The line that makes git ignore the lock file, if there is one.
    pub ignored: Option<&'a IgnoredLock>,
    /// The directory of installed packages, if git tracks some of it.
    pub tracked_packages: Option<&'a Path>,
    /// The file of pinned modules, if the project file asks for one.
    pub pins: Option<&'a PinText>,
    /// Installed modules that are not the pinned ones, and pins whose source holds other files now.
    pub module_faults: &'a [Diagnostic],
    /// Commands to be named in advice.
    pub advice: &'a Advice,
}

/// The line of a `.gitignore` that ignores a lock file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IgnoredLock {
    /// The id of the text of that file.
    pub file: FileId,
    /// The line in it.
    pub line: Span,
    /// The line and the name of its file, as in `.terraform* in .gitignore`.
    pub shown: String,
    /// The file itself, or a directory above it.
    pub scope: IgnoredScope,
}

impl<'a> RootInputs<'a> {
    /// Returns the same root, judged by the shared policy alone.
    #[must_use]
    pub fn under_shared(&self) -> Option<Self> {
        let (project, project_file) = self.shared?;
        Some(Self {
            project,
            project_file,
            shared: None,
            ..*self
        })
    }

    /// Returns the requirements, if they are known.
    #[must_use]
    pub fn requirements(&self) -> Option<&'a Requirements> {
        self.configuration
            .filter(|_| !self.is_unread())
            .map(|configuration| &configuration.requirements)
    }

    /// Returns true if the configuration has errors behind which requirements may be missing.
    pub(super) fn is_unread(&self) -> bool {
        self.configuration.is_some_and(|configuration| {
            configuration.diagnostics.iter().any(|fault| {
                // A module that must be visible and is not is a finding; the rest can be checked.
                fault.severity == Severity::Error && fault.code != rules::MODULE_NOT_VISIBLE
            })
        })
    }

    /// Returns the lock file with the inputs of its checks.
    pub(super) fn subject(&self, lock: &'a LockText) -> CheckedLock<'a> {
        CheckedLock {
            document: &lock.document,
            file: lock.file,
            flavor: self.flavor,
            requirements: self.requirements(),
            advice: self.advice,
        }
    }
}
