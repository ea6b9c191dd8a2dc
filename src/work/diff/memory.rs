//! The memory of project files that a change takes out.

use crate::diag::FileId;
use crate::diff::revisions::RevisionReader;
use crate::git::Change;
use crate::project;
use crate::report::{Failure, Sentence};
use crate::run::unseen::some_of;

impl RevisionReader<'_, '_> {
    /// Warns of project files that remember less of a provider than before, or something else: without a change of a
    /// lock file nothing else shows it, and the next change would be no step down.
    pub(super) fn lost_memory(&self, changes: &[Change]) -> Result<Vec<Sentence>, Failure> {
        let (_, contents) = self.contents(changes, project::MAX_FILE_BYTES)?;
        let mut contents = contents.into_iter();
        let mut warnings = Vec::new();
        for change in changes {
            let [old, new] = [&change.old, &change.new].map(|entry| {
                let bytes = entry
                    .as_ref()
                    .and_then(|entry| self.bytes(entry, &mut contents));
                let (project, _) = project::parse(FileId::ALONE, &bytes.unwrap_or_default());
                project.trust.memory
            });
            let lost: Vec<String> = old
                .iter()
                .filter(|before| !new.iter().any(|now| now.holds(before)))
                .map(|before| before.provider.text().to_owned())
                .collect();
            if !lost.is_empty() {
                let file = change.path().display();
                let names = some_of(lost.into_iter()).join(", ");
                warnings.push(Sentence::warning(format!(
                    "{file} does not remember any more what it did of {names}; `--config-at` checks with the memory \
                     before"
                )));
            }
        }
        Ok(warnings)
    }
}
