//! `lockctl verify --fix`: repairs are written, and reported before anything that is left.

use std::rc::Rc;

use crate::cli::output::{RootOutput, counted};
use crate::cli::root::{self, Root};
use crate::diag::Texts;
use crate::lockfile;
use crate::report::{Block, Failure, Tone, json};
use crate::verify::fix::{FixPlan, Refusal};
use crate::world::{Disk, Replaced};

/// What repairs came to in one root.
pub(in crate::cli) struct Fixed {
    plan: FixPlan,
    /// The root with what was written; `None` if nothing was.
    root: Option<Rc<Root>>,
    /// What was dropped along the way.
    remark: Option<String>,
}

impl Fixed {
    /// Writes what is planned; `None` if somebody else wrote the lock file meanwhile.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(in crate::cli) fn write(
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
        let replaced = disk.replace(&root.lock_path, Some(&lock.bytes), text.as_bytes());
        if replaced.map_err(|error| root.unwritable(error))? == Replaced::Changed {
            return Ok(None);
        }
        let written = root.rewritten(text.clone().into_bytes(), texts);
        Ok(Some(Self {
            remark: root::dropped(lock),
            plan,
            root: Some(Rc::new(written)),
        }))
    }

    /// Returns the root with what was written, if anything was.
    pub(in crate::cli) fn root(&self) -> Option<&Rc<Root>> {
        self.root.as_ref()
    }

    /// Reports what was repaired, and what was not.
    pub(in crate::cli) fn say(self, output: &mut RootOutput) {
        let FixPlan {
            repairs,
            refusal,
            left,
            ..
        } = self.plan;
        let lines = repairs.iter().map(|repair| format!("fixed: {repair}"));
        let lines: Vec<String> = lines.collect();
        if !lines.is_empty() {
            output.report.results.push(Block::Lines(lines));
        }
        let refused = refusal.map(|refusal| format!("nothing was mended: {}", reason(refusal)));
        let left = left.iter().map(|left| format!("not mended: {left}"));
        for text in refused.into_iter().chain(left) {
            let remark = Block::Remark(Tone::Warning, text);
            output.report.notes.push(remark);
        }
        if let Some(text) = self.remark {
            output.remark(text);
        }
        output.json.changed = Some(self.root.is_some());
        let rows = repairs.iter().map(|repair| json::Fixed {
            rule: repair.rule(),
            provider: repair.provider().map(ToString::to_string),
            text: repair.to_string(),
        });
        output.json.fixed = Some(rows.collect());
    }
}

/// Says why nothing is repaired.
fn reason(refusal: Refusal) -> String {
    match refusal {
        Refusal::ConfigurationUnread => "the configuration cannot be read".to_owned(),
        Refusal::FileUnread => "the file cannot be read as it is".to_owned(),
        Refusal::TooLarge => format!(
            "the file would have more than {} bytes",
            lockfile::MAX_BYTES
        ),
        Refusal::Drops { comments, modules } => {
            let comments = (comments > 0).then(|| counted(comments, "comment"));
            let modules = modules.then(|| "the blocks of modules".to_owned());
            let lost: Vec<String> = comments.into_iter().chain(modules).collect();
            let lost = lost.join(" and ");
            format!("that would drop {lost}; --fix=all does it nevertheless")
        }
    }
}
