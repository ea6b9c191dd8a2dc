//! `lockctl verify --fix`: repairs are written, and reported before anything that is left.

use std::sync::Arc;

use crate::diag::Texts;
use crate::report::{Failure, RootResult};
use crate::run::root::{self, Root};
use crate::verify::fix::{FixPlan, Repair};
use crate::world::{Disk, Replaced};

/// The repairs of one root, with what was written.
pub(crate) struct Fixed {
    /// The planned repairs; those of other files are added.
    pub(crate) plan: FixPlan,
    /// The root with what was written; `None` if nothing was.
    root: Option<Arc<Root>>,
    /// The comments and blocks that were dropped, in words.
    remark: Option<String>,
}

impl Fixed {
    /// Writes what is planned; `None` if somebody else wrote the lock file meanwhile.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(crate) fn write(
        plan: FixPlan,
        root: &Root,
        disk: &dyn Disk,
        texts: &mut Texts,
    ) -> Result<Option<Self>, Failure> {
        let (Some(text), Some(lock)) = (&plan.text, &root.lock) else {
            return Ok(Some(Self {
                plan,
                root: None,
                remark: None,
            }));
        };
        // The repairs were planned for these bytes, and hold for no others.
        let replaced = disk.replace(&root.lock_path, Some(&lock.bytes), text.as_bytes());
        if replaced.map_err(|error| root.unwritable(error))? == Replaced::Changed {
            return Ok(None);
        }
        let written = root.rewritten(text.clone().into_bytes(), texts);
        Ok(Some(Self {
            remark: root::dropped(lock),
            plan,
            root: Some(Arc::new(written)),
        }))
    }

    /// Returns the root with what was written, if anything was.
    pub(crate) fn root(&self) -> Option<&Arc<Root>> {
        self.root.as_ref()
    }

    /// Adds remarks on what was not repaired to the result of the root, and returns the repairs.
    pub(crate) fn report(self, result: &mut RootResult) -> Vec<Repair> {
        if let Some(reason) = self.plan.refusal {
            result.warn(format!("the lock file was not fixed: {reason}"));
        }
        for left in self.plan.left {
            result.warn(format!("not fixed: {left}"));
        }
        if let Some(text) = self.remark {
            result.remark(text);
        }
        // Also after a refusal, because `false` says that the file was left as it is.
        result.changed = Some(!self.plan.repairs.is_empty());
        self.plan.repairs
    }
}
