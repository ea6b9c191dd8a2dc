//! The one JSON object that a command prints: a contract; fields are only ever added.
//!
//! [`JsonDocument`] borrows what a `CommandResult` holds and resolves the places of findings. The schema in the
//! repository is made of these types: comments on them are for its readers.

mod file;
#[cfg(test)]
mod schema;

pub use super::rows::*;
pub use file::FileRow;

use std::io::{self, Write};

use serde::Serialize;

use super::{CommandResult, ResultSubject, RootResult};
pub use super::{Failure, RootRow, RootStatus};
use crate::diag::{Counts, Severity};
pub use crate::review::Verdict;
use crate::sources::net::Event;
use crate::sources::release_changes::ReleaseChanges;

/// The version of the format; its major part changes only if a field goes or changes meaning.
pub const FORMAT_VERSION: &str = "1.0";

/// The JSON Schema of [`JsonDocument`]; a test compares it with the types.
pub const OUTPUT_SCHEMA: &str = include_str!("../../../../fixtures/schema/output.json");

/// The JSON Schema of [`Event`]; a test compares it with the type.
pub const EVENT_SCHEMA: &str = include_str!("../../../../fixtures/schema/event.json");

/// The object that every command of lockctl prints with `--format json`.
///
/// Fields and words are only ever added as long as the major part of the version is the same, so
/// ignore those that you do not know.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(title = "Output of lockctl"))]
#[cfg_attr(test, schemars(rename = "Document"))]
pub struct JsonDocument<'a> {
    /// The version of this format, as in `1.0`.
    #[cfg_attr(test, schemars(extend("pattern" = r"^1\.[0-9]+$")))]
    pub format_version: &'static str,
    /// The command, as in `verify`.
    pub command: &'static str,
    /// The exit code of the program: 0 done, and clean; 1 done, and the answer is bad; 2 the job
    /// could not be done; 129 `merge` could write nothing.
    pub exit: u8,
    /// One for each root, in the order given; empty for `diff`, `hash`, `explain` and `cache`, which are
    /// not about roots.
    pub roots: Vec<RootRow<'a>>,
    /// One for each package, in the order given; only of `hash`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub packages: Vec<&'a PackageRow>,
    /// One for each lock file that differs, ordered by path; only of `diff`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files: Option<Vec<FileRow>>,
    /// The verdict on all changes; only of `diff`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<&'a Verdict>,
    /// The differences between releases of providers; only of `changes` and `diff --changes`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub releases: Option<&'a [ReleaseChanges]>,
    /// Topics: all of them, or those that were named, in that order; only of `explain`.
    #[serde(skip_serializing_if = "<[TopicRow]>::is_empty")]
    pub topics: &'a [TopicRow],
    /// Rules: all of them by heading, or those that were named, in that order; only of `explain`.
    #[serde(skip_serializing_if = "<[RuleRow]>::is_empty")]
    pub rules: &'a [RuleRow],
    /// Pages that have the words that were searched, the best first; only of `explain`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matches: Option<&'a [PageMatchRow]>,
    /// Errors and warnings of `terraform` or `tofu` that were read; only of `explain -`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub symptoms: Option<&'a [SymptomRow]>,
    /// The places in configuration that are, or would be, edited, by file and line; only of `update --edit`
    /// and `replace`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub edits: Option<&'a [EditRow]>,
    /// The commands that change the states, in the order of the roots; only of `replace`.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    pub state_commands: &'a [String],
    /// The facts that are kept about packages; only of `cache`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub store: Option<&'a StoreReport>,
    /// The bundle with the packages; only of `mirror --bundle`, and absent if none could be made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bundle: Option<&'a MirrorBundle>,
    /// Directories with configuration that no root covers, where roots were looked for.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    pub not_locked: &'a [String],
    /// The remarks on the run as a whole.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<RemarkRow<'a>>,
    /// Figures over everything above.
    pub summary: Summary,
}

/// Figures over all roots, files and packages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Summary {
    /// Number of roots of the run.
    pub roots: usize,
    /// Number of packages; absent if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packages: Option<usize>,
    /// Number of lock files that differ; only of `diff`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files: Option<usize>,
    /// Number of errors that were found.
    pub errors: usize,
    /// Number of warnings that were found.
    pub warnings: usize,
    /// Number of notes that were found.
    pub notes: usize,
    /// Number of roots, files or packages that failed, and of files of facts that were refused.
    pub failed: usize,
    /// Number of directories with configuration no root covers; absent unless roots were looked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_locked: Option<usize>,
    /// Number of roots that were passed over because no file of them changed; only with `--since` and
    /// `--changed`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unchanged: Option<usize>,
}

