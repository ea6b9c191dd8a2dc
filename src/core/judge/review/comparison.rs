//! Two states of a lock file, read and compared.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::causes::Risk;
use super::configuration::ConfigurationSides;
use super::diff::ProviderSide;
use super::file::{FileCause, FileReview, review};
use super::origin::{KnownSigners, ReleaseOrigin};
use super::pins::pin_changes;
use super::side::LockSide;
use crate::addr::ProviderAddr;
use crate::flavor::{Flavor, Program};
use crate::pins::Pins;
use crate::project::RememberedProvider;
use crate::requirement::Requirement;

/// Two states of a lock file, with the explained change between them.
#[derive(Clone, Debug)]
pub struct FileComparison {
    /// The name of the file.
    pub path: String,
    /// The file before, unless there was none.
    pub old: Option<LockSide>,
    /// The file now, unless there is none.
    pub new: Option<LockSide>,
    /// The changes and their causes.
    pub review: FileReview,
    /// The memory of the project file before.
    pub memory: Vec<RememberedProvider>,
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
            memory: Vec::new(),
        }
    }

    /// Compares two states of a file of pinned modules.
    #[must_use]
    pub fn of_pins(path: String, old: &Pins, new: &Pins) -> Self {
        let mut pins = pin_changes(old, new);
        pins.sort_by_key(|change| Reverse(change.risk));
        let review = FileReview {
            pins,
            ..FileReview::default()
        };
        Self {
            path,
            old: None,
            new: None,
            review,
            memory: Vec::new(),
        }
    }

    /// Adds the cause of each change in the configuration; `place` names where a requirement is written.
    #[must_use]
    pub fn explained_by(
        mut self,
        configuration: ConfigurationSides<'_>,
        place: impl Fn(&Requirement) -> String,
    ) -> Self {
        for explained in &mut self.review.providers {
            explained.configuration = configuration.cause(&explained.change, &place);
        }
        self
    }

    /// Adds the steps down of the entries, from those before and from what the project file before remembers;
    /// `origin` returns what is known of the release of an entry, and `releases` who signed those of a provider.
    pub fn add_trust(
        &mut self,
        origin: impl Fn(&ProviderSide) -> ReleaseOrigin,
        releases: impl Fn(&ProviderAddr) -> KnownSigners,
    ) {
        let flavor = self.flavor();
        for explained in &mut self.review.providers {
            let Some(side) = explained.change.now() else {
                continue;
            };
            let now = origin(side);
            let mut steps = Vec::new();
            if let Some(before) = explained.change.before() {
                // The review of hashes and builds says what they lost.
                let before = ReleaseOrigin {
                    modules: BTreeSet::new(),
                    zh: 0,
                    ..origin(before)
                };
                steps.extend(now.steps_down(&before, || releases(&side.addr)));
            }
            let remembered = self
                .memory
                .iter()
                .find(|known| known.provider.means(&side.addr, flavor));
            let steps_from =
                |known: &RememberedProvider| now.steps_down(&known.into(), || releases(&side.addr));
            for step in remembered.map_or_else(Vec::new, steps_from) {
                // The earlier keys may differ, which makes no second step of the same key.
                let is_known = steps.iter().any(|other| other.text == step.text);
                if !is_known {
                    steps.push(step);
                }
            }
            if !steps.is_empty() {
                explained.explained.risk = Risk::Danger;
            }
            explained.trust = steps;
        }
        self.review
            .providers
            .sort_by_key(|explained| Reverse(explained.explained.risk));
    }

    /// Returns whose rules apply: those of the file now, else those of the file before.
    #[must_use]
    pub fn flavor(&self) -> Flavor {
        self.new
            .as_ref()
            .or(self.old.as_ref())
            .map_or(Flavor::newest(Program::Terraform), |side| side.flavor)
    }

    /// Returns true if some of the file could not be compared.
    #[must_use]
    pub fn is_incomplete(&self) -> bool {
        let causes = &self.review.causes;
        causes.iter().any(|cause| cause.kind == FileCause::Unmerged)
            || self.old.iter().chain(&self.new).any(LockSide::is_broken)
    }
}
