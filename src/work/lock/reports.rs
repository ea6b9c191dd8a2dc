//! Reports on a root that was locked, or could not be.

use super::job::LockJob;
use super::opened::OpenRoot;
use super::remarks;
use crate::advice;
use crate::advice::required::Required;
use crate::diag::Texts;
use crate::locker::{LockError, Locked};
use crate::report::RootResult;
use crate::run::root::Root;
use crate::workspace::UNIT_CACHE;

impl LockJob<'_, '_> {
    /// Shows notes on a state that cannot be read where they matter.
    pub(super) fn report_state(&self, opened: &OpenRoot, locked: &Locked, result: &mut RootResult) {
        let about_state = opened
            .loaded
            .diagnostics
            .iter()
            .filter(|diagnostic| remarks::is_about_state(diagnostic));
        // The notes matter only if entries stayed because of the state.
        if self.session.options.verbose || !locked.unrequired.is_empty() {
            result.faults(about_state);
        } else {
            result.aside(about_state);
        }
    }

    /// Reports why a root could not be locked.
    pub(super) fn report_errors(
        &mut self,
        opened: &OpenRoot,
        errors: &[LockError],
        texts: &Texts,
        result: &mut RootResult,
    ) {
        let root = &opened.root;
        let required = Required {
            commands: root.advice.taking_from(&self.sources.typed_options()),
            locked: Some(
                opened
                    .start_lock()
                    .providers
                    .iter()
                    .map(|(provider, entry)| (provider.clone(), entry.version.clone()))
                    .collect(),
            ),
            platforms_from: opened.platforms.are_usual.then(|| root.project_name()),
            ..Required::of(root, Some(&opened.loaded.requirements), texts)
        };
        if !errors.is_empty() {
            advice::lock::errors(result, errors, root.flavor, &required);
        }
        self.sources.reported(opened.source);
    }

    /// Warns where Terragrunt would replace a lock file that changed by that of its last run.
    pub(super) fn report_unit(&self, root: &Root, result: &mut RootResult) {
        let world = self.session.world;
        if root.unit.is_some() && root.unit_lock_use(world.disk, world.env).is_restored {
            result.remark(format!(
                "Terragrunt restores the lock file of its last run in this unit; remove {} to keep this one",
                root.dir.join(UNIT_CACHE).display()
            ));
        }
    }
}
