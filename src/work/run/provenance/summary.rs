//! The attested builds of a run in words.

use std::collections::BTreeSet;

use super::ExpectedRepository;
use crate::diag::counted;
use crate::package::AttestedBuilds;
use crate::report::Sentence;

/// The commit's digits that are shown, as git shows them.
const COMMIT_DIGITS: usize = 12;

/// A sentence about each release, each once.
#[derive(Default)]
pub(crate) struct AttestationSummary {
    attested: BTreeSet<String>,
    not_attested: BTreeSet<String>,
    /// Those without an answer: nothing is known of them.
    unknown: BTreeSet<String>,
}

impl AttestationSummary {
    /// Adds a release that was asked about.
    pub(super) fn add(
        &mut self,
        name: &str,
        builds: &AttestedBuilds,
        repository: &ExpectedRepository,
    ) {
        let ExpectedRepository {
            name: place,
            named_by,
            ..
        } = repository;
        let distinct = BTreeSet::from_iter(builds.values().flatten());
        if distinct.is_empty() {
            let text = format!("{name}: {place}, named by {named_by}, attests nothing of it");
            self.not_attested.insert(text);
            return;
        }
        let places = distinct.into_iter().map(|build| {
            let commit: String = build.commit.chars().take(COMMIT_DIGITS).collect();
            format!("{} at {} ({commit})", build.workflow, build.git_ref)
        });
        self.attested.insert(format!(
            "{name}: {} built in {place}, named by {named_by}, by {}",
            counted(builds.values().flatten().count(), "package"),
            places.collect::<Vec<_>>().join(", ")
        ));
    }

    /// Adds a release whose repository is not known.
    pub(super) fn add_unnamed(&mut self, name: &str, host: &str) {
        let text = format!("{name}: not asked, because no repository on {host} is named for it");
        self.unknown.insert(text);
    }

    /// Adds a release without an answer.
    pub(super) fn add_unanswered(&mut self, name: &str, repository: &ExpectedRepository) {
        let place = &repository.name;
        let text = format!("{name}: no answer about the attestations of {place}");
        self.unknown.insert(text);
    }

    /// Sums up what was found, and lists it if wanted.
    pub(crate) fn remarks(&self, verbose: bool) -> Vec<Sentence> {
        let asked = self.attested.len() + self.not_attested.len();
        let mut remarks = Vec::new();
        if asked > 0 {
            remarks.push(Sentence::note(format!(
                "{} of {} attested: that shows where packages were built, not that they are good",
                self.attested.len(),
                counted(asked, "release")
            )));
        }
        if !self.unknown.is_empty() {
            let hint = if verbose { "" } else { " (-v shows each)" };
            remarks.push(Sentence::note(format!(
                "{} could not be asked about: no repository is named, or no answer came{hint}",
                counted(self.unknown.len(), "release")
            )));
        }
        if verbose {
            let each = [&self.attested, &self.not_attested, &self.unknown];
            remarks.extend(each.into_iter().flatten().cloned().map(Sentence::note));
        }
        remarks
    }
}
