//! Repairs that need no decision, and findings that need one.
//!
//! [`plan`] decides in two steps. First it writes texts in their only right form and joins repeated blocks,
//! because the programs refuse a file with such. Then it follows findings of the other checks, so that findings
//! that a project file turns off are left as they are. No version moves, and no hash comes or goes. Only the
//! caller writes files; it also states platforms in project files, which needs the findings of all roots.

mod draft;

use self::draft::Draft;
use super::groups::{CheckGroup, Groups};
use super::inputs::RootInputs;
use super::subject::CheckedLock;
use super::{configuration, file, levels};
use crate::addr::ProviderAddr;
use crate::diag::{counted, rules};
use crate::lockfile::{self, Document, LockText};

/// The parts of a lock file that repairs may drop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// Nothing that somebody wrote and that the programs ignore.
    Safe,
    /// Comments and blocks of modules, too.
    All,
}

/// The repairs of a lock file, or the reason why there are none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FixPlan {
    /// The text to be written; `None` if the file stays as it is.
    pub text: Option<String>,
    /// The repairs in that text, in report order; empty without a text.
    pub repairs: Vec<Repair>,
    /// The reason why nothing can be repaired at all: a clause.
    pub refusal: Option<String>,
    /// The findings that need a decision: a sentence about each, without a period.
    pub left: Vec<String>,
}

/// Something that was fixed in a lock file.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Fixed"))]
pub struct Repair {
    /// The name of the rule whose finding was fixed.
    pub rule: &'static str,
    /// The address of the provider concerned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// The change that was made, in words.
    pub text: String,
}

impl Repair {
    /// Makes a repair of an entry.
    #[must_use]
    pub fn of(rule: &'static str, provider: &ProviderAddr, text: String) -> Self {
        Self {
            rule,
            provider: Some(provider.to_string()),
            text,
        }
    }
}

/// Decides what is repaired in the lock file of a root.
///
/// Only findings of the wanted `groups` are, and none where the configuration was read with errors.
#[must_use]
pub fn plan(root: &RootInputs<'_>, groups: &Groups, extent: Extent) -> FixPlan {
    if root.is_unread() {
        return FixPlan::refused("the configuration cannot be read");
    }
    let Some(lock) = root.lock else {
        return FixPlan::default();
    };
    let Some(draft) = draft(root, lock, groups) else {
        return FixPlan::refused("the file cannot be read as it is");
    };
    let left = draft.left;
    if draft.repairs.is_empty() {
        return FixPlan {
            left,
            ..FixPlan::default()
        };
    }
    let text = lockfile::write(&draft.lock, root.flavor);
    // Only the text shows if it is too large: canonical form adds a header and white space.
    match refusal(lock, &text, extent) {
        Some(refusal) => FixPlan {
            left,
            ..FixPlan::refused(refusal)
        },
        None => FixPlan {
            text: Some(text),
            repairs: draft.repairs,
            refusal: None,
            left,
        },
    }
}

/// Makes the repaired lock file; `None` if it has faults that need manual repair first.
fn draft(root: &RootInputs<'_>, lock: &LockText, groups: &Groups) -> Option<Draft> {
    let mut draft = Draft::new(&lock.document, &lock.diagnostics)?;
    if !draft.left.is_empty() {
        return Some(draft);
    }
    let document = Document {
        lock: draft.lock.clone(),
        ..Document::default()
    };
    let subject = CheckedLock {
        document: &document,
        ..root.subject(lock)
    };
    let mut findings = Vec::new();
    if groups.wants(CheckGroup::File) {
        findings.extend(file::check(subject, &lock.bytes));
    }
    if groups.wants(CheckGroup::Configuration) {
        findings.extend(configuration::check(subject));
    }
    // Findings that the project file turns off are not repaired.
    let (kept, _) = levels::apply(findings, &[], root.project, root.flavor);
    draft.repair(subject, &lock.bytes, &kept);
    Some(draft)
}

/// Returns the reason why a text must not be written, if there is one.
fn refusal(lock: &LockText, text: &str, extent: Extent) -> Option<String> {
    if text.len() as u64 > lockfile::MAX_BYTES {
        let limit = lockfile::MAX_BYTES;
        return Some(format!("the file would have more than {limit} bytes"));
    }
    // Canonical form has neither comments nor blocks of modules (`lockfile` rules 1.8).
    let mut lost = Vec::new();
    if lock.document.comments > 0 {
        lost.push(counted(lock.document.comments, "comment"));
    }
    let is_module = |code| code == rules::MODULE_LOCK;
    if lock.diagnostics.iter().any(|fault| is_module(fault.code)) {
        lost.push("the blocks of modules".to_owned());
    }
    let lost = lost.join(" and ");
    (extent == Extent::Safe && !lost.is_empty())
        .then(|| format!("that would drop {lost}; --fix=all does it anyway"))
}

impl FixPlan {
    fn refused(refusal: impl Into<String>) -> Self {
        Self {
            refusal: Some(refusal.into()),
            ..Self::default()
        }
    }
}
