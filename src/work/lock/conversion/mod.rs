//! The conversion of a lock file to the other program, before and after it is locked.

mod failures;
mod report;

use super::ending::conclude;
use super::job::LockJob;
use super::opened::OpenRoot;
use crate::config::Loaded;
use crate::diag::Texts;
use crate::driver::OpenResult;
use crate::flavor::{Flavor, Program};
use crate::locker::{self, Conversion, LockError, Locked};
use crate::report::{Failure, RootResult, Tone};
use crate::run::root::Root;
pub(super) use failures::missing;
pub(super) use report::report;

impl LockJob<'_, '_> {
    /// Converts the lock file of a root, and prepares it for the work.
    pub(super) fn open_converted(
        &mut self,
        root: Root,
        loaded: Loaded,
        texts: &mut Texts,
        result: &mut RootResult,
    ) -> Result<OpenResult<OpenRoot>, Failure> {
        if root.lock.is_none() {
            // Roots that are named are to be converted, those that are found need not have a lock file.
            if !self.roots.recursive {
                return Err(root.no_lock());
            }
            result.changed = Some(false);
            let text = "there is no lock file, so there is nothing to convert";
            let of_root = format!("{}: {text}", root.dir.display());
            conclude(result, Tone::Note, text.to_owned(), of_root);
            return Ok(OpenResult::Finished);
        }
        failures::check_builtin(&root, &loaded, texts)?;
        let requirements = &loaded.requirements;
        let conversion = locker::convert(&root.document().lock, requirements, root.flavor);
        self.open_from(Some(conversion), root, loaded, texts, result)
    }
}

/// Makes an error of a moved entry that the registry of the program does not have.
pub(super) fn complete(conversion: &Conversion, locked: Locked) -> Result<Locked, Vec<LockError>> {
    let is_moved = |error: &LockError| {
        let absent = error.absent();
        conversion
            .moved
            .iter()
            .any(|entry| absent == Some(&entry.to))
    };
    if !locked.unavailable.iter().any(is_moved) {
        return Ok(locked);
    }
    // Such an entry has no hashes, and would be trusted on first use (`lockfile` rules 5.2).
    Err(locked.unavailable.into_iter().filter(is_moved).collect())
}

/// Returns the newest rules of the program that is converted from.
fn other_flavor(target: Flavor) -> Flavor {
    Flavor::newest(match target.program() {
        Program::Terraform => Program::OpenTofu,
        Program::OpenTofu => Program::Terraform,
    })
}
