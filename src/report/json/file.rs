//! Lock files that were compared, for `diff`.

use serde::Serialize;

use super::{Change, Failure, Finding, Status};
use crate::diag::Texts;
use crate::report::FileResult;
use crate::review::{FileCause, FileChangeKind, Risk};

/// A lock file of which two versions were compared.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct File {
    /// Where it is, or where it was if it was removed.
    pub path: String,
    /// Where it was before; null unless it was renamed.
    pub old_path: Option<String>,
    /// Whose rules applied, as in `terraform@1.11`.
    pub flavor: String,
    /// Whether it could be compared, and is no worse than `--fail-on` allows.
    pub status: Status,
    /// What changed about the file as a whole.
    pub kinds: Vec<FileChangeKind>,
    /// What that follows from, in one sentence; empty if the file as a whole did not change.
    pub cause: String,
    /// How much the worst of its changes matters.
    pub risk: Risk,
    /// What is wrong with either version.
    pub findings: Vec<Finding>,
    /// Operations that failed.
    pub failures: Vec<Failure>,
    /// What changed in its entries, what matters most first, then by address.
    pub changes: Vec<Change>,
    /// How many entries are the same in both versions.
    pub unchanged: usize,
}

impl File {
    /// Describes a file that was compared.
    #[must_use]
    pub fn of(file: &FileResult, texts: &Texts) -> Self {
        let one = &file.comparison;
        let causes = &one.review.causes;
        let sides = one.old.iter().chain(&one.new);
        let findings = sides.flat_map(|side| &side.diagnostics);
        let renamed = causes.iter().find_map(|cause| match cause {
            FileCause::Renamed { from } => Some(from.clone()),
            _ => None,
        });
        let clauses: Vec<String> = causes.iter().map(ToString::to_string).collect();
        Self {
            path: one.path.clone(),
            old_path: renamed,
            flavor: one.flavor().to_string(),
            status: file.status,
            kinds: causes.iter().map(FileCause::kind).collect(),
            cause: clauses.join("; "),
            risk: one.review.risk(),
            findings: findings
                .map(|finding| Finding::new(finding, texts))
                .collect(),
            failures: file.failures.clone(),
            changes: one.review.providers.iter().map(Change::of).collect(),
            unchanged: one.review.unchanged,
        }
    }
}