impl<'a> JsonDocument<'a> {
    /// Makes the object for a result, with paths as they were typed.
    #[must_use]
    pub fn of(result: &'a CommandResult) -> Self {
        let as_typed = |_: &RootResult, path: &str| path.to_owned();
        let edits = result.edits.as_ref();
        let mut document = Self {
            format_version: FORMAT_VERSION,
            command: result.command,
            exit: result.exit,
            roots: result
                .roots()
                .iter()
                .map(|root| RootRow::of(root, &result.texts, &as_typed))
                .collect(),
            edits: edits.as_ref().map(|edits| &*edits.rows),
            state_commands: edits.as_ref().map_or(&[], |edits| &*edits.state_commands),
            bundle: result.bundle.as_ref(),
            not_locked: result.not_locked.as_deref().unwrap_or_default(),
            remarks: result.remarks.iter().map(RemarkRow::of).collect(),
            ..Self::default()
        };
        match &result.subject {
            ResultSubject::Roots(_) | ResultSubject::Text(_) => {}
            ResultSubject::Files(all) => {
                let rows = all
                    .files
                    .iter()
                    // A file whose entries are all the same, as after a change of order, has nothing to show.
                    .filter(|file| file.is_worth_a_row())
                    .map(|file| FileRow::of(file, &result.texts));
                document.files = Some(rows.collect());
                document.verdict = Some(&all.verdict);
                document.releases = all.releases.as_deref();
            }
            ResultSubject::Packages(all) => {
                document.packages = all.iter().map(|result| &result.package).collect();
            }
            ResultSubject::Pages(topics, rules) => {
                (document.topics, document.rules) = (topics, rules);
            }
            ResultSubject::Matches(pages) => document.matches = Some(pages),
            ResultSubject::Symptoms(errors) => document.symptoms = Some(errors),
            ResultSubject::Releases(all) => document.releases = Some(all),
            ResultSubject::Store(report, _) => document.store = Some(report),
        }
        document.summary = Summary {
            not_locked: result.not_locked.as_ref().map(Vec::len),
            unchanged: result.unchanged,
            ..Summary::of(&document)
        };
        document
    }
}

/// Prints the object for a result.
///
/// # Errors
/// What the writer says.
pub fn render(out: &mut dyn Write, result: &CommandResult) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, &JsonDocument::of(result))?;
    writeln!(out)
}

/// Prints the object for a result in one line, the last of `--format json-lines`.
///
/// # Errors
/// What the writer says.
pub fn render_line(out: &mut dyn Write, result: &CommandResult) -> io::Result<()> {
    line(out, &JsonDocument::of(result))
}

/// Prints one line of `--format json-lines` before the last.
///
/// # Errors
/// What the writer says.
pub fn render_event(out: &mut dyn Write, event: &Event<'_>) -> io::Result<()> {
    line(out, event)
}

fn line(out: &mut dyn Write, value: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *out, value)?;
    writeln!(out)
}

impl Summary {
    /// Counts what everything came to.
    fn of(document: &JsonDocument<'_>) -> Self {
        let JsonDocument {
            roots, packages, ..
        } = document;
        let files = document.files.as_deref().unwrap_or_default();
        let findings = roots
            .iter()
            .flat_map(|root| &root.findings)
            .chain(files.iter().flat_map(|file| &file.findings));
        let of_remarks = roots
            .iter()
            .flat_map(|root| &root.remarks)
            .chain(&document.remarks)
            .map(|remark| remark.severity)
            .filter(|severity| *severity > Severity::Note);
        let counts = Counts::of(findings.map(|finding| finding.severity).chain(of_remarks));
        let failed = roots
            .iter()
            .map(|root| root.status)
            .chain(files.iter().map(|file| file.status))
            .filter(|status| *status == RootStatus::Failed)
            .count();
        let refused = |package: &&&PackageRow| matches!(package, PackageRow::Failed(_));
        Self {
            roots: roots.len(),
            packages: Some(packages.len()).filter(|count| *count > 0),
            files: document.files.as_ref().map(Vec::len),
            errors: counts.errors,
            warnings: counts.warnings,
            notes: counts.notes,
            // Files of facts are neither roots nor packages, but a refused one is a failure, too.
            failed: failed
                + packages.iter().filter(refused).count()
                + document.store.map_or(0, |store| store.failures().count()),
            ..Self::default()
        }
    }
}
