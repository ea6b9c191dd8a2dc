//! The end of the work on a root: its lock file written, and the outcome reported.

use super::ending::{self, LockEnding};
use super::job::{LockJob, OpenRoot};
use super::remarks;
use crate::advice;
use crate::advice::required::Required;
use crate::diag::Texts;
use crate::locker::{LockError, Locked};
use crate::lockfile;
use crate::report::json::RootStatus;
use crate::report::{Failure, RootResult};
use crate::run::root::{self, Root};
use crate::workspace::UNIT_CACHE;
use crate::world::{Exclusive, Replaced};

impl LockJob<'_> {
    /// Reports what is wrong with the CLI configuration that the packages of a root come by, unless a root did.
    pub(in crate::cli) fn report_sources(&self, opened: &OpenRoot, result: &mut RootResult) {
        result.faults(self.sources.unreported(opened.source));
    }

    /// Shows notes on a state that cannot be read where they matter: if entries stayed because of it.
    pub(in crate::cli) fn report_state(
        &self,
        opened: &OpenRoot,
        locked: &Locked,
        result: &mut RootResult,
    ) {
        let about_state = opened
            .loaded
            .diagnostics
            .iter()
            .filter(|diagnostic| remarks::is_about_state(diagnostic));
        if self.user.options.verbose || !locked.unrequired.is_empty() {
            result.faults(about_state);
        } else {
            result.aside(about_state);
        }
    }

    /// Reports why a root could not be locked.
    pub(in crate::cli) fn report_errors(
        &mut self,
        opened: &OpenRoot,
        errors: &[LockError],
        texts: &Texts,
        result: &mut RootResult,
    ) {
        let required = Required {
            requirements: &opened.loaded.requirements,
            project: opened.root.project(),
            texts,
        };
        if !errors.is_empty() {
            advice::lock::errors(result, errors, opened.root.flavor, &required);
        }
        self.sources.reported(opened.source);
    }

    /// Returns true if lock files are written where they change.
    pub(in crate::cli) fn writes(&self) -> bool {
        self.options.writes()
    }

    /// Writes the lock file, or reports what would be written.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(in crate::cli) fn write(
        &mut self,
        opened: &OpenRoot,
        locked: &Locked,
        held: Option<&Exclusive>,
        result: &mut RootResult,
    ) -> Result<Replaced, Failure> {
        let written = self.replace(opened, locked, held, result);
        // A root that starts over reports everything again.
        if !matches!(written, Ok(Replaced::Changed)) {
            self.sources.reported(opened.source);
        }
        written
    }

    fn replace(
        &mut self,
        opened: &OpenRoot,
        locked: &Locked,
        held: Option<&Exclusive>,
        result: &mut RootResult,
    ) -> Result<Replaced, Failure> {
        let root = &opened.root;
        let text = lockfile::write(&locked.lock, root.flavor);
        // The next run, and every other command, would refuse to read it.
        if text.len() as u64 > lockfile::MAX_BYTES {
            return Err(root.too_large(text.len()));
        }
        let old = root.lock.as_ref().map(|lock| &*lock.bytes);
        let changed = old != Some(text.as_bytes());
        let writes = self.options.writes();
        let disk = self.user.world.disk;
        if changed && writes {
            let (path, new) = (&root.lock_path, text.as_bytes());
            // The bytes that were read are compared again in the same atomic step, so no other writer is overwritten.
            let replaced = match held {
                Some(held) => disk.replace_held(held, path, old, new),
                None => disk.replace(path, old, new),
            };
            if replaced.map_err(|error| root.unwritable(error))? == Replaced::Changed {
                return Ok(Replaced::Changed);
            }
        } else if writes {
            // A run that was killed may have left its temporary file beside the lock file.
            disk.sweep(&root.lock_path);
        }
        result.changed = Some(changed);
        let ending = match (changed, writes) {
            (false, _) => LockEnding::UpToDate,
            (true, true) => LockEnding::Written,
            (true, false) => LockEnding::WouldWrite,
        };
        if changed {
            self.report_unit(root, result);
        }
        remarks::report(
            result,
            locked,
            root,
            &opened.goals,
            ending,
            &mut self.evidence,
        );
        result.verdict = Some(ending::verdict(ending, locked, root));
        if changed {
            if let Some(remark) = root.lock.as_ref().and_then(root::dropped) {
                result.remark(remark);
            }
            if self.options.dry_run {
                let comparison = ending::comparison(root, locked, &text);
                result.lock_mut().comparison = Some(Box::new(comparison));
            }
            if self.options.check {
                result.status = RootStatus::Findings;
            }
        }
        self.locked.add(root, &opened.goals, locked);
        Ok(Replaced::Done)
    }

    /// Warns where Terragrunt would replace a lock file that changed by that of its last run.
    fn report_unit(&self, root: &Root, result: &mut RootResult) {
        let world = self.user.world;
        if root.unit.is_some() && root.unit_lock_use(world.disk, world.env).is_restored {
            result.remark(format!(
                "Terragrunt restores the lock file of its last run in this unit; remove {} to keep this one",
                root.dir.join(UNIT_CACHE).display()
            ));
        }
    }
}
