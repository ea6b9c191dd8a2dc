//! Two states of a lock file, read and compared.

use super::configuration::ConfigurationSides;
use super::file::{FileCause, FileReview, LockSide, review};
use crate::flavor::{Flavor, Program};
use crate::requirement::Requirement;

/// Two states of a lock file with everything that was found out about the change between them.
#[derive(Clone, Debug)]
pub struct FileComparison {
    /// The name of the file.
    pub path: String,
    /// The file before, unless there was none.
    pub old: Option<LockSide>,
    /// The file now, unless there is none.
    pub new: Option<LockSide>,
    /// What changed, and why.
    pub review: FileReview,
}

impl FileComparison {
    /// Compares two states of a file by what these hold alone.
    #[must_use]
    pub fn of(path: String, old: Option<LockSide>, new: Option<LockSide>) -> Self {
        let review = review(old.as_ref(), new.as_ref());
        Self {
            path,
            old,
            new,
            review,
        }
    }

    /// Adds what the configuration says about each change; `place` names where a requirement is written.
    #[must_use]
    pub fn explained_by(
        mut self,
        configuration: ConfigurationSides<'_>,
        place: impl Fn(&Requirement) -> String,
    ) -> Self {
        for one in &mut self.review.providers {
            one.configuration = configuration.cause(&one.change, &place);
        }
        self
    }

    /// Returns whose rules apply: those of the file now, else those of the file before.
    #[must_use]
    pub fn flavor(&self) -> Flavor {
        let side = self.new.as_ref().or(self.old.as_ref());
        side.map_or(Flavor::newest(Program::Terraform), |side| side.flavor)
    }

    /// Returns whether something of the file could not be compared.
    #[must_use]
    pub fn is_incomplete(&self) -> bool {
        let mut sides = self.old.iter().chain(&self.new);
        let is_unmerged = self.review.causes.contains(&FileCause::Unmerged);
        is_unmerged || sides.any(LockSide::is_broken)
    }
}
