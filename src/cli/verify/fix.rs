//! `lockctl verify --fix`: mending what needs no judgement, before all is judged.

use std::rc::Rc;

use crate::cli::args::{Fix, Group, Verify};
use crate::cli::output::{RootOutput, counted};
use crate::cli::root::{LockText, Root};
use crate::diag::{Texts, has_errors};
use crate::lockfile::{self, Document};
use crate::report::{Block, Failure, Tone, json};
use crate::requirement::Requirements;
use crate::verify::fix::{Mended, Plan};
use crate::verify::{Subject, configuration, file, levels};
use crate::world::{Disk, Replaced};

/// How far mending may go, and on which disk.
#[derive(Clone, Copy)]
pub(in crate::cli) struct Fixing<'a> {
    pub(in crate::cli) how: Fix,
    /// Which checks are wanted.
    pub(in crate::cli) args: &'a Verify,
    pub(in crate::cli) disk: &'a dyn Disk,
}

/// What mending came to in one root.
#[derive(Default)]
pub(in crate::cli) struct Fixed {
    /// The root with what was written; `None` if nothing was.
    root: Option<Rc<Root>>,
    mended: Vec<Mended>,
    /// Why something was not mended.
    warnings: Vec<String>,
    /// What went along.
    remark: Option<String>,
}

impl Fixing<'_> {
    /// Mends the lock file of a root; `None` if somebody else wrote it meanwhile.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(in crate::cli) fn fix(
        self,
        root: &Root,
        requirements: Option<&Requirements>,
        texts: &mut Texts,
    ) -> Result<Option<Fixed>, Failure> {
        let mut fixed = Fixed::default();
        let Some(lock) = &root.lock else {
            return Ok(Some(fixed));
        };
        let Some(plan) = self.plan(root, lock, requirements) else {
            return Ok(Some(Fixed::refused("the file cannot be read as it is")));
        };
        let left = plan.left.iter();
        fixed.warnings = left.map(|left| format!("not mended: {left}")).collect();
        let is_blocked = has_errors(&lock.diagnostics) && !plan.left.is_empty();
        if plan.mended.is_empty() || is_blocked {
            return Ok(Some(fixed));
        }
        let text = lockfile::write(&plan.lock, root.flavor);
        if let Some(reason) = self.objection(lock, &text) {
            fixed.warnings.insert(0, nothing(&reason));
            return Ok(Some(fixed));
        }
        let replaced = self
            .disk
            .replace(&root.lock_path, Some(&lock.bytes), text.as_bytes());
        if replaced.map_err(|error| root.unwritable(&error))? == Replaced::Changed {
            return Ok(None);
        }
        fixed.remark = lock.dropped();
        fixed.mended = plan.mended;
        fixed.root = Some(Rc::new(root.rewritten(text.into_bytes(), texts)));
        Ok(Some(fixed))
    }

    /// Decides what becomes of a lock file; `None` if it has faults that a person must mend.
    fn plan(
        self,
        root: &Root,
        lock: &LockText,
        requirements: Option<&Requirements>,
    ) -> Option<Plan> {
        let mut plan = Plan::new(&lock.document, &lock.diagnostics)?;
        if !plan.left.is_empty() {
            return Some(plan);
        }
        let document = Document {
            lock: plan.lock.clone(),
            ..Document::default()
        };
        let subject = Subject {
            document: &document,
            ..root.subject(lock, requirements)
        };
        let mut findings = Vec::new();
        if self.args.wants(Group::File) {
            findings.extend(file::check(subject, &lock.bytes));
        }
        if self.args.wants(Group::Configuration) {
            findings.extend(configuration::check(subject));
        }
        let (told, _) = levels::apply(findings, &[], root.project(), root.flavor);
        plan.mend(subject, &lock.bytes, &told);
        Some(plan)
    }

    /// Says why a text must not be written, if so.
    fn objection(self, lock: &LockText, text: &str) -> Option<String> {
        if text.len() as u64 > lockfile::MAX_BYTES {
            return Some(format!(
                "the file would have more than {} bytes",
                lockfile::MAX_BYTES
            ));
        }
        let mut lost = Vec::new();
        if lock.document.comments > 0 {
            lost.push(counted(lock.document.comments, "comment"));
        }
        if lock.diagnostics.iter().any(|one| one.code == "module-lock") {
            lost.push("the blocks of modules".to_owned());
        }
        let is_safe = lost.is_empty() || self.how == Fix::All;
        let lost = lost.join(" and ");
        (!is_safe).then(|| format!("that would drop {lost}; --fix=all does it nevertheless"))
    }
}

fn nothing(reason: &str) -> String {
    format!("nothing was mended: {reason}")
}

impl Fixed {
    /// Makes what mending comes to where it cannot begin.
    pub(in crate::cli) fn refused(reason: &str) -> Self {
        Self {
            warnings: vec![nothing(reason)],
            ..Self::default()
        }
    }

    /// Returns the root with what was written, if anything was.
    pub(in crate::cli) fn root(&self) -> Option<&Rc<Root>> {
        self.root.as_ref()
    }

    /// Says what was mended, before anything that is left, and what was not.
    pub(in crate::cli) fn say(self, output: &mut RootOutput) {
        let lines = self.mended.iter().map(|mended| format!("fixed: {mended}"));
        let lines: Vec<String> = lines.collect();
        if !lines.is_empty() {
            output.report.results.push(Block::Lines(lines));
        }
        for text in self.warnings {
            let remark = Block::Remark(Tone::Warning, text);
            output.report.notes.push(remark);
        }
        if let Some(text) = self.remark {
            output.remark(text);
        }
        output.json.changed = Some(self.root.is_some());
        let rows = self.mended.iter().map(|mended| json::Fixed {
            rule: mended.rule(),
            provider: mended.provider().map(ToString::to_string),
            text: mended.to_string(),
        });
        output.json.fixed = Some(rows.collect());
    }
}
