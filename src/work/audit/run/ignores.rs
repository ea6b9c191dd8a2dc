//! Advisories that project files ignore.

use std::collections::BTreeMap;
use std::time::SystemTime;

use crate::audit::AdvisoryMatch;
use crate::diag::{FileId, Texts};
use crate::package::calendar;
use crate::project::IgnoredAdvisory;
use crate::report::Sentence;
use crate::run::root::Root;

/// The exceptions of all project files of a run.
pub(super) struct ProjectIgnores {
    now: SystemTime,
    by_file: BTreeMap<FileId, ProjectFileIgnores>,
}

/// The exceptions of one project file, and which of them took effect.
struct ProjectFileIgnores {
    name: String,
    settings: Vec<(IgnoredAdvisory, bool)>,
}

impl ProjectIgnores {
    pub(super) fn new(now: SystemTime) -> Self {
        Self {
            now,
            by_file: BTreeMap::new(),
        }
    }

    /// Returns the file with the exceptions of a root, if there are any.
    pub(super) fn of_root(&mut self, root: &Root, texts: &Texts) -> Option<FileId> {
        let settings = &root.project().ignored_advisories;
        let file = settings.first()?.place.file;
        self.by_file
            .entry(file)
            .or_insert_with(|| ProjectFileIgnores {
                name: texts.name(file).to_owned(),
                settings: settings
                    .iter()
                    .map(|setting| (setting.clone(), false))
                    .collect(),
            });
        Some(file)
    }

    /// Returns the reason why a project file ignores an advisory; `None` if it does not.
    pub(super) fn reason(&mut self, file: FileId, found: &AdvisoryMatch) -> Option<String> {
        let now = self.now;
        let names = || std::iter::once(&found.advisory.id).chain(&found.aliases);
        let settings = &mut self.by_file.get_mut(&file)?.settings;
        let (setting, took_effect) = settings
            .iter_mut()
            .find(|(setting, _)| names().any(|name| name.eq_ignore_ascii_case(&setting.id)))?;
        // Set for an exception that has ended as well: the remark must not claim that it concerns no locked version.
        *took_effect = true;
        let has_ended = setting.until.is_some_and(|until| until.moment <= now);
        (!has_ended).then(|| setting.reason.clone())
    }

    /// Returns remarks on exceptions that have ended or match nothing.
    pub(super) fn remarks(&self) -> Vec<Sentence> {
        let mut remarks = Vec::new();
        for ignores in self.by_file.values() {
            for (setting, took_effect) in &ignores.settings {
                let (id, name) = (&setting.id, &ignores.name);
                let ended = setting.until.filter(|until| until.moment <= self.now);
                if !took_effect {
                    let text =
                        format!("{name} ignores {id}, which concerns no locked version here");
                    remarks.push(Sentence::note(text));
                } else if let Some(until) = ended {
                    let day = calendar::day(until.moment);
                    let text =
                        format!("{name} ignored {id} until {day} (UTC); the exception has ended");
                    remarks.push(Sentence::note(text));
                }
            }
        }
        remarks
    }
}
