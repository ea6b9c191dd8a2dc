//! `lockctl verify --fix`: repairs are written, and reported before anything that is left.

use std::sync::Arc;

use crate::diag::{Texts, counted};
use crate::lockfile;
use crate::report::json::FixRow;
use crate::report::{Failure, RootResult};
use crate::run::root::{self, Root};
use crate::verify::fix::{FixPlan, FixRefusal, Repair, Unrepaired};
use crate::world::{Disk, Replaced};

/// The repairs of one root, with what was written.
pub(crate) struct Fixed {
    plan: FixPlan,
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

    /// Adds a repair of another file.
    pub(crate) fn also(&mut self, repair: Repair) {
        self.plan.repairs.push(repair);
    }

    /// Adds a finding that needs a decision.
    pub(crate) fn leave(&mut self, left: Unrepaired) {
        self.plan.left.push(left);
    }

    /// Returns the root with what was written, if anything was.
    pub(crate) fn root(&self) -> Option<&Arc<Root>> {
        self.root.as_ref()
    }

    /// Adds remarks on what was not repaired to the result of the root, and returns the repairs.
    pub(crate) fn report(self, result: &mut RootResult) -> Vec<FixRow> {
        let FixPlan {
            repairs,
            refusal,
            left,
            ..
        } = self.plan;
        if let Some(refusal) = refusal {
            let reason = match refusal {
                FixRefusal::ConfigurationUnread => "the configuration cannot be read".to_owned(),
                FixRefusal::FileUnread => "the file cannot be read as it is".to_owned(),
                FixRefusal::TooLarge => {
                    let limit = lockfile::MAX_BYTES;
                    format!("the file would have more than {limit} bytes")
                }
                FixRefusal::Drops { comments, modules } => {
                    let comments = (comments > 0).then(|| counted(comments, "comment"));
                    let modules = modules.then(|| "the blocks of modules".to_owned());
                    let lost = comments
                        .into_iter()
                        .chain(modules)
                        .collect::<Vec<String>>()
                        .join(" and ");
                    format!("that would drop {lost}; --fix=all does it anyway")
                }
            };
            result.warn(format!("the lock file was not fixed: {reason}"));
        }
        for left in left {
            result.warn(format!("not fixed: {left}"));
        }
        if let Some(text) = self.remark {
            result.remark(text);
        }
        // Also after a refusal, because `false` says that the file was left as it is.
        result.changed = Some(!repairs.is_empty());
        repairs
            .iter()
            .map(|repair| FixRow {
                rule: repair.rule(),
                provider: repair.provider().map(ToString::to_string),
                text: repair.to_string(),
            })
            .collect()
    }
}
