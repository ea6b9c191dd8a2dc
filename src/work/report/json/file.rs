//! Lock files that were compared, for `diff`.

use serde::Serialize;

use super::{ChangeRow, Failure, FindingRow, RootStatus};
use crate::diag::Texts;
use crate::report::FileResult;
use crate::review::{FileCause, PinChange, Risk};

/// A lock file with two versions that were compared.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "File"))]
pub struct FileRow {
    /// The path of the lock file; of one that was removed its former path.
    pub path: String,
    /// The former path; null unless the file was renamed.
    pub old_path: Option<String>,
    /// Whose rules applied, as in `terraform@1.11`.
    pub flavor: String,
    /// Clean if the file could be compared, and is no worse than `--fail-on` allows.
    pub status: RootStatus,
    /// The changes of the file as a whole.
    pub kinds: Vec<FileCause>,
    /// The cause of these changes, in one sentence; empty if the file as a whole did not change.
    pub cause: String,
    /// The highest risk of its changes.
    pub risk: Risk,
    /// Faults in either version of the file.
    pub findings: Vec<FindingRow>,
    /// The operations that failed, in the order of their failures.
    pub failures: Vec<Failure>,
    /// The changed entries, those of the highest risk first, then by address.
    pub changes: Vec<ChangeRow>,
    /// The changes of pinned modules, those of the highest risk first; absent for a lock file.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pins: Vec<PinChange>,
    /// Number of entries that are the same in both versions.
    pub unchanged: usize,
}

impl FileRow {
    /// Describes a file that was compared.
    #[must_use]
    pub fn of(file: &FileResult, texts: &Texts) -> Self {
        let comparison = &file.comparison;
        let review = &comparison.review;
        let causes = &review.causes;
        let findings = comparison
            .old
            .iter()
            .chain(&comparison.new)
            .flat_map(|side| &side.diagnostics);
        let clauses: Vec<&str> = causes.iter().map(|cause| &*cause.text).collect();
        Self {
            path: comparison.path.clone(),
            old_path: review.old_path.clone(),
            flavor: comparison.flavor().to_string(),
            status: file.status,
            kinds: causes.iter().map(|cause| cause.kind).collect(),
            cause: clauses.join("; "),
            risk: review.risk(),
            findings: findings
                .map(|finding| FindingRow::new(finding, texts))
                .collect(),
            failures: file.failures.clone(),
            changes: review.providers.iter().map(ChangeRow::of).collect(),
            pins: review.pins.clone(),
            unchanged: review.unchanged,
        }
    }
}
